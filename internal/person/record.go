package person

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"tocsin/internal/db"
	"tocsin/internal/fault"
)

// Record is a person in the account file: what the API shows, and the roles.
type Record struct {
	Item
	RoleIDs []int64 `json:"role_ids,omitempty"` // a set; given back in ascending order
}

// What as and status can be; either may be unset.
var (
	capacities = []string{"", "member", "account", "responder"}
	statuses   = []string{"", "enabled", "active", "pending", "deleted"}
)

// Load adds the persons of an account file. Roles are not checked to exist. Errors name the path of the
// fault.
func Load(tx *db.Tx, account int64, records []Record) error {
	for i, r := range records {
		path := fmt.Sprintf("persons[%d]", i)
		if field, err := r.check(account); err != nil {
			return fault.Invalid(path+"."+field, "%v", err)
		}
		n, err := tx.Exec(`INSERT INTO person (account_id, person_id, person_name, avatar, locale, time_zone, email, phone, phone_verified, email_verified, "as", status)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) ON CONFLICT DO NOTHING`,
			account, r.PersonID, r.PersonName, r.Avatar, r.Locale, r.TimeZone, r.Email, r.Phone, r.PhoneVerified, r.EmailVerified, r.As, r.Status)
		if err != nil {
			return err
		}
		if n == 0 {
			return fault.Invalid(path+".person_id", "must be unique, %d is there twice", r.PersonID)
		}
		if err := give(tx, account, path, r); err != nil {
			return err
		}
	}
	return nil
}

func give(tx *db.Tx, account int64, path string, r Record) error {
	for i, role := range r.RoleIDs {
		n, err := tx.Exec(`INSERT INTO person_role (account_id, person_id, role_id) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
			account, r.PersonID, role)
		if err != nil {
			return err
		}
		if n == 0 {
			return fault.Invalid(fmt.Sprintf("%s.role_ids[%d]", path, i), "must be unique, %d is there twice", role)
		}
	}
	return nil
}

// maxText is the longest avatar, e-mail address and so on, in characters.
const maxText = 2048

func (r Record) check(account int64) (field string, err error) {
	if r.AccountID != 0 && r.AccountID != account {
		return "account_id", fmt.Errorf("must be the file's account %d, got %d", account, r.AccountID)
	}
	if r.PersonID < 1 {
		return "person_id", fmt.Errorf("must be at least 1, got %d", r.PersonID)
	}
	for _, text := range []struct {
		field, value string
		max          int
	}{
		{"person_name", r.PersonName, maxName}, {"avatar", r.Avatar, maxText}, {"locale", r.Locale, maxName},
		{"email", r.Email, maxText}, {"phone", r.Phone, maxName},
	} {
		if n := utf8.RuneCountInString(text.value); n > text.max {
			return text.field, fmt.Errorf("must have at most %d characters, got %d", text.max, n)
		}
	}
	if err := checkZone(r.TimeZone); err != nil { // the empty name is UTC's
		return "time_zone", err
	}
	if !slices.Contains(capacities, r.As) {
		return "as", fmt.Errorf("must be one of %s, got %q", strings.Join(capacities[1:], ", "), r.As)
	}
	if !slices.Contains(statuses, r.Status) {
		return "status", fmt.Errorf("must be one of %s, got %q", strings.Join(statuses[1:], ", "), r.Status)
	}
	return "", nil
}

// Dump gives the account's persons by id.
func Dump(tx *db.Tx, account int64) ([]Record, error) {
	persons, err := db.All(tx, func(scan db.Scan) (r Record, err error) {
		r.Item, err = scanItem(scan)
		return r, err
	}, `SELECT account_id, person_id, person_name, avatar, locale, time_zone, email, phone, phone_verified, email_verified, "as", status
		FROM person WHERE account_id = $1 ORDER BY person_id`, account)
	if err != nil {
		return nil, err
	}
	type given struct{ person, role int64 }
	pairs, err := db.All(tx, func(scan db.Scan) (g given, err error) {
		return g, scan(&g.person, &g.role)
	}, `SELECT person_id, role_id FROM person_role WHERE account_id = $1 ORDER BY person_id, role_id`, account)
	if err != nil {
		return nil, err
	}
	roles := map[int64][]int64{}
	for _, g := range pairs {
		roles[g.person] = append(roles[g.person], g.role)
	}
	for i := range persons {
		persons[i].RoleIDs = roles[persons[i].PersonID]
	}
	return persons, nil
}
