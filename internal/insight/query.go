package insight

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"tocsin/internal/activity"
	"tocsin/internal/alert"
	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/channel"
	"tocsin/internal/core/insight"
	"tocsin/internal/incident"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/team"
)

// maxRows bounds how many incidents, alerts or messages one call computes figures from: about five seconds of work.
var maxRows = 200_000 // smaller in a test

// tooMany returns the fault of a window with more rows than one call may read.
func tooMany(what string) error {
	return fault.Invalid("end_time", "the window has more than %d %s; choose a shorter one, or further filters", maxRows, what)
}

// page is how many rows are read at once, so that memory does not grow with the window.
const page = 500

// query is a filter with what it needs of the database.
type query struct {
	ctx     context.Context
	tx      *db.Tx
	account int64
	now     int64
	in      Filter
	zone    *time.Location // of days and hours
	home    *time.Location // the account's, of persons without their own
	window  incident.Window
	none    bool // the filters leave no channel
	text    string
	leads   map[string]*alert.Lead // of the incidents of a page; nil: they are read one by one
	names
}

// names caches what incidents have in common.
type names struct {
	zones    map[int64]*time.Location
	persons  map[int64]person.Record
	channels map[int64]channel.Channel
	teams    map[int64]string
}

func newNames() names {
	return names{map[int64]*time.Location{}, map[int64]person.Record{}, map[int64]channel.Channel{}, map[int64]string{}}
}

// open returns the query of a filter for a caller.
func open(ctx context.Context, tx *db.Tx, who auth.Principal, now int64, in Filter) (q *query, err error) {
	q = &query{ctx: ctx, tx: tx, account: who.AccountID, now: now, in: in, home: who.Zone, text: db.Fold(in.Query), names: newNames()}
	q.zone, err = in.zone(who.Zone)
	if err != nil {
		return nil, err
	}
	q.window = incident.Window{From: in.StartTime, Until: in.EndTime, Severities: in.Severities, IDs: in.IncidentIDs, Persons: in.ResponderIDs}
	q.window.Hidden, err = channel.Hidden(tx, who)
	if err != nil {
		return nil, err
	}
	q.window.Channels, q.none, err = channels(tx, who, in.ChannelIDs, in.TeamIDs, in.IsMyTeam)
	return q, err
}

// channels returns the channels that filters select. none reports that they leave no channel, which is not the same as an
// empty list: that selects all.
func channels(tx *db.Tx, who auth.Principal, ids, teams []int64, mine bool) (selected []int64, none bool, err error) {
	selected, narrowed := ids, len(ids) > 0
	narrow := func(teams []int64) error {
		owned, err := channel.OfTeams(tx, who.AccountID, teams)
		if narrowed {
			owned = slices.DeleteFunc(owned, func(id int64) bool { return !slices.Contains(selected, id) })
		}
		selected, narrowed = owned, true
		return err
	}
	if len(teams) > 0 {
		if err := narrow(teams); err != nil {
			return nil, false, err
		}
	}
	if mine {
		own, err := team.Of(tx, who.AccountID, who.PersonID)
		if err != nil {
			return nil, false, err
		}
		if err := narrow(own); err != nil {
			return nil, false, err
		}
	}
	return selected, narrowed && len(selected) == 0, nil
}

// each calls fn for each incident that matches what can be tested without its figures, until fn returns false. It returns
// fault.Invalid when there are more incidents than one call may read.
func (q *query) each(from api.Position, oldestFirst bool, fn func(*incident.Incident) (more bool, err error)) error {
	if q.none {
		return nil
	}
	for read := 0; ; {
		if err := q.ctx.Err(); err != nil {
			return err
		}
		found, err := q.window.After(q.tx, q.account, from, oldestFirst, page)
		if err != nil {
			return err
		}
		if read += len(found); read > maxRows {
			return tooMany("incidents")
		}
		if q.text != "" {
			if err := q.readLeads(found); err != nil {
				return err
			}
		}
		for n := range found {
			i := &found[n]
			from = api.Position{At: i.StartTime, ID: i.IncidentID}
			if !q.matches(i) {
				continue
			}
			if more, err := fn(i); err != nil || !more {
				return err
			}
		}
		if len(found) < page {
			return nil
		}
	}
}

