package person

import (
	"time"

	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// Bounds of names and of longer texts, in characters.
const (
	maxName = 255
	maxText = 2048
)

// Account is the account in the account file.
type Account struct {
	AccountID   int64  `json:"account_id"`
	AccountName string `json:"account_name"`
	TimeZone    string `json:"time_zone"` // IANA name; wall-clock rules without a zone of their own read it
	OwnerID     int64  `json:"owner_id"`  // the person who has every permission
}

// ofAccount is the account as it stands among persons.
func ofAccount(tx *db.Tx, account int64) (Item, bool, error) {
	a, found, err := configstore.Kept(tx, account, keptAccount{}, func() (Account, bool, error) { return DumpAccount(tx, account) })
	return Item{AccountID: a.AccountID, PersonID: a.AccountID, PersonName: a.AccountName, TimeZone: a.TimeZone, As: "account"}, found, err
}

// LoadAccount adds the account of an account file, created now (Unix seconds). An account that exists is
// refused. Errors about its members are fault.Invalid with their path.
func LoadAccount(tx *db.Tx, a Account, now int64) error {
	at := configstore.RecordPath("account")
	if err := configstore.FirstError(
		at.AtLeast("account_id", a.AccountID, 1), at.Length("account_name", a.AccountName, 1, maxName),
		at.AtLeast("owner_id", a.OwnerID, 1), at.Length("time_zone", a.TimeZone, 1, maxName), zone(at, a.TimeZone),
	); err != nil {
		return err
	}
	n, err := tx.Exec(`INSERT INTO account (account_id, account_name, time_zone, owner_id, created_at) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT DO NOTHING`, a.AccountID, a.AccountName, a.TimeZone, a.OwnerID, now)
	if err == nil && n == 0 {
		return fault.New(fault.Conflict, "account %d exists already", a.AccountID)
	}
	return err
}

// DumpAccount gives the account; found is false when there is none of this id.
func DumpAccount(tx *db.Tx, account int64) (a Account, found bool, err error) {
	return db.One(tx, scanAccount, `SELECT account_id, account_name, time_zone, owner_id FROM account WHERE account_id = $1`, account)
}

// Accounts gives every account of the database by id. It is for the command line alone: no caller of the
// API may learn of another account.
func Accounts(tx *db.Tx) ([]Account, error) {
	return db.All(tx, scanAccount, `SELECT account_id, account_name, time_zone, owner_id FROM account ORDER BY account_id`)
}

func scanAccount(scan db.Scan) (a Account, err error) {
	return a, scan(&a.AccountID, &a.AccountName, &a.TimeZone, &a.OwnerID)
}

// zone holds a zone's name against the zones there are; the empty name passes. "Local" is the server's
// own zone, which means something else on every machine.
func zone(at configstore.RecordPath, name string) error {
	if _, err := time.LoadLocation(name); err != nil || name == "Local" {
		return at.Invalid("time_zone", "must be the IANA name of a time zone such as Asia/Shanghai, got %q", name)
	}
	return nil
}

// ReplaceAccount changes what a file says of an account that exists.
func ReplaceAccount(tx *db.Tx, a Account) error {
	_, err := tx.Exec(`UPDATE account SET account_name = $1, time_zone = $2, owner_id = $3, revision = revision + 1 WHERE account_id = $4`,
		a.AccountName, a.TimeZone, a.OwnerID, a.AccountID)
	return err
}
