// Package lint reads an account's configuration for core/lint, and answers /lint/list.
//
// It must never show a finding to a caller who may not read the objects that it names.
package lint

import (
	"fmt"
	"slices"
	"time"

	"tocsin/internal/auth"
	"tocsin/internal/channel"
	"tocsin/internal/core/lint"
	"tocsin/internal/core/sentence"
	"tocsin/internal/datasource"
	"tocsin/internal/engine/notify"
	"tocsin/internal/engine/untold"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/secret"
	"tocsin/internal/preference"
	"tocsin/internal/querier"
	"tocsin/internal/schedule"
)

// Service holds the dependencies.
type Service struct {
	Keyring *secret.Keyring
	Notify  *notify.Service // which methods reach a person, and which the server can send
	// Proxy returns the address of a proxy that forwards calls and is not trusted; empty: there is none. It is nil without a
	// server.
	Proxy func(now time.Time) string
	// SecretEnv lists the variables to which datasources may refer, and Empty returns how many answers in a row had no row for a rule
	// on a datasource; both are nil without a server.
	SecretEnv querier.SecretEnv
	Empty     func(account int64, rule, datasource uint64) int
}

// Find returns the problems of an account's configuration at a moment, the worst first.
func (s *Service) Find(tx *db.Tx, account int64, now time.Time) ([]lint.Finding, error) {
	r := reader{Service: s, tx: tx, account: account, now: now, unreached: map[string]lint.Unreached{}, noBrowser: map[int64]bool{}}
	c, err := r.read()
	if err != nil {
		return nil, err
	}
	return lint.Check(c), nil
}

// reader reads one account.
type reader struct {
	*Service
	tx        *db.Tx
	account   int64
	now       time.Time
	zone      *time.Location
	persons   map[int64]notify.Person
	unreached map[string]lint.Unreached // by person, severity and methods: the same persons are in many steps
	noBrowser map[int64]bool            // persons to be notified by push, of whom no browser receives it
}

func (r *reader) read() (c lint.Config, err error) {
	c = lint.Config{Now: r.now.Unix(), Mail: r.Notify.Can("email"), Phone: r.Notify.Can("sms") || r.Notify.Can("voice")}
	if r.Proxy != nil {
		c.Proxy = r.Proxy(r.now)
	}
	account, found, err := person.DumpAccount(r.tx, r.account)
	if err != nil || !found {
		return c, fault.Wrap(err, "account %d", r.account)
	}
	c.Account = fault.Ref{Kind: "account", ID: fmt.Sprint(account.AccountID), Name: account.AccountName}
	r.zone, err = person.Zone(r.tx, r.account)
	if err != nil {
		return c, err
	}
	c.Persons, err = r.people()
	if err != nil {
		return c, err
	}
	c.Owner, err = r.owner(account.OwnerID)
	if err != nil {
		return c, err
	}
	c.Fallback, err = r.fallback()
	if err != nil {
		return c, err
	}
	channels, err := channel.Dump(r.tx, r.account)
	if err != nil {
		return c, err
	}
	for _, ch := range channels {
		read, err := r.channel(ch)
		if err != nil {
			return c, err
		}
		c.Channels = append(c.Channels, read)
	}
	for i := range c.Persons { // rules have named methods, too
		c.Persons[i].NoBrowser = r.noBrowser[c.Persons[i].ID]
	}
	c.Sources, err = r.sources()
	if err != nil {
		return c, err
	}
	reserved, err := datasource.Reserved(r.tx, r.Keyring, r.account)
	if err != nil {
		return c, err
	}
	for _, d := range reserved {
		c.Reserved = append(c.Reserved, lint.Reserved(d))
	}
	c.AlertRules, c.Datasources, err = r.alertRules()
	if err != nil {
		return c, err
	}
	c.Zone = r.zone
	c.Schedules, err = r.schedules()
	return c, err
}

// schedules returns the enabled schedules. Their gaps are found in the steps that use them, for the roles that are paged.
func (r *reader) schedules() ([]lint.Schedule, error) {
	ids, err := schedule.Enabled(r.tx, r.account)
	if err != nil {
		return nil, err
	}
	list, err := schedule.Checked(r.tx, r.account, ids, r.zone)
	for i := range list {
		list[i].Pages = false
	}
	return list, err
}

