package triage

import (
	"cmp"
	"iter"
	"slices"

	"tocsin/internal/alert"
	"tocsin/internal/core/decide"
	"tocsin/internal/platform/db"
)

// sources are the active alerts of a channel as they were read.
type sources struct {
	list []*decide.Alert // those with the latest events first
	rows map[string]alert.Row
	byID map[string]*decide.Alert
	full bool // there are more than were read
}

// sourcesOf returns the active alerts of a channel. They are read once, and not recorded with the reads: rely records
// those on which a decision depends.
func (m *snapshot) sourcesOf(channel int64) (*sources, error) {
	if have := m.sources[channel]; have != nil {
		return have, nil
	}
	var rows []alert.Row
	err := m.db.Read(m.ctx, func(tx *db.Tx) (err error) {
		rows, err = alert.Sources(tx, m.account, channel)
		return err
	})
	if err != nil {
		return nil, err
	}
	s := &sources{rows: map[string]alert.Row{}, byID: map[string]*decide.Alert{}, full: len(rows) == alert.MaxSources}
	for i := range rows {
		a, err := rows[i].Alert()
		if err != nil { // a corrupt alert inhibits nothing, and must not keep other events from being decided
			continue
		}
		s.list = append(s.list, &a)
		s.rows[a.ID], s.byID[a.ID] = rows[i], &a
	}
	m.sources[channel] = s
	return s, nil
}

// Sources returns the alerts of a channel that may inhibit others, as they will be when the decisions so far are stored.
// It implements decide.State.
func (m *snapshot) Sources(channel int64) (iter.Seq[*decide.Alert], error) {
	read, err := m.sourcesOf(channel)
	if err != nil {
		return nil, err
	}
	changed := m.changed[channel]
	var first []*decide.Alert
	for _, a := range changed {
		if a.Active() {
			first = append(first, a)
		} else if read.full { // an alert that was not read may take its place
			return nil, errUnknown
		}
	}
	slices.SortFunc(first, later)
	return merged(first, read.list, changed), nil
}

// merged returns the alerts of two sorted lists in their order, those of the second without the changed ones.
func merged(first, second []*decide.Alert, changed map[string]*decide.Alert) iter.Seq[*decide.Alert] {
	return func(yield func(*decide.Alert) bool) {
		rest := first
		for _, a := range second {
			if changed[a.ID] != nil {
				continue
			}
			for len(rest) > 0 && later(rest[0], a) < 0 {
				if !yield(rest[0]) {
					return
				}
				rest = rest[1:]
			}
			if !yield(a) {
				return
			}
		}
		for _, a := range rest {
			if !yield(a) {
				return
			}
		}
	}
}

// later is the order of sources.
func later(a, b *decide.Alert) int {
	return cmp.Or(cmp.Compare(b.Last, a.Last), cmp.Compare(a.ID, b.ID))
}

// Source returns an active alert of a channel; nil when there is none. It implements decide.State.
func (m *snapshot) Source(channel int64, alertID string) (*decide.Alert, error) {
	if a := m.changed[channel][alertID]; a != nil {
		if !a.Active() {
			return nil, nil
		}
		return a, nil
	}
	read, err := m.sourcesOf(channel)
	if err != nil {
		return nil, err
	}
	return read.byID[alertID], nil
}

// rely records the reads of the alert that inhibits another, and of those that inhibit it: if one of them has ended, or
// is inhibited by other alerts meanwhile, the decision is made again.
func (m *snapshot) rely(channel int64, alertID string) error {
	if m.sources[channel] == nil {
		return nil // it was not asked: the channel is disabled
	}
	for range len(m.sources[channel].byID) + len(m.changed[channel]) {
		a, err := m.Source(channel, alertID)
		if err != nil || a == nil {
			return err
		}
		if row, known := m.sources[channel].rows[alertID]; known && m.changed[channel][alertID] == nil {
			m.reads = append(m.reads, read{want{byID, slot{Key: alertID}}, found{found: true, row: row}})
		}
		if a.Muted != decide.Inhibited {
			return nil
		}
		alertID = a.MutedBy
	}
	return nil
}
