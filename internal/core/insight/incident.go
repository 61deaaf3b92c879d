// Package insight computes figures about how incidents were handled: how fast, how often and when persons were
// notified, how much of what arrived became an incident. docs/insight.md defines each figure in one sentence.
//
// It must never read a clock or a database: histories, time zones and the present moment are arguments.
package insight

import (
	"slices"
	"time"
)

// Ways in which an incident was closed.
const (
	Auto     = "auto"     // its alerts were over
	Timeout  = "timeout"  // its channel resolves incidents after a time
	Manually = "manually" // by a person
	Merged   = "merged"   // the incident is part of another: that is no end
)

// Incident is what the figures of one incident are computed from.
type Incident struct {
	Start     int64 // Unix seconds, as all times here
	Closed    bool
	CloseTime int64 // 0: it is open, or no time is known
	AckTime   int64 // the first acknowledgement, for an incident without a history; 0: none
	ByPerson  bool  // a person closed it, for an incident without a history
	Merged    bool  // the incident was merged into another, for an incident without a history
	Snoozes   []Span
	History   []Entry // what happened, the oldest first
}

// Span is a period: From is in it and Until is not.
type Span struct{ From, Until int64 }

// Kind is what happened to an incident.
type Kind uint8

// The kinds of entries.
const (
	Assign   Kind = iota // persons were made responsible instead of others, by a person or a rule
	Reassign             // likewise, and others were responsible before
	Add                  // persons were made responsible beside others, or a step of a rule did that
	Ack                  // a person acknowledged it
	Unack                // a person withdrew the acknowledgement; without a person: all acknowledgements were withdrawn
	Notify               // a notification was sent, or could not be
	Escalate             // a person began the next step of the rule
	Step                 // a step of the rule notified no person
	Resolve              // it was closed
	Merge                // it was merged into another
	Reopen               // it was opened again
)

// Entry is one thing that happened to an incident.
type Entry struct {
	At     int64
	Kind   Kind
	Person int64   // who did it; 0: Tocsin itself
	To     []int64 // the persons of Assign, Reassign, Add and Notify
	Method string  // of Notify
	Failed bool    // Notify: it could not be sent
	Ruled  bool    // it is of a step of an escalation rule: Notify of a page alone, Step, Assign and Reassign
	Layer  int64   // of that step, from 0
	How    string  // Resolve: Auto, Timeout or Manually
}

// Figures are the figures of one incident.
type Figures struct {
	Acknowledged       bool
	SecondsToAck       int64
	Closed             bool // not by a merge
	SecondsToClose     int64
	ClosedBy           string // Auto, Timeout, Manually, Merged; empty: the incident is open
	EngagedSeconds     int64
	Notifications      int64
	Interruptions      int64
	SleepInterruptions int64
	Assignments        int64
	Reassignments      int64
	Acknowledgements   int64
	TimeoutEscalations int64
	ManualEscalations  int64
	Persons            []Person // those who were responsible or notified, in the order in which they came
}

// Escalations returns how many further steps began.
func (f *Figures) Escalations() int64 { return f.TimeoutEscalations + f.ManualEscalations }

// Person holds the figures of one person about one incident.
type Person struct {
	ID                 int64
	Since              int64 // when the person became responsible or was notified
	Acknowledged       bool
	SecondsToAck       int64 // from Since
	EngagedSeconds     int64
	Notifications      int64
	Interruptions      int64
	SleepInterruptions int64
	Reassigned         bool // others were made responsible instead
	TimeoutEscalated   bool // a further step began by itself after the person came
	ManuallyEscalated  bool // a person began it

	responsible bool
	engaged     int64 // since when; 0: not now
	interrupted int64 // when the current interruption began; 0: there was none
}

// together is how long after its first message further messages to a person about an incident are the same
// interruption, in seconds: one wave over several methods disturbs once.
const together = 60

// Interrupts reports whether messages over a method interrupt a person: all but mail, which people read when they choose.
func Interrupts(method string) bool { return method != "email" && method != "webhook" }

// Measure returns the figures of an incident at now. zone returns a person's time zone.
func Measure(i *Incident, zone func(person int64) *time.Location, now int64) Figures {
	m := measure{incident: i, zone: zone, steps: map[int64]bool{}}
	for _, e := range i.History {
		m.add(e)
	}
	f := &m.figures
	if !f.Acknowledged && i.AckTime > 0 {
		f.Acknowledged, f.SecondsToAck = true, max(0, i.AckTime-i.Start)
	}
	end := now
	if i.Closed {
		f.ClosedBy = m.closedBy()
		if f.ClosedBy != Merged {
			f.Closed, f.SecondsToClose = true, max(0, i.CloseTime-i.Start)
		}
		end = max(i.CloseTime, i.Start)
	}
	for n := range f.Persons {
		m.disengage(&f.Persons[n], end)
		f.EngagedSeconds += f.Persons[n].EngagedSeconds
	}
	return m.figures
}

