package notify

import (
	"slices"
	"strings"
	"time"

	"tocsin/internal/auth"
	"tocsin/internal/channel"
	"tocsin/internal/core/sentence"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
	"tocsin/internal/preference"
)

// Person is a person who may be notified.
type Person struct {
	ID       int64
	Name     string
	Email    string
	Phone    string
	TimeZone string
	Status   string
}

// Find returns a person; found is false when the account has none of this id, or the person has left.
func Find(tx *db.Tx, account, id int64) (p Person, found bool, err error) {
	r, found, err := person.Find(tx, account, id)
	if err != nil || !found || r.Status == "deleted" {
		return p, false, err
	}
	return Person{ID: r.PersonID, Name: r.PersonName, Email: r.Email, Phone: r.Phone, TimeZone: r.TimeZone, Status: r.Status}, true, nil
}

// Reader returns a person as a principal without permissions: enough to check who may read a private channel.
func Reader(tx *db.Tx, account, person int64) (auth.Principal, error) {
	owner, err := auth.OwnerOf(tx, account)
	return auth.Principal{AccountID: account, PersonID: person, Owner: person == owner}, err
}

// Reach is one method to reach a person now.
type Reach struct {
	Method  string
	Address Address
	After   time.Time      // not before; zero: at once
	Lacks   sentence.Value // why it will fail as configured; it is tried all the same, so that the history shows it. Empty: it may work
}

// Works reports whether one of some methods may work.
func Works(reaches []Reach) bool {
	return slices.ContainsFunc(reaches, func(r Reach) bool { return r.Lacks == "" })
}

// Reaches returns the methods by which a person is notified of an incident of a severity at a moment: those of the rule
// (by), or those that the person prefers. why describes what is missing when no method Works. A person who chose only
// methods that cannot be used gets an e-mail.
func (r *Service) Reaches(tx *db.Tx, account int64, p Person, by *channel.By, severity string, now time.Time) (reaches []Reach,
	why sentence.Value, err error) {
	pref, err := preference.Of(tx, account, p.ID)
	if err != nil {
		return nil, "", err
	}
	var missing []sentence.Value
	if err := preference.Kind.Open(r.Keyring, account, &pref); err != nil { // e-mail needs no contacts and still works
		pref.Contacts, missing = nil, append(missing, sentence.New("contacts_closed", err))
	}
	methods := pref.Methods(severity)
	if list := by.Of(severity); len(list) > 0 {
		methods = list
	}
	after, err := quietUntil(tx, account, p, pref, severity, now)
	if err != nil {
		return nil, "", err
	}
	for _, method := range methods {
		found, lacks, err := r.reachesOver(tx, account, p, pref, method)
		if err != nil {
			return nil, "", err
		}
		if lacks != "" {
			missing = append(missing, lacks)
		}
		for _, reach := range found {
			reach.After = after
			if !slices.ContainsFunc(reaches, func(o Reach) bool { return o.Method == reach.Method }) {
				reaches = append(reaches, reach)
			}
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
	return reaches, sentence.Join(missing...), nil
}

// PutFor stores the notifications to a person, one for each method that by names or the person prefers for the severity.
// n is what they have in common; their keys are its key and the method. In quiet hours they wait, and n.Detail.Until
// moves with them. A person without a method gets a notification that has failed.
func (r *Service) PutFor(tx *db.Tx, p Person, by *channel.By, severity string, n Notification, now time.Time) error {
	reaches, missing, err := r.Reaches(tx, n.Account, p, by, severity, now)
	if err != nil {
		return err
	}
	n.Severity = severity
	return r.PutReached(tx, p, reaches, missing, n, now)
}

// PutReached is PutFor with what Reaches returned for n.Severity.
func (r *Service) PutReached(tx *db.Tx, p Person, reaches []Reach, missing sentence.Value, n Notification, now time.Time) error {
	if len(reaches) == 0 {
		n.Person = p.ID
		n.Key = n.Key + "/none"
		n.Method = "none"
		return r.Refuse(tx, n, sentence.New("not_reached", p.Name, missing), now)
	}
	return r.PutOver(tx, p, reaches, n, now)
}

// PutOver is PutFor over the methods that Reaches returned.
func (r *Service) PutOver(tx *db.Tx, p Person, reaches []Reach, n Notification, now time.Time) error {
	prefix := n.Key + "/"
	n.Person = p.ID
	for _, reach := range reaches {
		one := n
		one.Key = prefix + reach.Method
		one.Method = reach.Method
		one.Address = reach.Address
		if !reach.After.IsZero() {
			one.Due = reach.After.UnixMilli()
			one.Reason = sentence.Join(one.Reason, sentence.New("waits_quiet"))
			if one.Detail.Until > 0 {
				one.Detail.Until += reach.After.Unix() - now.Unix()
			}
		}
		if err := r.PutNeeded(tx, one, now); err != nil {
			return err
		}
	}
	return nil
}

// quietUntil returns when a person's quiet hours end, in the person's time zone, or the account's if unset. It is zero
// when the person has no quiet hours now.
func quietUntil(tx *db.Tx, id int64, p Person, pref preference.Preference, severity string, now time.Time) (time.Time, error) {
	if len(pref.QuietHours) == 0 {
		return time.Time{}, nil
	}
	zone := p.TimeZone
	if zone == "" {
		var err error
		_, zone, err = account(tx, id)
		if err != nil {
			return time.Time{}, err
		}
	}
	return pref.QuietUntil(severity, now, zone), nil
}

// reachesOver resolves one method to a person: push to each of the person's browsers, any other method to one address.
// lacks is what is missing for it.
func (r *Service) reachesOver(tx *db.Tx, account int64, p Person, pref preference.Preference, method string) (found []Reach,
	lacks sentence.Value, err error) {
	if method == methodPush && r.Can(methodPush) {
		return browsers(tx, account, p)
	}
	reach, lacks, err := r.reach(tx, account, p, pref, method)
	if reach.Method != "" {
		found = append(found, reach)
	}
	return found, lacks, err
}

// reach resolves one method to a person. lacks is what is missing for it. Both are set when the method is worth trying
// although something is missing.
func (r *Service) reach(tx *db.Tx, account int64, p Person, pref preference.Preference, method string) (reach Reach,
	lacks sentence.Value, err error) {
	if contactProblem[kindOf(method)] != nil {
		return r.direct(tx, account, p, method)
	}
	if !r.Can(method) {
		return reach, sentence.New("not_sendable", method), nil
	}
	switch method {
	case "email":
		if p.Email == "" {
			return reach, sentence.New("no_email"), nil
		}
		return Reach{Method: method, Address: Address{To: p.Email}}, "", nil
	case "sms", "voice":
		if p.Phone == "" {
			return reach, sentence.New("no_phone", method), nil
		}
		return Reach{Method: method, Address: Address{To: p.Phone}}, "", nil
	}
	contact, ok := pref.Contacts[method]
	if !ok || contact == "" {
		return reach, sentence.New("no_contact", method), nil
	}
	if method == "telegram" && !strings.Contains(contact, "/") {
		return reach, sentence.New("telegram_chat"), nil
	}
	return Reach{Method: method, Address: Address{To: contact}}, "", nil
}
