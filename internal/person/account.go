package person

import (
	"time"

	"tocsin/internal/api"
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
	AccountName string `json:"account_name" maxLength:"255"`
	TimeZone    string `json:"time_zone" maxLength:"64"` // IANA name; wall-clock rules without a zone of their own read it
	OwnerID     int64  `json:"owner_id"`                 // the person who has every permission
}

// ofAccount returns the account's own record in the list of persons.
func ofAccount(tx *db.Tx, account int64) (Item, bool, error) {
	a, found, err := DumpAccount(tx, account)
	return Item{AccountID: a.AccountID, PersonID: a.AccountID, PersonName: a.AccountName, TimeZone: a.TimeZone, As: "account"}, found, err
}

// LoadAccount inserts the account of an account file, created at now (Unix seconds). It returns fault.Conflict for an
// account that exists, and fault.Invalid with the path for invalid members.
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

// DumpAccount returns the account; found is false when there is none of this id.
func DumpAccount(tx *db.Tx, account int64) (a Account, found bool, err error) {
	return configstore.Kept(tx, account, accountKey{}, func() (Account, bool, error) {
		return db.One(tx, scanAccount, `SELECT account_id, account_name, time_zone, owner_id FROM account WHERE account_id = $1`, account)
	})
}

// Accounts returns every account of the database by id. Only the command line may use it: no caller of the API may learn
// of another account.
func Accounts(tx *db.Tx) ([]Account, error) {
	return db.All(tx, scanAccount, `SELECT account_id, account_name, time_zone, owner_id FROM account ORDER BY account_id`)
}

// FirstAccount returns the account that was created first: that of the person who runs the server.
func FirstAccount(tx *db.Tx) (account int64, found bool, err error) {
	return db.One(tx, db.Column[int64], `SELECT account_id FROM account ORDER BY created_at, account_id LIMIT 1`)
}

func scanAccount(scan db.Scan) (a Account, err error) {
	return a, scan(&a.AccountID, &a.AccountName, &a.TimeZone, &a.OwnerID)
}

// zone returns fault.Invalid for the name of an unknown time zone; an empty name is valid. "Local" is the server's own
// zone, which differs between machines.
func zone(at configstore.RecordPath, name string) error {
	if _, err := time.LoadLocation(name); err != nil || name == "Local" {
		return at.Invalid("time_zone", "must be the IANA name of a time zone such as Asia/Shanghai, got %q", name)
	}
	return nil
}

// ReplaceAccount updates an account to the members of an account file.
func ReplaceAccount(tx *db.Tx, a Account) error {
	return tx.Do(`UPDATE account SET account_name = $1, time_zone = $2, owner_id = $3, revision = revision + 1 WHERE account_id = $4`,
		a.AccountName, a.TimeZone, a.OwnerID, a.AccountID)
}

// AccountInfo is the account as the API shows it.
type AccountInfo struct {
	AccountID   int64  `json:"account_id" doc:"The account."`
	AccountName string `json:"account_name" doc:"Its name."`
	TimeZone    string `json:"time_zone" doc:"IANA name; every wall-clock rule of the account reads it."`
	OwnerID     int64  `json:"owner_id" doc:"The person who has every permission."`
}

func accountInfo(c *api.Call, _ api.Empty) (AccountInfo, error) {
	a, _, err := DumpAccount(c.Tx, c.Who.AccountID)
	return AccountInfo(a), err
}

// AccountUpdateRequest changes the members of the account that are sent.
type AccountUpdateRequest struct {
	AccountName *string `json:"account_name,omitzero" minLength:"1" maxLength:"255" doc:"Its name; at most 255 characters."`
	TimeZone    *string `json:"time_zone,omitzero" minLength:"1" maxLength:"64" doc:"IANA name. Schedules, rules and persons without a zone of their own follow it at once."`
}

// accountMoves returns the account if the request changes the time zone, which schedules without one of their own have.
func accountMoves(c *api.Call, in AccountUpdateRequest) ([]configstore.Target, error) {
	if in.TimeZone == nil || *in.TimeZone == c.Who.Zone.String() {
		return nil, nil
	}
	return []configstore.Target{configstore.RefTo("account", c.Who.AccountID)}, nil
}

// accountUpdate changes the members of the account that were sent.
func accountUpdate(c *api.Call, in AccountUpdateRequest) (AccountInfo, error) {
	a, found, err := DumpAccount(c.Tx, c.Who.AccountID)
	if err != nil {
		return AccountInfo{}, err
	}
	if !found {
		return AccountInfo{}, fault.Missing("account", c.Who.AccountID)
	}
	configstore.SetIfSent(&a.AccountName, in.AccountName)
	configstore.SetIfSent(&a.TimeZone, in.TimeZone)
	if err := zone("", a.TimeZone); err != nil {
		return AccountInfo{}, err
	}
	c.Touched("account", a.AccountID, a.AccountName)
	return AccountInfo(a), ReplaceAccount(c.Tx, a)
}
