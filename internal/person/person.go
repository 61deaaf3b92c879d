package person

import (
	"slices"
	"strconv"
	"strings"

	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
)

// Item is a person as /person/infos shows one, without the phone number. Members without a value are left
// out.
type Item struct {
	AccountID     int64  `json:"account_id" doc:"The account the person belongs to."`
	PersonID      int64  `json:"person_id" doc:"The person; the account's id when this is the account's own record."`
	PersonName    string `json:"person_name,omitzero" doc:"Name for display."`
	Avatar        string `json:"avatar,omitzero" doc:"Picture: a path or a URL."`
	Locale        string `json:"locale,omitzero" doc:"Preferred language, as a language tag."`
	TimeZone      string `json:"time_zone,omitzero" doc:"IANA name of the person's time zone."`
	Email         string `json:"email,omitzero" doc:"E-mail address."`
	PhoneVerified bool   `json:"phone_verified" doc:"Whether the phone number has been confirmed."`
	EmailVerified bool   `json:"email_verified" doc:"Whether the e-mail address has been confirmed."`
	As            string `json:"as,omitzero" doc:"In which capacity the record is given: member, account or responder."`
	Status        string `json:"status,omitzero" doc:"enabled, pending (invited) or deleted; active for observers."`
}

const columns = `account_id, person_id, person_name, avatar, locale, time_zone, email, phone_verified, email_verified, "as", status`

func scanItem(scan db.Scan) (p Item, err error) {
	err = scan(&p.AccountID, &p.PersonID, &p.PersonName, &p.Avatar, &p.Locale, &p.TimeZone, &p.Email, &p.PhoneVerified, &p.EmailVerified,
		&p.As, &p.Status)
	return p, err
}

// batch is how many ids one query takes: enough for nearly every call, and one SQL text for all of them.
const batch = 50

var selectBatch = `SELECT ` + columns + ` FROM person WHERE account_id = $1 AND person_id IN (` + placeholders(2, batch) + `)`

func placeholders(first, n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = "$" + strconv.Itoa(first+i)
	}
	return strings.Join(list, ", ")
}

// keptPerson is under which a person is kept, keptAccount the account's own record.
type (
	keptPerson  struct{ id int64 }
	keptAccount struct{}
)

// byID gives the persons of these ids, in several queries: the transaction should be a snapshot. Ids that
// name nobody in the account are not in the map.
func byID(tx *db.Tx, account int64, ids []int64) (map[int64]Item, error) {
	kept, err := configstore.ViewOf(tx, account)
	if err != nil {
		return nil, err
	}
	found := make(map[int64]Item, len(ids))
	var wanting []int64
	for _, id := range ids {
		if p, ok := configstore.Cached[Item](kept, keptPerson{id}); ok {
			found[id] = p
		} else {
			wanting = append(wanting, id)
		}
	}
	for chunk := range slices.Chunk(wanting, batch) {
		args := make([]any, 1+batch)
		args[0] = account
		for i := range batch {
			args[1+i] = chunk[min(i, len(chunk)-1)] // a short batch is filled up with its last id
		}
		items, err := db.All(tx, scanItem, selectBatch, args...)
		if err != nil {
			return nil, err
		}
		for _, p := range items {
			found[p.PersonID] = p
			if err := configstore.Cache(kept, keptPerson{p.PersonID}, p); err != nil {
				return nil, err
			}
		}
	}
	return found, nil
}
