package person

import (
	"cmp"

	"tocsin/internal/configstore"
	"tocsin/internal/credential"
	"tocsin/internal/platform/db"
	"tocsin/internal/role"
)

// Record is a person in the account file: the members that the API shows, the phone number, and the roles.
type Record struct {
	Item
	Phone   string  `json:"phone,omitzero" maxLength:"40"`
	RoleIDs []int64 `json:"role_ids,omitempty" maxItems:"1000"` // a set; dumped in ascending order

	CountryCode string `json:"country_code,omitzero" maxLength:"8"`
	RefID       string `json:"ref_id,omitzero" maxLength:"255"`
	EmailSetBy  int64  `json:"email_set_by,omitzero"` // who set the address; 0: a file, the operator or a provider
	CreatedAt   int64  `json:"created_at,omitzero"`   // Unix seconds, as updated_at
	UpdatedAt   int64  `json:"updated_at,omitzero"`
}

const recordColumns = columns + `, phone, country_code, ref_id, email_set_by, created_at, updated_at`

// scanRecord reads a row of the columns above, without the roles.
func scanRecord(scan db.Scan) (r Record, err error) {
	r.Item, err = scanItem(func(dest ...any) error {
		return scan(append(dest, &r.Phone, &r.CountryCode, &r.RefID, &r.EmailSetBy, &r.CreatedAt, &r.UpdatedAt)...)
	})
	return r, err
}

// get returns a person, deleted ones too, without their roles.
func get(tx *db.Tx, account, person int64) (Record, bool, error) {
	return db.One(tx, scanRecord, `SELECT `+recordColumns+` FROM person WHERE account_id = $1 AND person_id = $2`, account, person)
}

// put inserts or updates a person, without their roles.
func (r Record) put(tx *db.Tx, account int64) error {
	err := tx.Do(`INSERT INTO person (`+recordColumns+
		`, name_folded) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)
		ON CONFLICT (account_id, person_id) DO UPDATE
			SET person_name = excluded.person_name, avatar = excluded.avatar, locale = excluded.locale, time_zone = excluded.time_zone,
			email = excluded.email, phone_verified = excluded.phone_verified, email_verified = excluded.email_verified, "as" = excluded."as",
				status = excluded.status, phone = excluded.phone,
			country_code = excluded.country_code, ref_id = excluded.ref_id, email_set_by = excluded.email_set_by,
				created_at = excluded.created_at, updated_at = excluded.updated_at,
				name_folded = excluded.name_folded`,
		account, r.PersonID, r.PersonName, r.Avatar, r.Locale, r.TimeZone, r.Email, r.PhoneVerified, r.EmailVerified, r.As, r.Status, r.Phone,
		r.CountryCode, r.RefID, r.EmailSetBy, r.CreatedAt, r.UpdatedAt, db.Fold(r.PersonName+"\n"+r.Email))
	if err != nil {
		return err
	}
	return configstore.BumpRevision(tx, account)
}

// Load inserts the persons of an account file. Their roles need not exist. Errors are fault.Invalid with
// the record's path.
func Load(tx *db.Tx, account int64, records []Record) error {
	for i, r := range records {
		at := configstore.PathOf("persons", i)
		if err := r.check(at, account); err != nil {
			return err
		}
		_, found, err := get(tx, account, r.PersonID)
		if err != nil {
			return err
		}
		if found {
			return at.Twice("person_id", r.PersonID)
		}
		if err := r.put(tx, account); err != nil {
			return err
		}
		if err := grantRoles(tx, account, at, r); err != nil {
			return err
		}
	}
	return nil
}

// grantRoles stores the roles of a record.
func grantRoles(tx *db.Tx, account int64, at configstore.RecordPath, r Record) error {
	for i, id := range r.RoleIDs {
		fresh, err := role.Give(tx, account, r.PersonID, id)
		if err != nil {
			return err
		}
		if !fresh {
			return at.Element("role_ids", i).Twice("", id)
		}
	}
	return nil
}

func (r Record) check(at configstore.RecordPath, account int64) error {
	return configstore.FirstError(
		at.Account(r.AccountID, account),
		at.AtLeast("person_id", r.PersonID, 1),
		at.Length("person_name", r.PersonName, 0, maxName),
		at.Length("avatar", r.Avatar, 0, maxText),
		at.Length("locale", r.Locale, 0, maxName),
		at.Length("email", r.Email, 0, maxText),
		at.Length("phone", r.Phone, 0, maxName),
		at.AtLeast("email_set_by", r.EmailSetBy, 0),
		zone(at, r.TimeZone),
		at.OneOf("as", cmp.Or(r.As, "member"), "member", "account", "responder"),
		at.OneOf("status", cmp.Or(r.Status, "enabled"), "enabled", "active", "pending", "deleted"),
	)
}

// Dump returns the account's persons by id, with their roles.
func Dump(tx *db.Tx, account int64) ([]Record, error) {
	persons, err := db.All(tx, scanRecord, `SELECT `+recordColumns+` FROM person WHERE account_id = $1 ORDER BY person_id`, account)
	if err != nil {
		return nil, err
	}
	held, err := role.Held(tx, account)
	for i := range persons {
		persons[i].RoleIDs = held[persons[i].PersonID]
	}
	return persons, err
}

// Erase deletes a person, their roles and links. Their app keys stay in case the person is loaded again; a key without a person
// is rejected.
func Erase(tx *db.Tx, account, person int64) error {
	if err := role.RevokeAll(tx, account, person); err != nil {
		return err
	}
	if err := credential.EndLinks(tx, account, person); err != nil {
		return err
	}
	if err := tx.Do(`DELETE FROM person WHERE account_id = $1 AND person_id = $2`, account, person); err != nil {
		return err
	}
	return configstore.BumpRevision(tx, account)
}

// Complete stores the folded search texts of persons of an older version. It is called when the program starts.
func Complete(tx *db.Tx) error {
	return db.Refold[int64](tx, `SELECT account_id, person_id, person_name || '
' || email FROM person WHERE name_folded = ''`,
		`UPDATE person SET name_folded = $1 WHERE account_id = $2 AND person_id = $3`)
}
