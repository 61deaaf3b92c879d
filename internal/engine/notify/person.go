package notify

import (
	"slices"
	"strings"
	"time"

	"tocsin/internal/auth"
	"tocsin/internal/channel"
	"tocsin/internal/platform/db"
	"tocsin/internal/preference"
)

// Person is whom a notice may go to.
type Person struct {
	ID       int64
	Name     string
	Email    string
	Phone    string
	TimeZone string
	Status   string
}

// Find reads a person; found is false when the account has none of this id, or the person has left.
func Find(tx *db.Tx, account, person int64) (p Person, found bool, err error) {
	return db.One(tx, func(scan db.Scan) (p Person, err error) {
		return p, scan(&p.ID, &p.Name, &p.Email, &p.Phone, &p.TimeZone, &p.Status)
	}, `SELECT person_id, person_name, email, phone, time_zone, status FROM person WHERE account_id = $1 AND person_id = $2 AND status <> 'deleted'`, account, person)
}

// Reader is a person as one who reads: what a private channel asks, to which no permission of a key is needed.
func Reader(tx *db.Tx, account, person int64) (auth.Principal, error) {
	owner, err := auth.OwnerOf(tx, account)
	return auth.Principal{AccountID: account, PersonID: person, Owner: person == owner}, err
}

// Reach is one way to reach a person now.
type Reach struct {
	Method  string
	Address Address
	After   time.Time // not before; zero: at once
	Lacks   string    // why it will fail, as things are; it is tried all the same, so that this is seen. Empty: it may work
}

// Works tells whether one of some ways may work.
func Works(reaches []Reach) bool {
	return slices.ContainsFunc(reaches, func(r Reach) bool { return r.Lacks == "" })
}

// Reaches says how a person is to be told of something of a severity at a moment: as the rule wants it (by),
// or as the person prefers; why says what is missing when no way Works. Whoever chose only ways that cannot be
// used gets an e-mail at least.
func (r *Service) Reaches(tx *db.Tx, account int64, p Person, by *channel.By, severity string, now time.Time) (reaches []Reach, why string, err error) {
	pref, err := preference.Of(tx, account, p.ID)
	if err != nil {
		return nil, "", err
	}
	var missing []string
	if err := preference.Kind.Open(r.Keyring, account, &pref); err != nil { // a mail can be sent all the same
		pref.Contacts, missing = nil, append(missing, "contacts cannot be opened: "+err.Error())
	}
	methods := pref.Methods(severity)
	if by != nil && (by.FollowPreference == nil || !*by.FollowPreference) {
		if list := of(by, severity); len(list) > 0 {
			methods = list
		}
	}
	after, err := quiet(tx, account, p, pref, severity, now)
	if err != nil {
		return nil, "", err
	}
	for _, method := range methods {
		reach, lacks, err := r.reach(tx, account, p, pref, method)
		if err != nil {
			return nil, "", err
		}
		if lacks != "" {
			missing = append(missing, lacks)
		}
		if reach.Method == "" {
			continue
		}
		reach.After = after
		if !slices.ContainsFunc(reaches, func(o Reach) bool { return o.Method == reach.Method }) {
			reaches = append(reaches, reach)
		}
	}
	if !Works(reaches) && !slices.Contains(methods, "email") {
		reach, lacks, err := r.reach(tx, account, p, pref, "email")
		switch {
		case err != nil:
			return nil, "", err
		case lacks != "":
			missing = append(missing, lacks)
		default:
			reach.After = after
			reaches = append(reaches, reach)
		}
	}
	return reaches, strings.Join(missing, "; "), nil
}

// Tell makes the notices of something of a severity to a person, over every way that by wants or the person prefers.
// n is what they have in common; their keys are its key and the way. In quiet hours they wait, and n.Detail.Until with
// them. That there is no way is noted down as a notice that failed.
func (r *Service) Tell(tx *db.Tx, p Person, by *channel.By, severity string, n Notification, now time.Time) error {
	reaches, missing, err := r.Reaches(tx, n.Account, p, by, severity, now)
	if err != nil {
		return err
	}
	prefix := n.Key + "/"
	n.Person = p.ID
	if len(reaches) == 0 {
		n.Key, n.Method = prefix+"none", "none"
		return r.Refuse(tx, n, p.Name+" cannot be reached: "+missing, now)
	}
	for _, reach := range reaches {
		one := n
		one.Key, one.Method, one.Address = prefix+reach.Method, reach.Method, reach.Address
		if !reach.After.IsZero() {
			one.Due = reach.After.UnixMilli()
			one.Reason += "; it waits for the end of quiet hours"
			if one.Detail.Until > 0 {
				one.Detail.Until += reach.After.Unix() - now.Unix()
			}
		}
		if err := r.Put(tx, one, now); err != nil {
			return err
		}
	}
	return nil
}

// quiet is when a person's quiet hours end, on the person's clock or, of who never said where that is, the account's;
// zero: they do not hold.
func quiet(tx *db.Tx, id int64, p Person, pref preference.Preference, severity string, now time.Time) (time.Time, error) {
	if len(pref.QuietHours) == 0 {
		return time.Time{}, nil
	}
	zone := p.TimeZone
	if zone == "" {
		var err error
		if _, zone, err = account(tx, id); err != nil {
			return time.Time{}, err
		}
	}
	return pref.QuietUntil(severity, now, zone), nil
}

func of(by *channel.By, severity string) []string {
	switch severity {
	case "Critical":
		return by.Critical
	case "Warning":
		return by.Warning
	}
	return by.Info
}

// reach is a way to a person, or what is missing for it. Where it is worth trying although something is, both.
func (r *Service) reach(tx *db.Tx, account int64, p Person, pref preference.Preference, method string) (reach Reach, lacks string, err error) {
	if lacking[kindOf(method)] != nil {
		return r.direct(tx, account, p, method)
	}
	if !r.Can(method) {
		return reach, "this server cannot send " + method, nil
	}
	switch method {
	case "email":
		if p.Email == "" {
			return reach, "no e-mail address", nil
		}
		return Reach{Method: method, Address: Address{To: p.Email}}, "", nil
	case "sms", "voice":
		if p.Phone == "" {
			return reach, "no phone number for " + method, nil
		}
		return Reach{Method: method, Address: Address{To: p.Phone}}, "", nil
	}
	contact, ok := pref.Contacts[method]
	if !ok || contact == "" {
		return reach, "no contact for " + method, nil
	}
	if method == "telegram" && !strings.Contains(contact, "/") {
		return reach, "the contact for telegram names no chat: it must be the bot's token, a slash and the chat's id", nil
	}
	return Reach{Method: method, Address: Address{To: contact}}, "", nil
}