// measure is the state while a history is read.
type measure struct {
	incident *Incident
	zone     func(int64) *time.Location
	figures  Figures
	how      string
	base     int64          // the step that the rule began with
	steps    map[int64]bool // the further steps that began since the incident was opened
}

func (m *measure) closedBy() string {
	switch {
	case m.how != "":
		return m.how
	case m.incident.Merged:
		return Merged
	case m.incident.ByPerson:
		return Manually
	}
	return Auto
}

func (m *measure) add(e Entry) {
	f := &m.figures
	switch e.Kind {
	case Assign, Reassign, Add:
		m.assign(e)
	case Ack:
		f.Acknowledgements++
		if !f.Acknowledged {
			f.Acknowledged, f.SecondsToAck = true, max(0, e.At-m.incident.Start)
		}
		if p := m.person(e.Person, e.At); p != nil {
			p.responsible = true
			if !p.Acknowledged {
				p.Acknowledged, p.SecondsToAck = true, max(0, e.At-p.Since)
			}
			if p.engaged == 0 {
				p.engaged = e.At
			}
		}
	case Unack:
		if e.Person == 0 {
			m.disengageAll(e.At)
		} else if p := m.person(e.Person, e.At); p != nil {
			m.disengage(p, e.At)
		}
	case Notify:
		m.notify(e)
	case Escalate:
		m.step(e.Layer, true)
	case Step:
		m.step(e.Layer, false)
	case Resolve, Merge:
		m.how = e.How
		if e.Kind == Merge {
			m.how = Merged
		}
		m.disengageAll(e.At)
	case Reopen:
		m.how, m.base = "", 0
		clear(m.steps)
		m.disengageAll(e.At)
	}
}

// assign makes persons responsible, and ends the responsibility of the others unless they stay.
func (m *measure) assign(e Entry) {
	f := &m.figures
	f.Assignments++
	if e.Kind == Reassign {
		f.Reassignments++
	}
	if e.Kind == Add && e.Ruled {
		m.step(e.Layer, false)
	}
	if e.Kind != Add {
		m.base = 0
		if e.Ruled {
			m.base = e.Layer
		}
		clear(m.steps)
		for n := range f.Persons {
			p := &f.Persons[n]
			if p.responsible && !slices.Contains(e.To, p.ID) {
				p.responsible, p.Reassigned = false, true
				m.disengage(p, e.At)
			}
		}
	}
	for _, id := range e.To {
		if p := m.person(id, e.At); p != nil {
			p.responsible = true
		}
	}
}

// notify counts a message that was sent, and the interruption of its person unless it is part of the one before.
func (m *measure) notify(e Entry) {
	f := &m.figures
	if e.Ruled {
		m.step(e.Layer, false)
	}
	if e.Failed {
		return
	}
	f.Notifications++
	for _, id := range e.To {
		p := m.person(id, e.At)
		if p == nil {
			continue
		}
		p.Notifications++
		if !Interrupts(e.Method) || p.interrupted > 0 && e.At < p.interrupted+together {
			continue
		}
		p.interrupted = e.At
		p.Interruptions++
		f.Interruptions++
		if Asleep(e.At, m.zone(id)) {
			p.SleepInterruptions++
			f.SleepInterruptions++
		}
	}
}

// step counts the escalation once after its first step, per opening or assignment.
func (m *measure) step(layer int64, manual bool) {
	if layer <= m.base || m.steps[layer] {
		return
	}
	m.steps[layer] = true
	f := &m.figures
	if manual {
		f.ManualEscalations++
	} else {
		f.TimeoutEscalations++
	}
	for n := range f.Persons {
		p := &f.Persons[n]
		p.ManuallyEscalated = p.ManuallyEscalated || manual
		p.TimeoutEscalated = p.TimeoutEscalated || !manual
	}
}

// person returns the figures of a person, who came at a moment unless they were here before; nil: Tocsin itself.
func (m *measure) person(id, at int64) *Person {
	if id == 0 {
		return nil
	}
	all := m.figures.Persons
	for n := range all {
		if all[n].ID == id {
			return &all[n]
		}
	}
	m.figures.Persons = append(all, Person{ID: id, Since: at})
	return &m.figures.Persons[len(all)]
}

func (m *measure) disengageAll(at int64) {
	for n := range m.figures.Persons {
		m.disengage(&m.figures.Persons[n], at)
	}
}

// disengage ends the time in which a person worked on the incident. Snoozes are not part of it.
func (m *measure) disengage(p *Person, at int64) {
	if p.engaged > 0 && at > p.engaged {
		p.EngagedSeconds += at - p.engaged
		for _, s := range m.incident.Snoozes { // one ends before the next begins
			p.EngagedSeconds -= max(0, min(at, s.Until)-max(p.engaged, s.From))
		}
	}
	p.engaged = 0
}
