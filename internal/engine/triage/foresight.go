package triage

import (
	"iter"
	"slices"
	"strconv"
	"time"

	"tocsin/internal/alert"
	"tocsin/internal/channel"
	"tocsin/internal/core/decide"
	"tocsin/internal/core/event"
	"tocsin/internal/core/filter"
	"tocsin/internal/core/sentence"
	"tocsin/internal/incident"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
)

// Foresight decides about alerts that did not happen, by the functions that decide about events and the configuration as it is.
// It sees only the alerts and incidents that it was given. Nothing is stored.
type Foresight struct {
	Tx        *db.Tx
	account   int64
	zone      *time.Location
	inlets    map[int64]*inlet
	channels  map[int64]*decide.Channel
	incidents map[slot]*Foreseen // the latest of each group
	now       int64
}

// Foreseen is what would become of an alert in a channel.
type Foreseen struct {
	Channel  int64 // 0: no channel takes it
	Outcome  decide.Outcome
	Why      sentence.Words    // what decided so
	Incident incident.Incident // of an alert that opens one
	Begin    int64             // Unix seconds
	End      int64             // of the last of its alerts, Unix seconds
	group    decide.Group
}

// NewForesight returns the foresight of an account.
func NewForesight(tx *db.Tx, account int64) (*Foresight, error) {
	zone, err := person.Zone(tx, account)
	return &Foresight{
		Tx: tx, account: account, zone: zone,
		inlets: map[int64]*inlet{}, channels: map[int64]*decide.Channel{}, incidents: map[slot]*Foreseen{},
	}, err
}

// Begin returns what would become of an alert that lasts from begin to end (Unix seconds), in each channel that it is routed to.
// Alerts must be given in the order of their begin. One that joins an incident extends that, and is not returned.
func (f *Foresight) Begin(e event.Event, begin, end int64) (all []*Foreseen, err error) {
	f.now = begin
	e.Time, e.Received = begin, begin*int64(time.Second)
	verdicts, err := decide.Event(f, e, begin)
	for i := range verdicts {
		v := &verdicts[i]
		at := slot{Channel: v.Channel, Key: v.Grouping.Key}
		if v.Outcome == decide.Grouped {
			open := f.incidents[at]
			open.End = max(open.End, end)
			open.group.Last = begin
			open.group.Alerts++
			continue
		}
		one := &Foreseen{Channel: v.Channel, Outcome: v.Outcome, Why: sentence.Words(why(v.Trace)), Begin: begin, End: end,
			group: decide.Group{Incident: "new", Started: begin, Last: begin, Alerts: 1}}
		if v.Outcome == decide.Opened {
			one.Incident = incident.From(v.Alert, alert.Origin{})
			one.Incident.AccountID, one.Incident.Progress = f.account, incident.Triggered
			if at.Key != "" {
				f.incidents[at] = one
			}
		}
		all = append(all, one)
	}
	return all, err
}

// Inlet returns how the events of an integration are rewritten and routed. It implements decide.State, as the others do.
func (f *Foresight) Inlet(id int64) (*decide.Inlet, error) {
	in, known := f.inlets[id]
	if !known {
		var err error
		in, err = compileInlet(f.Tx, f.account, strconv.FormatInt(id, 10))
		if err != nil {
			return nil, err
		}
		f.inlets[id] = in
	}
	if in == nil {
		return nil, nil
	}
	answer := in.Inlet
	if in.route == nil {
		return &answer, nil
	}
	answer.Route = func(meter *filter.Meter, e *event.Event) ([]int64, []decide.Step) {
		channels, looks := in.route.Match(meter, e, func(name string) []int64 {
			ids, _ := channel.Named(f.Tx, f.account, name) // the transaction fails at the next statement
			return ids
		})
		return channels, routed(looks)
	}
	return &answer, nil
}

// Channel returns a channel as it is configured.
func (f *Foresight) Channel(id int64) (*decide.Channel, error) {
	if ch, known := f.channels[id]; known {
		return ch, nil
	}
	ch, err := channel.Ready(f.Tx, f.account, id, f.zone)
	f.channels[id] = ch
	return ch, err
}

// Group returns an incident that goes on.
func (f *Foresight) Group(id int64, key string) (*decide.Group, error) {
	if open := f.incidents[slot{Channel: id, Key: key}]; open != nil && open.End >= f.now {
		return &open.group, nil
	}
	return nil, nil
}

// Alert returns nil: the alert begins.
func (f *Foresight) Alert(int64, string) (*decide.Alert, error) { return nil, nil }

// Sources returns no alert that could inhibit.
func (f *Foresight) Sources(int64) (iter.Seq[*decide.Alert], error) {
	return slices.Values([]*decide.Alert(nil)), nil
}

// Source returns nil likewise.
func (f *Foresight) Source(int64, string) (*decide.Alert, error) { return nil, nil }