// readLeads reads the leads of a page of incidents.
func (q *query) readLeads(page []incident.Incident) (err error) {
	q.leads, err = incident.LeadsOf(q.tx, q.account, page)
	return err
}

// nameOf returns what messages and the console call an incident.
func (q *query) nameOf(i *incident.Incident) (string, error) {
	if q.leads == nil {
		return i.NameNow(q.tx)
	}
	return i.Name(q.leads[i.IncidentID]), nil
}

// hasText reports whether the text of the filter is in the title, the name or the description of an incident of the page.
func (q *query) hasText(i *incident.Incident) bool {
	for _, text := range []string{i.Title, i.Name(q.leads[i.IncidentID]), i.Description} {
		if strings.Contains(db.Fold(text), q.text) {
			return true
		}
	}
	return false
}

// walk calls fn for each incident that matches, with its figures.
func (q *query) walk(fn func(*incident.Incident, *insight.Figures) error) error {
	return q.each(api.Position{}, true, func(i *incident.Incident) (bool, error) {
		f, matches, err := q.measure(i)
		if err != nil || !matches {
			return true, err
		}
		return true, fn(i, &f)
	})
}

// matches reports whether an incident counts: it matches what queries cannot test, and it is no drill.
func (q *query) matches(i *incident.Incident) bool {
	if i.Test {
		return false
	}
	if q.text != "" && !q.hasText(i) {
		return false
	}
	for name, value := range q.in.Labels {
		if got, has := i.Labels[name]; !has || got != value {
			return false
		}
	}
	for name, value := range q.in.Fields {
		if got, has := i.Fields[name]; !has || !sameJSON(got, value) {
			return false
		}
	}
	return true
}

// measure returns the figures of an incident. matches reports whether they are within the bounds of the filter.
func (q *query) measure(i *incident.Incident) (f insight.Figures, matches bool, err error) {
	history, err := history(q.tx, q.account, i.IncidentID)
	if err != nil {
		return f, false, err
	}
	about := insight.Incident{Start: i.StartTime, AckTime: i.AckTime, ByPerson: i.CloserID != 0, Merged: i.MergedInto != "",
		History: history}
	if i.Progress == incident.Closed {
		about.Closed, about.CloseTime = true, cmp.Or(i.CloseTime, i.LastTime, i.StartTime)
	}
	for _, s := range i.Snoozes {
		about.Snoozes = append(about.Snoozes, insight.Span{From: s.From, Until: s.Until})
	}
	var failed error
	f = insight.Measure(&about, func(id int64) *time.Location {
		zone, err := q.zoneOf(id)
		failed = cmp.Or(failed, err)
		return zone
	}, q.now)
	return f, within(f.Closed, f.SecondsToClose, q.in.SecondsToCloseFrom, q.in.SecondsToCloseTo) &&
		within(f.Acknowledged, f.SecondsToAck, q.in.SecondsToAckFrom, q.in.SecondsToAckTo), failed
}

// zoneOf returns a person's time zone, or the account's.
func (q *query) zoneOf(id int64) (*time.Location, error) {
	if zone, known := q.zones[id]; known {
		return zone, nil
	}
	p, err := q.person(id)
	zone := q.home
	if p.TimeZone != "" {
		if own, err := time.LoadLocation(p.TimeZone); err == nil { // checked when it was stored; the account's zone still serves
			zone = own
		}
	}
	q.zones[id] = zone
	return zone, err
}

