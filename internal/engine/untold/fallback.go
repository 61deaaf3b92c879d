package untold

import (
	"slices"
	"strings"
	"time"

	"tocsin/internal/auth"
	"tocsin/internal/channel"
	"tocsin/internal/configstore"
	"tocsin/internal/core/sentence"
	"tocsin/internal/engine/notify"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/team"
)

// Fallback is who is notified of what reaches no one else. One that names no one is the account's owner.
type Fallback struct {
	PersonIDs      []int64 `json:"person_ids,omitzero" maxItems:"50" minimum:"1" doc:"Persons, by their own methods."`
	TeamIDs        []int64 `json:"team_ids,omitzero" maxItems:"50" minimum:"1" doc:"All members of these teams, by their own methods."`
	EscalateRuleID string  `json:"escalate_rule_id,omitzero" maxLength:"24" doc:"The persons of this escalation rule, by its methods: those of the first step of which a person can be reached at that moment."`
	UpdatedAt      int64   `json:"updated_at,omitzero" doc:"Unix seconds."`
}

// only is the id of the one fallback of an account.
const only = "1"

// Kind describes the fallback to the configuration store.
var Kind = configstore.Kind[Fallback]{
	Name: configstore.Fallback, Section: "fallbacks",
	Head: func(f *Fallback) configstore.Head {
		return configstore.Head{ID: only, Name: "the account's fallback", UpdatedAt: f.UpdatedAt}
	},
	Refs: func(f *Fallback) (refs []configstore.Target) {
		for _, id := range f.PersonIDs {
			refs = append(refs, configstore.RefTo(configstore.Person, id))
		}
		for _, id := range f.TeamIDs {
			refs = append(refs, configstore.RefTo(configstore.Team, id))
		}
		return append(refs, configstore.RefTo(configstore.Escalate, f.EscalateRuleID))
	},
	Check: func(_ *db.Tx, at configstore.RecordPath, _ int64, f *Fallback) error { return f.check(at) },
	CheckAll: func(section string, records []Fallback) error {
		if len(records) > 1 {
			return fault.Invalid(section, "must have at most 1 element, got %d", len(records))
		}
		return nil
	},
}

// check returns fault.Invalid for an id that none can be.
func (f *Fallback) check(at configstore.RecordPath) error {
	f.EscalateRuleID = strings.ToLower(f.EscalateRuleID)
	for member, ids := range map[string][]int64{"person_ids": f.PersonIDs, "team_ids": f.TeamIDs} {
		for i, id := range ids {
			if err := at.Element(member, i).AtLeast("", id, 1); err != nil {
				return err
			}
		}
	}
	if f.EscalateRuleID == "" {
		return nil
	}
	return at.Object("escalate_rule_id", f.EscalateRuleID)
}

// exists returns fault.Invalid for a person, team or rule that the account does not have.
func (f *Fallback) exists(tx *db.Tx, account int64) error {
	for i, id := range f.PersonIDs {
		if err := person.Table.Need(tx, account, string(configstore.PathOf("person_ids", i)), id); err != nil {
			return err
		}
	}
	for i, id := range f.TeamIDs {
		if err := team.Table.Need(tx, account, string(configstore.PathOf("team_ids", i)), id); err != nil {
			return err
		}
	}
	return configstore.Need(tx, account, "escalate_rule_id", configstore.RefTo(configstore.Escalate, f.EscalateRuleID))
}

// Of returns the fallback of an account. One that cannot be decoded counts as not set.
func Of(tx *db.Tx, account int64) (f Fallback, set bool, err error) {
	all, err := Kind.All(tx, account)
	if err != nil || len(all) == 0 {
		return f, false, err
	}
	return all[0], true, nil
}

// Recipient is a person who is notified instead of others.
type Recipient struct {
	notify.Person
	By  *channel.By // nil: the person's own methods
	Why sentence.Value

	reaches []notify.Reach
	lacks   sentence.Value // why none of them works
}

// Recipients are the persons who are notified instead of others.
type Recipients struct {
	List  []Recipient
	Owner bool           // the account's owner is among them
	Works bool           // one of them can be reached; else List has the owner, for whom the history shows what is missing
	Lacks sentence.Value // why some cannot be reached
}

// ids returns the persons who can be reached.
func (t *Recipients) ids() (list []int64) {
	for n := 0; t.Works && n < len(t.List); n++ {
		list = append(list, t.List[n].ID)
	}
	return list
}

// problem returns what to add to a reason when no person can be reached.
func (t *Recipients) problem() sentence.Value {
	if t.Works {
		return ""
	}
	return sentence.New("neither_reached", t.Lacks)
}

// resolver finds the persons of a fallback.
type resolver struct {
	*Service
	tx       *db.Tx
	account  int64
	channel  channel.Channel // a private one; else empty
	severity string
	now      time.Time
	missing  []sentence.Value
}

// recipientsKey is the key of Recipients among the values of a transaction: those of all channels that are not private are
// the same.
type recipientsKey struct {
	account, private int64
	severity         string
	withOwner        bool
}

// privateKey is the key of an account's private channels among the values of a transaction.
type privateKey struct{ account int64 }

