package triage

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"tocsin/internal/alert"
	"tocsin/internal/configstore"
	"tocsin/internal/core/decide"
	"tocsin/internal/incident"
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
	alerts  map[slot]*decide.Alert // the newest of each key; nil: there is none
	groups  map[slot]*decide.Group // likewise, by group key
	sources map[int64][]decide.Source
	full    map[int64]bool                     // channels with more sources than were read
	acks    map[string]bool                    // whether incidents are acknowledged
	changed map[int64]map[string]*decide.Alert // alerts as they were decided, by channel and id
	over    map[string]bool                    // alerts that have ended since
	ended   map[string]bool                    // incidents of which an alert has ended: they may be closed
	opened  map[string]bool                    // incidents that were opened since
	steps   int64                              // filter steps that the decisions took
	failed  error                              // of a callback that cannot return an error
}

// slot is a channel, and the key of an alert or of a group.
type slot struct {
	channel int64
	key     string
}

// read repeats a query and reports whether its result is still the same.
type read func(tx *db.Tx) (same bool, err error)

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
		alerts:        map[slot]*decide.Alert{},
		groups:        map[slot]*decide.Group{},
		sources:       map[int64][]decide.Source{},
		full:          map[int64]bool{},
		acks:          map[string]bool{},
		changed:       map[int64]map[string]*decide.Alert{},
		over:          map[string]bool{},
		ended:         map[string]bool{},
		opened:        map[string]bool{},
	}
}

// unchanged returns how many reads, from the first one on, still have the same result; -1 when the configuration has
// changed.
func (m *snapshot) unchanged(tx *db.Tx) (n int, err error) {
	now, err := configstore.Revision(tx, m.account)
	if err != nil || now != m.revision {
		return -1, err
	}
	for i, again := range m.reads {
		if same, err := again(tx); err != nil || !same {
			return i, err
		}
	}
	return len(m.reads), nil
}

// recorded runs a query and records it with its result.
func recorded[T any](m *snapshot, same func(a, b T) bool, query func(tx *db.Tx) (T, error)) (value T, err error) {
	err = m.db.Read(m.ctx, func(tx *db.Tx) (err error) {
		value, err = query(tx)
		return err
	})
	if err == nil {
		was := value
		m.reads = append(m.reads, func(tx *db.Tx) (bool, error) {
			is, err := query(tx)
			return err == nil && same(was, is), err
		})
	}
	return value, err
}

func equal[T comparable](a, b T) bool { return a == b }

// maybe is a value with whether it was found.
type maybe[T any] struct {
	value T
	found bool
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
	at := slot{channel, key}
	if a, known := m.alerts[at]; known {
		return a, nil
	}
	row, err := recorded(m, equal, func(tx *db.Tx) (r maybe[alert.Row], err error) {
		r.value, r.found, err = alert.Latest(tx, m.account, channel, key)
		return r, err
	})
	if err != nil || !row.found {
		m.alerts[at] = nil
		return nil, err
	}
	return m.alert(at, &row.value)
}

// ByID returns an alert; nil when there is none.
func (m *snapshot) ByID(alertID string) (*decide.Alert, error) {
	row, err := recorded(m, equal, func(tx *db.Tx) (r maybe[alert.Row], err error) {
		r.value, r.found, err = alert.FindRow(tx, m.account, alertID)
		return r, err
	})
	if err != nil || !row.found {
		return nil, err
	}
	if a := m.changed[row.value.Channel][alertID]; a != nil {
		return a, nil
	}
	return m.alert(slot{row.value.Channel, row.value.Key}, &row.value)
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

// uninhibit makes an alert due whose inhibiting alert has ended on this snapshot, as alert.Uninhibit does in the database.
func (m *snapshot) uninhibit(a *decide.Alert) {
	if m.over[a.MutedBy] && a.Active() {
		a.MutedUntil = min(a.MutedUntil, m.now.Unix())
	}
}

// Sources returns the alerts of a channel that may inhibit others. It implements decide.State.
func (m *snapshot) Sources(channel, since int64) ([]decide.Source, error) {
	if _, known := m.sources[channel]; !known {
		rows, err := recorded(m, slices.Equal, func(tx *db.Tx) ([]alert.Source, error) { return alert.Sources(tx, m.account, channel, since) })
		if err != nil {
			return nil, err
		}
		list := make([]decide.Source, 0, len(rows))
		for i := range rows {
			a, err := rows[i].Alert()
			if err != nil { // a corrupt alert inhibits nothing, and must not keep other events from being decided
				continue
			}
			list = append(list, decide.Source{Alert: a, Acked: rows[i].Acked})
		}
		m.sources[channel], m.full[channel] = list, len(rows) == alert.MaxSources
	}
	if len(m.changed[channel]) == 0 {
		return m.sources[channel], nil
	}
	return m.present(channel)
}

// present returns a channel's sources as they will be when the decisions so far are stored.
func (m *snapshot) present(channel int64) ([]decide.Source, error) {
	changed := m.changed[channel]
	list := make([]decide.Source, 0, len(m.sources[channel])+len(changed))
	for _, s := range m.sources[channel] {
		if changed[s.ID] == nil {
			m.uninhibit(&s.Alert)
			list = append(list, s)
		}
	}
	for _, a := range changed {
		if !a.Active() {
			if m.full[channel] { // an alert that was not read may take its place
				return nil, errUnknown
			}
			continue
		}
		acked, err := m.acked(a.Incident)
		if err != nil {
			return nil, err
		}
		list = append(list, decide.Source{Alert: *a, Acked: acked})
	}
	slices.SortFunc(list, func(a, b decide.Source) int { return cmp.Or(cmp.Compare(b.Last, a.Last), cmp.Compare(a.ID, b.ID)) })
	return list[:min(len(list), alert.MaxSources)], nil
}

// acked reports whether an incident is acknowledged. No decision changes that while an alert of it is active.
func (m *snapshot) acked(id string) (acked bool, err error) {
	if id == "" || m.opened[id] {
		return false, nil
	}
	acked, known := m.acks[id]
	if !known {
		acked, err = recorded(m, equal, func(tx *db.Tx) (bool, error) { return incident.Acked(tx, m.account, id) })
		m.acks[id] = acked
	}
	return acked, err
}

// Group returns the incident that alerts of a group key can join; nil when there is none. It implements decide.State.
func (m *snapshot) Group(channel int64, key string) (*decide.Group, error) {
	at := slot{channel, key}
	g, known := m.groups[at]
	if !known {
		found, err := recorded(m, equal, func(tx *db.Tx) (r maybe[decide.Group], err error) {
			r.value, r.found, err = incident.Joinable(tx, m.account, channel, key)
			return r, err
		})
		if err != nil {
			return nil, err
		}
		if found.found {
			g = &found.value
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
	at := slot{v.Channel, v.Grouping.Key}
	switch before := a.Incident; {
	case v.Grouping.Open:
		a.Incident = id.Object(m.now)
		m.opened[a.Incident] = true
		if at.key != "" {
			m.join(at, &decide.Group{Incident: a.Incident, Started: m.now.Unix(), Last: m.now.Unix(), Alerts: 1})
		}
	case v.Grouping.Join != "":
		a.Incident = v.Grouping.Join
		g := *m.groups[at]
		g.Last = m.now.Unix()
		g.Alerts++
		m.groups[at] = &g
	case v.Outcome == decide.Recovered:
		m.over[a.ID] = true
		if before != "" {
			m.ended[before] = true
		}
		for _, other := range m.alerts {
			if other != nil {
				m.uninhibit(other)
			}
		}
	}
	m.alerts[slot{a.Channel, a.Key}] = a
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
