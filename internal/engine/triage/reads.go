package triage

import (
	"tocsin/internal/alert"
	"tocsin/internal/configstore"
	"tocsin/internal/core/decide"
	"tocsin/internal/core/event"
	"tocsin/internal/incident"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// want names a row that a decision reads.
type want struct {
	of question
	slot
}

// question is what is asked about a slot.
type question int

const (
	latest   question = iota // the newest alert of a key
	joinable                 // the incident that alerts of a group key can join
	byID                     // the alert of an id, which is the slot's key
)

// found is the answer. Two answers are equal (==) if no decision could differ between them.
type found struct {
	found bool
	row   alert.Row
	group decide.Group
}

// read is what was asked, and the answer.
type read struct {
	want
	found
}

// read returns the answer to a question, and records it. What was not prefetched is read by itself.
func (m *snapshot) read(w want) (found, error) {
	have, known := m.fetched[w]
	if !known {
		err := m.db.Read(m.ctx, func(tx *db.Tx) (err error) {
			have, err = m.ask(tx, w)
			return err
		})
		if err != nil {
			return have, err
		}
	}
	m.reads = append(m.reads, read{w, have})
	return have, nil
}

// ask answers one question.
func (m *snapshot) ask(tx *db.Tx, w want) (have found, err error) {
	switch w.of {
	case latest:
		have.row, have.found, err = alert.Latest(tx, m.account, w.Channel, w.Key)
	case joinable:
		have.group, have.found, err = incident.Joinable(tx, m.account, w.Channel, w.Key)
	case byID:
		have.row, have.found, err = alert.FindRow(tx, m.account, w.Key)
	}
	return have, err
}

// askAll answers many questions with a query for each kind.
func (m *snapshot) askAll(tx *db.Tx, wants []want) (map[want]found, error) {
	all := make(map[want]found, len(wants))
	var alerts, groups []slot
	var ids []string
	for _, w := range wants {
		if _, twice := all[w]; twice {
			continue
		}
		all[w] = found{}
		switch {
		case !db.Listable(w.Key):
			have, err := m.ask(tx, w)
			if err != nil {
				return nil, err
			}
			all[w] = have
		case w.of == latest:
			alerts = append(alerts, w.slot)
		case w.of == joinable:
			groups = append(groups, w.slot)
		default:
			ids = append(ids, w.Key)
		}
	}
	if len(alerts) > 0 {
		rows, err := alert.LatestOf(tx, m.account, alerts)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			all[want{latest, slot{Channel: row.Channel, Key: row.Key}}] = found{found: true, row: row}
		}
	}
	if len(groups) > 0 {
		open, err := incident.JoinableOf(tx, m.account, groups)
		if err != nil {
			return nil, err
		}
		for at, group := range open {
			all[want{joinable, at}] = found{found: true, group: group}
		}
	}
	if len(ids) > 0 {
		rows, err := alert.RowsOf(tx, m.account, ids)
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			all[want{byID, slot{Key: row.ID}}] = found{found: true, row: row}
		}
	}
	return all, nil
}

// fetch reads ahead what decisions will ask for. A row that cannot be read is no error yet: the decision that asks for it
// reads it again by itself, so that it cannot block the others.
func (m *snapshot) fetch(wants []want) {
	if len(wants) == 0 {
		return
	}
	_ = m.db.Read(m.ctx, func(tx *db.Tx) error {
		all, err := m.askAll(tx, wants)
		if err != nil {
			return err
		}
		for w, have := range all {
			m.fetched[w] = have
		}
		return nil
	})
}

// prefetch reads the alerts of prepared events, and then the incidents that new alerts among them may join. What fails is
// left to the decision that asks for it, so that it cannot block the others.
func (m *snapshot) prefetch(events []pending) {
	var alerts, groups []want
	for i := range events {
		for _, ch := range events[i].prepared.Channels {
			alerts = append(alerts, want{latest, slot{Channel: ch, Key: events[i].prepared.Event.AlertKey}})
		}
	}
	m.fetch(alerts)
	for i := range events {
		_ = fault.Guard(func() error {
			found, err := m.groupsOf(events[i].prepared)
			groups = append(groups, found...)
			return err
		})
	}
	m.fetch(groups)
}

// groupsOf returns the groups whose incident an event's alerts may join.
func (m *snapshot) groupsOf(p *decide.Prepared) (groups []want, err error) {
	if p.Event.Status == event.Ok {
		return nil, nil
	}
	for _, id := range p.Channels {
		ch, err := m.Channel(id)
		if err != nil {
			return groups, err
		}
		before := m.fetched[want{latest, slot{Channel: id, Key: p.Event.AlertKey}}]
		if ch == nil || !ch.Grouping.ByFields || before.row.Incident != "" && before.row.End == 0 {
			continue
		}
		key, steps := p.GroupKey(ch)
		if m.steps += steps; key != "" {
			groups = append(groups, want{joinable, slot{Channel: id, Key: key}})
		}
	}
	return groups, nil
}

// unchanged returns how many reads, from the first one on, still have the same result; -1 when the configuration has
// changed.
func (m *snapshot) unchanged(tx *db.Tx) (n int, err error) {
	now, err := configstore.Revision(tx, m.account)
	if err != nil || now != m.revision {
		return -1, err
	}
	wants := make([]want, len(m.reads))
	for i := range m.reads {
		wants[i] = m.reads[i].want
	}
	is, err := m.askAll(tx, wants)
	if err != nil {
		return 0, err
	}
	for i := range m.reads {
		if is[m.reads[i].want] != m.reads[i].found {
			return i, nil
		}
	}
	return len(m.reads), nil
}