// people returns the persons who have not left.
func (r *reader) people() (list []lint.Person, err error) {
	records, err := person.Dump(r.tx, r.account)
	if err != nil {
		return nil, err
	}
	r.persons = map[int64]notify.Person{}
	for _, record := range records {
		p, found, err := notify.Find(r.tx, r.account, record.PersonID)
		if err != nil {
			return nil, err
		}
		if !found {
			continue
		}
		r.persons[p.ID] = p
		pref, err := preference.Of(r.tx, r.account, p.ID)
		if err != nil {
			return nil, err
		}
		var chosen []string
		for _, severity := range lint.Severities {
			chosen = append(chosen, pref.Methods(severity)...)
		}
		if err := r.browsers(p.ID, chosen); err != nil {
			return nil, err
		}
		list = append(list, lint.Person{ID: p.ID, Name: p.Name, HoldsCritical: pref.HoldsCritical(), CannotSend: r.cannotSend(chosen)})
	}
	return list, nil
}

// cannotSend returns the methods that the server cannot send, each once. Direct messages need an app of the account and
// no server.
func (r *reader) cannotSend(methods []string) (list []string) {
	for _, method := range methods {
		if !notify.IsDirect(method) && !r.Notify.Can(method) && !slices.Contains(list, method) {
			list = append(list, method)
		}
	}
	return list
}

// browsers notes a person who is to be notified by methods, push among them, and has no browser that receives it.
func (r *reader) browsers(id int64, methods []string) error {
	if !slices.Contains(methods, "push") {
		return nil
	}
	found, err := notify.Browsers(r.tx, r.account, id)
	r.noBrowser[id] = r.noBrowser[id] || len(found) == 0
	return err
}

// owner returns the account's owner, and why no method reaches them.
func (r *reader) owner(id int64) (lint.Person, error) {
	p, found := r.persons[id]
	if !found {
		return lint.Person{ID: id, Name: fmt.Sprint(id), Lacks: sentence.New("the_person_has_left")}, nil
	}
	u, err := r.reach(p, nil, "Critical")
	return lint.Person{ID: id, Name: p.Name, Lacks: u.Why}, err
}

// fallback returns whether the account has a fallback, and why some of its persons cannot be reached.
func (r *reader) fallback() (f lint.Fallback, err error) {
	_, f.Set, err = untold.Of(r.tx, r.account)
	if err != nil || !f.Set {
		return f, err
	}
	to, err := (&untold.Service{Notify: r.Notify}).Recipients(r.tx, r.account, 0, "Critical", false, r.now)
	f.Lacks = to.Lacks
	return f, err
}

// reach returns why no method reaches a person for a severity; Why is empty when one does.
func (r *reader) reach(p notify.Person, by *channel.By, severity string) (lint.Unreached, error) {
	key := fmt.Sprint(p.ID, severity, by.Of(severity))
	if known, have := r.unreached[key]; have {
		return known, nil
	}
	if err := r.browsers(p.ID, by.Of(severity)); err != nil {
		return lint.Unreached{}, err
	}
	reaches, missing, err := r.Notify.Reaches(r.tx, r.account, p, by, severity, r.now)
	if err != nil {
		return lint.Unreached{}, err
	}
	u := lint.Unreached{Person: p.ID, Name: p.Name, Severity: severity}
	if !notify.Works(reaches) {
		u.Why = missing
	}
	r.unreached[key] = u
	return u, nil
}

// visible reports whether a caller may see a finding: what kind of object it is about, and which channels it names.
func visible(f lint.Finding, who auth.Principal, hidden []int64) bool {
	needs := map[string][]auth.Permission{
		"person":      {auth.MembersRead},
		"schedule":    {auth.SchedulesRead, auth.SchedulesManage},
		"integration": {auth.IntegrationsRead, auth.IntegrationsManage},
		"datasource":  {auth.DatasourcesRead, auth.DatasourcesManage},
		"alert_rule":  {auth.AlertingRulesRead, auth.AlertingRulesManage},
	}
	if allow, found := needs[f.Object.Kind]; found && !who.MayAny(allow) {
		return false
	}
	return !slices.ContainsFunc(f.Channels, func(id int64) bool { return slices.Contains(hidden, id) })
}