// person returns a person of the account, or an empty one.
func (q *query) person(id int64) (person.Record, error) {
	if p, known := q.persons[id]; known {
		return p, nil
	}
	p, _, err := person.Find(q.tx, q.account, id)
	q.persons[id] = p
	return p, err
}

// channel returns a channel of the account, or an empty one, and the name of its team.
func (q *query) channel(id int64) (ch channel.Channel, team string, err error) {
	ch, known := q.channels[id]
	if !known {
		ch, _, err = channel.Find(q.tx, q.account, id)
		if err != nil {
			return ch, "", err
		}
		q.channels[id] = ch
	}
	team, err = q.team(ch.TeamID)
	return ch, team, err
}

// team returns the name of a team; empty when there is none.
func (q *query) team(id int64) (string, error) {
	if name, known := q.teams[id]; known || id == 0 {
		return name, nil
	}
	t, _, err := team.Find(q.tx, q.account, id)
	q.teams[id] = t.TeamName
	return t.TeamName, err
}

// measured holds the types of entries that figures need.
var measured = map[string]bool{
	activity.IncidentAssign: true, activity.IncidentResponder: true, activity.IncidentAck: true, activity.IncidentUnack: true,
	activity.IncidentNotify: true, activity.IncidentEscalate: true, activity.IncidentResolve: true, activity.IncidentMerge: true,
	activity.IncidentReopen: true,
}

// history returns what happened to an incident as the figures need it.
func history(tx *db.Tx, account int64, id string) ([]insight.Entry, error) {
	moments, err := activity.History(tx, account, id, measured)
	if err != nil {
		return nil, err
	}
	entries := make([]insight.Entry, 0, len(moments))
	for _, m := range moments {
		if e, counts := entry(m.Event, id); counts {
			e.At, e.Person = m.At/1000, m.Person
			entries = append(entries, e)
		}
	}
	return entries, nil
}

// ofStep reports whether a notification is of a step of a rule. Other messages, such as that a person has acknowledged, name
// the step that notified their target before: they begin no step. A history of before names no causes.
func ofStep(n activity.Notified) bool {
	return n.EscalateRuleID != "" && (n.Cause == "" || n.Cause == "page")
}

// entry returns an event as the figures need it; counts is false for one that they do not.
func entry(event activity.Event, id string) (e insight.Entry, counts bool) {
	switch x := event.(type) {
	case activity.Assigned:
		e = insight.Entry{Kind: insight.Assign, To: x.PersonIDs, Ruled: x.EscalateRuleID != "", Layer: x.LayerIdx}
		switch x.How {
		case "escalate":
			e.Kind = insight.Add
		case "reassign":
			e.Kind = insight.Reassign
		}
	case activity.RespondersAdded:
		e = insight.Entry{Kind: insight.Add, To: x.To}
	case activity.Acknowledged:
		e.Kind = insight.Ack
	case activity.Unacknowledged:
		e.Kind = insight.Unack
	case activity.Notified:
		e = insight.Entry{Kind: insight.Notify, Method: x.By, Ruled: ofStep(x), Layer: x.LayerIdx}
		if x.By == "nobody" {
			e.Kind = insight.Step
		}
		for _, to := range slices.Concat(x.Persons, x.Robots) {
			e.Failed = e.Failed || to.FailedReason != ""
			if to.PersonID != 0 {
				e.To = append(e.To, to.PersonID)
			}
		}
	case activity.Escalated:
		e = insight.Entry{Kind: insight.Escalate, Layer: x.LayerIdx}
	case activity.Resolved:
		e = insight.Entry{Kind: insight.Resolve, How: closers[x.From]}
	case activity.Merged:
		e.Kind = insight.Merge
		return e, x.TargetIncidentID != id
	case activity.Reopened:
		e.Kind = insight.Reopen
	default:
		return e, false
	}
	return e, true
}

// closers translates the causes of the end of an incident.
var closers = map[string]string{"manual": insight.Manually, "recovery": insight.Auto, "timeout": insight.Timeout}
