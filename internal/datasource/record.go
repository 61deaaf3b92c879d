package datasource

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/secret"
)

// Record is a datasource in the account file, with the members of the API. enabled may be absent and is then true.
type Record struct{ Item }

// UnmarshalJSONFrom decodes a record and sets the members that a file may leave out.
func (r *Record) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	r.Item = Item{Enabled: true}
	return json.UnmarshalDecode(d, &r.Item)
}

// Load adds the datasources of an account file, sealing their secrets. Errors are fault.Invalid with the
// record's path.
func Load(tx *db.Tx, keyring *secret.Keyring, account int64, records []Record) error {
	for i, r := range records {
		at := configstore.PathOf("datasources", i)
		if err := r.place(at, account); err != nil {
			return err
		}
		if err := load(tx, keyring, at, r); err != nil {
			return err
		}
	}
	return nil
}

// load adds a datasource that was checked, and raises the counter to its id.
func load(tx *db.Tx, keyring *secret.Keyring, at configstore.RecordPath, r Record) error {
	fresh, err := insertItem(tx, keyring, r.Item)
	if err != nil {
		return err
	}
	if !fresh {
		return at.Twice("id", r.ID)
	}
	if r.ID > maxCounted {
		return nil
	}
	return tx.Do(`INSERT INTO datasource_counter (account_id, last_id) VALUES ($1, $2)
		ON CONFLICT (account_id) DO UPDATE SET last_id = excluded.last_id WHERE datasource_counter.last_id < excluded.last_id`,
		r.AccountID, int64(r.ID))
}

// maxCounted is the largest id to which a file raises the counter: beyond it, clients that read
// numbers as floating point would lose digits of every id that follows. It is 2^53 - 1.
const maxCounted = 1<<53 - 1

// place checks the record and makes it the account's.
func (r *Record) place(at configstore.RecordPath, account int64) error {
	if r.ID == 0 {
		return at.Invalid("id", "must be at least 1, got 0")
	}
	if r.Payload == nil {
		return at.Invalid("payload", "is required")
	}
	if err := configstore.FirstError(at.Account(r.AccountID, account), at.AtLeast("updated_at", r.UpdatedAt, 0),
		r.check(at), r.checkReserved(at)); err != nil {
		return err
	}
	if block, _ := r.Payload.only(r.TypeIdent); block != *r.Payload {
		return at.Invalid("payload", "must hold no other block than %s", r.TypeIdent)
	}
	r.AccountID = account
	return nil
}

// Dump returns the account's datasources, sorted by id. Without secrets they are as info returns them to a caller who
// may only read.
func Dump(tx *db.Tx, keyring *secret.Keyring, account int64, secrets bool) ([]Record, error) {
	items, err := All(tx, account)
	if err != nil {
		return nil, err
	}
	records := make([]Record, len(items))
	for i, d := range items {
		if secrets {
			d.Payload, err = d.Payload.opened(keyring.Open, account, d.ID)
		} else {
			d.Payload = d.Payload.blanked()
		}
		if err != nil {
			return nil, fault.Wrap(err, "open the secrets of datasource %d", d.ID)
		}
		records[i] = Record{d}
	}
	return records, nil
}

// Find returns a datasource with its secrets sealed; found is false if the account has none of this id.
func Find(tx *db.Tx, account int64, id uint64) (d Item, found bool, err error) {
	return db.One(tx, scanItem, `SELECT `+columns+` FROM datasource WHERE account_id = $1 AND datasource_id = $2`, account, int64(id))
}

// Erase deletes a datasource. It does nothing if there is none.
func Erase(tx *db.Tx, account int64, id uint64) error {
	if err := configstore.BumpRevision(tx, account); err != nil {
		return err
	}
	if err := tx.Do(`DELETE FROM datasource WHERE account_id = $1 AND datasource_id = $2`, account, int64(id)); err != nil {
		return err
	}
	return configstore.ClearReferences(tx, account, configstore.Datasource, id)
}
