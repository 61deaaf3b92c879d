package statuspage

import (
	"strconv"

	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
)

// Load adds the changes of an account file. Errors are fault.Invalid with the record's path. The status follows from the
// updates; components may be gone from the page.
func Load(tx *db.Tx, account int64, records []Change) error {
	for i := range records {
		c, at := &records[i], configstore.PathOf("status_page_changes", i)
		if err := c.admit(tx, at, account); err != nil {
			return err
		}
		fresh, err := c.insert(tx, account)
		if err != nil {
			return err
		}
		if !fresh {
			return at.Twice("change_id", c.ChangeID)
		}
	}
	return nil
}

// admit sets the members that a record may leave out and checks all of them.
func (c *Change) admit(tx *db.Tx, at configstore.RecordPath, account int64) error {
	c.ResponderIDs, c.LinkedChangeIDs = orEmpty(c.ResponderIDs), orEmpty(c.LinkedChangeIDs)
	for i := range c.Updates {
		c.Updates[i].Components = orEmpty(c.Updates[i].Components)
	}
	c.order()
	if err := configstore.FirstError(
		at.AtLeast("change_id", c.ChangeID, 1), at.AtLeast("creator_id", c.CreatorID, 0),
		at.AtLeast("created_at", c.CreatedAt, 0), at.AtLeast("updated_at", c.UpdatedAt, 0), c.check(at),
	); err != nil {
		return err
	}
	if status, _ := c.written(); c.Status != "" && c.Status != status {
		return at.Invalid("status", "must be that of the newest update that has one, %s, got %s", status, c.Status)
	}
	known, err := Pages.Exists(tx, account, strconv.FormatInt(c.PageID, 10))
	if err == nil && !known {
		err = at.Invalid("page_id", "status page %d does not exist", c.PageID)
	}
	return err
}

// Dump returns the changes of an account, sorted by id, without what is computed.
func Dump(tx *db.Tx, account int64) ([]Change, error) {
	return db.All(tx, scanChange, `SELECT body FROM status_page_change WHERE account_id = $1 ORDER BY change_id`, account)
}
