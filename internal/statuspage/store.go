package statuspage

import (
	"strconv"

	"github.com/go-json-experiment/json"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// never is the moment of what has no known end. It is 2^53 - 1.
const never = 1<<53 - 1

// maxOpen is the largest number of open changes of an account.
const maxOpen = 1000

func scanChange(row db.Scan) (c Change, err error) {
	var body string
	err = row(&body)
	if err == nil {
		err = json.Unmarshal([]byte(body), &c)
	}
	return c, err
}

// findChange returns a change of a page, or ResourceNotFound.
func findChange(tx *db.Tx, account, page, number int64) (Change, error) {
	c, found, err := db.One(tx, scanChange, `SELECT body FROM status_page_change WHERE account_id = $1 AND change_id = $2 AND page_id = $3`,
		account, number, page)
	if err == nil && !found {
		err = fault.Missing(changeKind, number)
	}
	return c, err
}

// taken reports whether the account has a change of this number.
func taken(tx *db.Tx, account, number int64) (bool, error) {
	_, found, err := db.One(tx, db.Column[int64], `SELECT 1 FROM status_page_change WHERE account_id = $1 AND change_id = $2`, account, number)
	return found, err
}

// values returns the columns of a change. What is computed is not stored.
func (c Change) values(account int64) ([]any, error) {
	c.Affected = nil
	c.Status, _ = c.written()
	body, err := json.Marshal(c, json.Deterministic(true))
	return []any{account, c.ChangeID, c.PageID, c.Type, c.Status, c.StartAt, c.beginsAt(), c.endsAt(), string(body)}, err
}

// insert stores a new change; fresh is false, and nothing is stored, when its number is taken.
func (c *Change) insert(tx *db.Tx, account int64) (fresh bool, err error) {
	values, err := c.values(account)
	if err != nil {
		return false, err
	}
	n, err := tx.Exec(`INSERT INTO status_page_change (account_id, change_id, page_id, type, status, start_at, ongoing_at, closes_at, body)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING`, values...)
	return n > 0, err
}

// update stores an existing change.
func (c *Change) update(tx *db.Tx, account int64) error {
	values, err := c.values(account)
	if err != nil {
		return err
	}
	return tx.Do(`UPDATE status_page_change SET page_id = $3, type = $4, status = $5, start_at = $6, ongoing_at = $7, closes_at = $8,
		body = $9 WHERE account_id = $1 AND change_id = $2`, values...)
}

// remove deletes a change.
func remove(tx *db.Tx, account, number int64) error {
	return tx.Do(`DELETE FROM status_page_change WHERE account_id = $1 AND change_id = $2`, account, number)
}

// ErasePage deletes a page with its changes. It does nothing if there is none.
func ErasePage(tx *db.Tx, account int64, id string) error {
	number, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return err
	}
	if err := tx.Do(`DELETE FROM status_page_change WHERE account_id = $1 AND page_id = $2`, account, number); err != nil {
		return err
	}
	return Pages.Delete(tx, account, id)
}

// openOf returns the open changes of a page, in the order of their starts.
func openOf(tx *db.Tx, account, page, now int64) ([]Change, error) {
	return db.All(tx, scanChange, `SELECT body FROM status_page_change WHERE account_id = $1 AND page_id = $2 AND closes_at > $3
		ORDER BY start_at, change_id LIMIT $4 + 0`, account, page, now, maxOpen)
}

// checkOpen returns a fault if the change is open, and the account has as many other open changes as it may.
func (c *Change) checkOpen(tx *db.Tx, account, now int64) error {
	if c.endsAt() <= now {
		return nil
	}
	n, _, err := db.One(tx, db.Column[int64],
		`SELECT count(*) FROM status_page_change WHERE account_id = $1 AND closes_at > $2 AND change_id <> $3`, account, now, c.ChangeID)
	if err == nil && n >= maxOpen {
		err = fault.Invalid("status", "must end the change, or another one must end first: an account has at most %d open changes", maxOpen)
	}
	return err
}

// selection selects changes. A zero member does not narrow.
type selection struct {
	page          int64
	kind, status  string
	from, to      int64 // of the start, both inclusive
	limit, offset int64
}

// statusNow is the status at the moment $7, as Change.statusAt has it.
const statusNow = `CASE WHEN status IN ('resolved', 'completed') THEN status WHEN closes_at <= $7 THEN 'completed'
	WHEN ongoing_at <= $7 THEN 'ongoing' ELSE status END`

const (
	ofPage = ` FROM status_page_change WHERE account_id = $1 AND page_id = $2 AND start_at >= $3 AND start_at <= $4
	AND ($5 = '' OR type = $5) AND ($6 = '' OR ` + statusNow + ` = $6)`
	stillOpen = ` FROM status_page_change WHERE account_id = $1 AND ($2 = 0 OR page_id = $2) AND closes_at > $3
	AND ($4 = '' OR type = $4)`
)

// changesOf returns a part of the changes of a page, the latest start first, and the number of all.
func changesOf(tx *db.Tx, account int64, s selection, now int64) (list []Change, total int64, err error) {
	args := []any{account, s.page, s.from, s.to, s.kind, s.status, now}
	total, _, err = db.One(tx, db.Column[int64], `SELECT count(*)`+ofPage, args...)
	if err != nil {
		return nil, 0, err
	}
	list, err = db.All(tx, scanChange, `SELECT body`+ofPage+` ORDER BY start_at DESC, change_id DESC LIMIT $8 + 0 OFFSET $9 + 0`,
		append(args, s.limit, s.offset)...)
	return list, total, err
}

// openChanges returns a part of the open changes of a page or of the account, and the number of all: those that have
// begun, the latest start first, then those to come, the next one first.
func openChanges(tx *db.Tx, account int64, s selection, now int64) (list []Change, total int64, err error) {
	args := []any{account, s.page, now, s.kind}
	total, _, err = db.One(tx, db.Column[int64], `SELECT count(*)`+stillOpen, args...)
	if err != nil {
		return nil, 0, err
	}
	list, err = db.All(tx, scanChange, `SELECT body`+stillOpen+` ORDER BY start_at > $3, abs(start_at - $3), change_id
		LIMIT $5 + 0 OFFSET $6 + 0`, append(args, s.limit, s.offset)...)
	return list, total, err
}
