package person

import (
	"fmt"
	"time"
	"unicode/utf8"

	"tocsin/internal/db"
	"tocsin/internal/fault"
)

// maxName is the longest name of an account or a person, in characters.
const maxName = 255

// Account is the account in the account file.
type Account struct {
	AccountID   int64  `json:"account_id"`
	AccountName string `json:"account_name"`
	TimeZone    string `json:"time_zone"` // IANA name; wall-clock rules without a zone of their own read it
	OwnerID     int64  `json:"owner_id"`  // the person who has every permission
}

// ofAccount is the account as it stands among persons.
func ofAccount(tx *db.Tx, account int64) (Item, bool, error) {
	a, found, err := DumpAccount(tx, account)
	return Item{AccountID: a.AccountID, PersonID: a.AccountID, PersonName: a.AccountName, TimeZone: a.TimeZone, As: "account"}, found, err
}

// LoadAccount adds the account of an account file, created now (Unix seconds). An account that exists is
// refused. Errors name the path of the fault.
func LoadAccount(tx *db.Tx, a Account, now int64) error {
	if a.AccountID < 1 {
		return fault.Invalid("account.account_id", "must be at least 1, got %d", a.AccountID)
	}
	if n := utf8.RuneCountInString(a.AccountName); n < 1 || n > maxName {
		return fault.Invalid("account.account_name", "must have 1 to %d characters, got %d", maxName, n)
	}
	if a.OwnerID < 1 {
		return fault.Invalid("account.owner_id", "must be at least 1, got %d", a.OwnerID)
	}
	if a.TimeZone == "" {
		return fault.Invalid("account.time_zone", "is required")
	}
	if err := checkZone(a.TimeZone); err != nil {
		return fault.Invalid("account.time_zone", "%v", err)
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
	return db.One(tx, func(scan db.Scan) (a Account, err error) {
		return a, scan(&a.AccountID, &a.AccountName, &a.TimeZone, &a.OwnerID)
	}, `SELECT account_id, account_name, time_zone, owner_id FROM account WHERE account_id = $1`, account)
}

// checkZone holds a zone's name against the zones there are. "Local" is the server's own zone, which
// means something else on every machine.
func checkZone(name string) error {
	if _, err := time.LoadLocation(name); err != nil || name == "Local" {
		return fmt.Errorf("must be the IANA name of a time zone such as Asia/Shanghai, got %q", name)
	}
	return nil
}
