package triage

import (
	"cmp"
	"context"
	"errors"
	"time"

	"tocsin/internal/alert"
	"tocsin/internal/core/decide"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/id"
)

// snapshot is what deciding reads about one account, outside of any write transaction: the configuration at one revision,
// and alerts and incidents as they are in the database, with the decisions made since on the same snapshot applied. It
// records its reads, so that unchanged can check in the write transaction whether all of them still hold.
type snapshot struct {
	*accountConfig
	ctx     context.Context
	db      *db.DB
	account int64
	now     time.Time

	reads   []read
	fetched map[want]found                     // read for all decisions at once; see prefetch
	alerts  map[slot]*decide.Alert             // the newest of each key; nil: there is none
	groups  map[slot]*decide.Group             // likewise, by group key
	sources map[int64]*sources                 // of the channels in which inhibit rules asked for them
	changed map[int64]map[string]*decide.Alert // alerts as they were decided, by channel and id
	over    map[string]bool                    // alerts that have ended or changed since: what they inhibit is due
	ended   map[string]bool                    // incidents of which an alert has ended: they may be closed
	opened  map[string]bool                    // incidents that were opened since
	steps   int64                              // filter steps that the decisions took
	failed  error                              // of a callback that cannot return an error
}

// slot is a channel, and the key of an alert or of a group.
type slot = alert.Slot

// Errors that end a batch before one of its decisions, which is then made in the next batch.
var (
	// errUnknown: the decision reads data that storing the decisions before it may change.
	errUnknown = errors.New("it depends on what is decided before it")
	// errReconfigured: the account's configuration has changed.
	errReconfigured = errors.New("the configuration has changed")
)

// newSnapshot returns an empty snapshot of an account; now is the moment of its decisions.
func newSnapshot(ctx context.Context, d *db.DB, account int64, ready *accountConfig, now time.Time) *snapshot {
	return &snapshot{
		accountConfig: ready,
		ctx:           ctx,
		db:            d,
		account:       account,
		now:           now,
		fetched:       map[want]found{},
		alerts:        map[slot]*decide.Alert{},
		groups:        map[slot]*decide.Group{},
		sources:       map[int64]*sources{},
		changed:       map[int64]map[string]*decide.Alert{},
		over:          map[string]bool{},
		ended:         map[string]bool{},
		opened:        map[string]bool{},
	}
}

// Inlet returns the compiled configuration of an integration; nil when there is none. It implements decide.State.
func (m *snapshot) Inlet(id int64) (*decide.Inlet, error) {
	in, err := m.inlet(id)
	if err != nil || in == nil {
		return nil, err
	}
	answer := in.Inlet
	if in.route != nil {
		answer.Route = in.match(m)
	}
	return &answer, nil
}

// Alert returns the newest alert of a key; nil when there is none. It implements decide.State.
func (m *snapshot) Alert(channel int64, key string) (*decide.Alert, error) {
	at := slot{Channel: channel, Key: key}
	if a, known := m.alerts[at]; known {
		return a, nil
	}
	have, err := m.read(want{latest, at})
	if err != nil || !have.found {
		m.alerts[at] = nil
		return nil, err
	}
	return m.alert(at, &have.row)
}

// ByID returns an alert; nil when there is none.
func (m *snapshot) ByID(alertID string) (*decide.Alert, error) {
	have, err := m.read(want{byID, slot{Key: alertID}})
	if err != nil || !have.found {
		return nil, err
	}
	if a := m.changed[have.row.Channel][alertID]; a != nil {
		return a, nil
	}
	return m.alert(slot{Channel: have.row.Channel, Key: have.row.Key}, &have.row)
}

// alert returns a row's alert as it will be when the decisions so far are stored.
func (m *snapshot) alert(at slot, row *alert.Row) (*decide.Alert, error) {
	a, err := row.Alert()
	if err != nil {
		return nil, err
	}
	m.uninhibit(&a)
	m.alerts[at] = &a
	return &a, nil
}

// uninhibit makes an alert due whose inhibiting alert has ended or changed on this snapshot, as alert.Uninhibit does in the database.
func (m *snapshot) uninhibit(a *decide.Alert) {
	if m.over[a.MutedBy] && a.Active() {
		a.MutedUntil = min(a.MutedUntil, m.now.Unix())
	}
}

// Group returns the incident that alerts of a group key can join; nil when there is none. It implements decide.State.
func (m *snapshot) Group(channel int64, key string) (*decide.Group, error) {
	at := slot{Channel: channel, Key: key}
	g, known := m.groups[at]
	if !known {
		have, err := m.read(want{joinable, at})
		if err != nil {
			return nil, err
		}
		if have.found {
			g = &have.group
		}
		m.groups[at] = g
	}
	if g != nil && m.ended[g.Incident] {
		return nil, errUnknown
	}
	return g, nil
}

// applyVerdict applies a verdict to the snapshot, so that later decisions see it. New alerts and incidents get their ids.
func (m *snapshot) applyVerdict(v *decide.Verdict) {
	a := v.Alert
	if a == nil {
		return
	}
	if v.New {
		a.ID = id.Object(m.now)
	}
	at := slot{Channel: v.Channel, Key: v.Grouping.Key}
	switch before := a.Incident; {
	case v.Grouping.Open:
		a.Incident = id.Object(m.now)
		m.opened[a.Incident] = true
		if at.Key != "" {
			m.join(at, &decide.Group{Incident: a.Incident, Started: m.now.Unix(), Last: m.now.Unix(), Alerts: 1})
		}
	case v.Grouping.Join != "":
		a.Incident = v.Grouping.Join
		g := *m.groups[at]
		g.Last = m.now.Unix()
		g.Alerts++
		m.groups[at] = &g
	case v.Outcome == decide.Recovered && before != "":
		m.ended[before] = true
	}
	if v.Frees {
		m.over[a.ID] = true
		for _, other := range m.alerts {
			if other != nil {
				m.uninhibit(other)
			}
		}
	}
	m.alerts[slot{Channel: a.Channel, Key: a.Key}] = a
	if m.changed[a.Channel] == nil {
		m.changed[a.Channel] = map[string]*decide.Alert{}
	}
	m.changed[a.Channel][a.ID] = a
}

// join makes a new incident the one that alerts of its group join, unless the present one is newer.
func (m *snapshot) join(at slot, g *decide.Group) {
	if before := m.groups[at]; before == nil || cmp.Or(cmp.Compare(g.Started, before.Started), cmp.Compare(g.Incident, before.Incident)) > 0 {
		m.groups[at] = g
	}
}

var _ decide.State = (*snapshot)(nil)