// Recipients returns who is notified of something of a severity that reached no one else: the persons of the account's
// fallback who can be reached and may read the channel (0: none), or else the owner; both when withOwner is set. A
// transaction that notifies them of many incidents reads them once.
func (r *Service) Recipients(
	tx *db.Tx, account, ch int64, severity string, withOwner bool, now time.Time,
) (to Recipients, err error) {
	v := resolver{Service: r, tx: tx, account: account, severity: severity, now: now}
	private, known := tx.Value(privateKey{account}).([]channel.Channel)
	if !known {
		private, err = channel.Private(tx, account)
		if err != nil {
			return to, err
		}
		tx.SetValue(privateKey{account}, private)
	}
	if n := slices.IndexFunc(private, func(c channel.Channel) bool { return c.ChannelID == ch }); n >= 0 {
		v.channel = private[n]
	}
	key := recipientsKey{account, v.channel.ChannelID, severity, withOwner}
	to, known = tx.Value(key).(Recipients)
	if known {
		return to, nil
	}
	to, err = v.recipients(withOwner)
	if err == nil {
		tx.SetValue(key, to)
	}
	return to, err
}

// recipients is Recipients without what the transaction has read before.
func (v *resolver) recipients(withOwner bool) (to Recipients, err error) {
	to.List, err = v.fallback()
	if err != nil {
		return to, err
	}
	owner, err := auth.OwnerOf(v.tx, v.account)
	if err != nil {
		return to, err
	}
	to.Works = len(to.List) > 0
	for _, p := range to.List {
		to.Owner = to.Owner || p.ID == owner
	}
	if !to.Owner && (withOwner || !to.Works) {
		to.Owner = true
		p, works, err := v.add(&to.List, owner, nil, sentence.New("owner"))
		if err != nil {
			return to, err
		}
		if !works && !to.Works && p.ID != 0 {
			to.List = []Recipient{p}
		}
		to.Works = to.Works || works
	}
	to.Lacks = sentence.Join(v.missing...)
	return to, nil
}

// fallback returns the persons of the account's fallback who can be reached and may read the channel.
func (v *resolver) fallback() (list []Recipient, err error) {
	f, set, err := Of(v.tx, v.account)
	if err != nil || !set {
		return nil, err
	}
	zone, err := person.Zone(v.tx, v.account)
	if err != nil {
		return nil, err
	}
	layers := []channel.Target{{PersonIDs: f.PersonIDs, TeamIDs: f.TeamIDs}}
	if f.EscalateRuleID != "" {
		rule, _, err := channel.Escalates.Find(v.tx, v.account, f.EscalateRuleID)
		if err != nil {
			return nil, err
		}
		for _, l := range rule.Layers {
			layers = append(layers, l.Target)
		}
	}
	for _, absent := range []bool{false, true} { // absent persons are asked only when no other person can be reached
		for n, target := range layers {
			if n > 1 && len(list) > 0 {
				break // the first layer of the rule that reaches a person is enough
			}
			if err := v.target(&list, target, absent, zone); err != nil {
				return nil, err
			}
		}
		if len(list) > 0 {
			break
		}
	}
	return list, nil
}

// target adds the persons that a target means now: the absent persons, or the others.
func (v *resolver) target(list *[]Recipient, t channel.Target, absent bool, zone *time.Location) error {
	persons, missing, _, err := notify.Persons(v.tx, v.account, t, v.now.Unix(), zone)
	if err != nil {
		return err
	}
	if !absent {
		v.missing = append(v.missing, missing...)
	}
	until, err := notify.Away(v.tx, v.account, persons, v.now.Unix())
	if err != nil {
		return err
	}
	for _, p := range persons {
		if until[p.PersonID] > 0 != absent {
			continue
		}
		if _, _, err := v.add(list, p.PersonID, t.By, sentence.New("fallback")); err != nil {
			return err
		}
	}
	return nil
}

// add adds a person, unless the person is in the list already, cannot be reached or may not read the channel. It returns
// the person; the ID is 0 when the account has none of this id.
func (v *resolver) add(list *[]Recipient, id int64, by *channel.By, why sentence.Value) (p Recipient, added bool, err error) {
	for _, p := range *list {
		if p.ID == id {
			return p, false, nil
		}
	}
	p.By, p.Why = by, why
	var found bool
	p.Person, found, err = notify.Find(v.tx, v.account, id)
	if err != nil || !found {
		return p, false, err
	}
	p.reaches, p.lacks, err = v.Notify.Reaches(v.tx, v.account, p.Person, by, v.severity, v.now)
	if err != nil {
		return p, false, err
	}
	if v.channel.ChannelID != 0 {
		who, err := notify.Reader(v.tx, v.account, id)
		if err != nil {
			return p, false, err
		}
		if channel.Permit(v.tx, who, v.channel) != nil {
			v.missing = append(v.missing, sentence.New("not_allowed", p.Name))
			return p, false, nil
		}
	}
	if !notify.Works(p.reaches) {
		v.missing = append(v.missing, sentence.New("not_reached", p.Name, p.lacks))
		return p, false, nil
	}
	*list = append(*list, p)
	return p, true, nil
}
