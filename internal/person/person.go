package person

import (
	"slices"
	"strconv"
	"strings"

	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
)

// Item is a person in the reply of /person/infos, without the phone number. Members without a value are absent.
type Item struct {
	AccountID     int64  `json:"account_id" doc:"The account the person belongs to."`
	PersonID      int64  `json:"person_id" doc:"The person; the account's id when this is the account's own record."`
	PersonName    string `json:"person_name,omitzero" maxLength:"100" doc:"Name for display."`
	Avatar        string `json:"avatar,omitzero" maxLength:"2048" doc:"Picture: a path or a URL."`
	Locale        string `json:"locale,omitzero" maxLength:"64" doc:"Preferred language, as a language tag."`
	TimeZone      string `json:"time_zone,omitzero" maxLength:"64" doc:"IANA name of the person's time zone."`
	Email         string `json:"email,omitzero" maxLength:"255" doc:"E-mail address."`
	PhoneVerified bool   `json:"phone_verified" doc:"Whether the phone number has been confirmed."`
	EmailVerified bool   `json:"email_verified" doc:"Whether the e-mail address has been confirmed."`
	As            string `json:"as,omitzero" maxLength:"16" doc:"The kind of record: member, account or responder."`
	Status        string `json:"status,omitzero" maxLength:"16" doc:"enabled, pending (invited) or deleted; active for observers."`
}

const columns = `account_id, person_id, person_name, avatar, locale, time_zone, email, phone_verified, email_verified, "as", status`

func scanItem(scan db.Scan) (p Item, err error) {
	err = scan(&p.AccountID, &p.PersonID, &p.PersonName, &p.Avatar, &p.Locale, &p.TimeZone, &p.Email, &p.PhoneVerified, &p.EmailVerified,
		&p.As, &p.Status)
	return p, err
}

// batch is the number of ids in one query. It is enough for nearly every call, and all calls share one SQL text.
const batch = 50

var selectBatch = `SELECT ` + columns + ` FROM person WHERE account_id = $1 AND person_id IN (` + placeholders(2, batch) + `)`

// placeholders returns n placeholders from $first on, joined by commas.
func placeholders(first, n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = "$" + strconv.Itoa(first+i)
	}
	return strings.Join(list, ", ")
}

// personKey is the cache key of a person, accountKey that of the account's own record.
type (
	personKey  struct{ id int64 }
	accountKey struct{}
)

// byID returns the persons of these ids, without unknown ids. Other readers share them. It may take several queries, so
// the transaction should be a snapshot.
func byID(tx *db.Tx, account int64, ids []int64) (map[int64]*Item, error) {
	kept, err := configstore.ViewOf(tx, account)
	if err != nil {
		return nil, err
	}
	found := make(map[int64]*Item, len(ids))
	var missing []int64
	for _, id := range ids {
		if p, ok := configstore.Cached[*Item](kept, personKey{id}); ok {
			found[id] = p
		} else {
			missing = append(missing, id)
		}
	}
	for chunk := range slices.Chunk(missing, batch) {
		args := make([]any, 1+batch)
		args[0] = account
		for i := range batch {
			args[1+i] = chunk[min(i, len(chunk)-1)] // a short batch repeats its last id
		}
		items, err := db.All(tx, scanItem, selectBatch, args...)
		if err != nil {
			return nil, err
		}
		for i := range items {
			p := &items[i]
			found[p.PersonID] = p
			if err := configstore.Cache(kept, personKey{p.PersonID}, p); err != nil {
				return nil, err
			}
		}
	}
	return found, nil
}
