package insight

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// history is a random incident with the moment at which it is looked at.
type history struct {
	Incident
	now int64
}

func random(rng *rand.Rand) (h history) {
	h.Start = 1_776_000_000 + rng.Int64N(86400)
	at := h.Start - rng.Int64N(3) // an incident may be stored a moment after its beginning
	person := func() int64 { return rng.Int64N(4) }
	to := func() (ids []int64) {
		for id := range int64(4) {
			if id > 0 && rng.IntN(2) == 0 {
				ids = append(ids, id)
			}
		}
		return ids
	}
	for range rng.IntN(25) {
		at += rng.Int64N(70)
		e := Entry{At: at, Kind: Kind(rng.IntN(int(Reopen) + 1)), Layer: rng.Int64N(4), Ruled: rng.IntN(2) == 0}
		if h.Closed { // only a message of its end, or a reopening, can follow
			e.Kind = []Kind{Notify, Reopen}[rng.IntN(2)]
		}
		switch e.Kind {
		case Assign, Reassign, Add:
			e.To = to()
		case Notify:
			e.To, e.Failed = to()[:0:0], rng.IntN(4) == 0
			if p := person(); p != 0 {
				e.To = []int64{p}
			}
			e.Method = []string{"email", "sms", "voice", "slack_app:7"}[rng.IntN(4)]
		case Ack, Unack, Escalate:
			e.Person = person()
		case Resolve:
			e.How = []string{Auto, Timeout, Manually}[rng.IntN(3)]
		}
		h.History = append(h.History, e)
		switch e.Kind {
		case Resolve, Merge:
			h.Closed, h.CloseTime = true, at
		case Reopen:
			h.Closed, h.CloseTime = false, 0
		}
	}
	if rng.IntN(3) == 0 {
		h.AckTime = h.Start + rng.Int64N(100)
	}
	h.ByPerson, h.Merged = rng.IntN(2) == 0, rng.IntN(5) == 0
	for from := h.Start; rng.IntN(2) == 0; {
		until := from + 1 + rng.Int64N(90)
		h.Snoozes = append(h.Snoozes, Span{from, until})
		from = until + rng.Int64N(50)
	}
	h.now = at + rng.Int64N(100)
	return h
}

func zoneOf(person int64) *time.Location {
	return time.FixedZone(fmt.Sprint(person), int(person)*8*3600)
}

// TestFiguresEqualNaiveOnes recomputes each figure of random histories by its definition in docs/insight.md alone.
func TestFiguresEqualNaiveOnes(t *testing.T) {
	for seed := range uint64(4_000) {
		h := random(rand.New(rand.NewPCG(seed, 1)))
		got := Measure(&h.Incident, zoneOf, h.now)
		if want := naive(h); fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
			t.Fatalf("seed %d:\n%+v\ngot  %+v\nwant %+v", seed, h, got, want)
		}
	}
}

// naive returns the figures of a history, one after the other.
func naive(h history) (f Figures) {
	all := h.History
	if i := slices.IndexFunc(all, func(e Entry) bool { return e.Kind == Ack }); i >= 0 {
		f.Acknowledged, f.SecondsToAck = true, max(0, all[i].At-h.Start)
	} else if h.AckTime > 0 {
		f.Acknowledged, f.SecondsToAck = true, h.AckTime-h.Start
	}
	if h.Closed {
		f.Closed = true
		f.SecondsToClose = max(0, h.CloseTime-h.Start)
		f.ClosedBy = Auto
		if h.ByPerson {
			f.ClosedBy = Manually
		}
		if h.Merged {
			f.ClosedBy = Merged
		}
		for _, e := range all { // the last end counts
			switch {
			case e.Kind == Merge:
				f.ClosedBy = Merged
			case e.Kind == Resolve:
				f.ClosedBy = e.How
			}
		}
		if f.ClosedBy == Merged { // the incident is part of another, which goes on
			f.Closed, f.SecondsToClose = false, 0
		}
	}
	for _, e := range all {
		f.Acknowledgements += one(e.Kind == Ack)
		f.Assignments += one(e.Kind <= Add)
		f.Reassignments += one(e.Kind == Reassign)
		f.Notifications += one(e.Kind == Notify && !e.Failed)
	}
	for _, s := range naiveSteps(all) {
		f.ManualEscalations += one(s.manual)
		f.TimeoutEscalations += one(!s.manual)
	}
	var ids []int64
	for _, e := range all {
		for _, id := range comers(e) {
			if !slices.Contains(ids, id) {
				ids = append(ids, id)
				f.Persons = append(f.Persons, naivePerson(h, id))
			}
		}
	}
	for _, p := range f.Persons {
		f.EngagedSeconds += p.EngagedSeconds
		f.Interruptions += p.Interruptions
		f.SleepInterruptions += p.SleepInterruptions
	}
	return f
}

// comers returns the persons whom an entry makes known.
func comers(e Entry) []int64 {
	switch {
	case e.Kind <= Add, e.Kind == Notify && !e.Failed:
		return e.To
	case (e.Kind == Ack || e.Kind == Unack) && e.Person != 0:
		return []int64{e.Person}
	}
	return nil
}

// naiveStep is a further step of a rule, with the entry that shows first that it began.
type naiveStep struct {
	index  int
	manual bool
}

func naiveSteps(all []Entry) (steps []naiveStep) {
	for i, e := range all {
		if mentions(e) == 0 {
			continue
		}
		base, known := int64(0), false
		for j := i - 1; j >= 0; j-- { // back to where the escalation began
			if all[j].Kind == Reopen {
				break
			}
			if all[j].Kind == Assign || all[j].Kind == Reassign {
				if all[j].Ruled {
					base = all[j].Layer
				}
				break
			}
			known = known || mentions(all[j]) == mentions(e)
		}
		if !known && mentions(e) > base {
			steps = append(steps, naiveStep{i, e.Kind == Escalate})
		}
	}
	return steps
}

// mentions returns the step that an entry is about; 0: the first, or none.
func mentions(e Entry) int64 {
	if e.Kind == Escalate || e.Kind == Step || (e.Kind == Notify || e.Kind == Add) && e.Ruled {
		return e.Layer
	}
	return 0
}

func naivePerson(h history, id int64) (p Person) {
	p.ID = id
	came := slices.IndexFunc(h.History, func(e Entry) bool { return slices.Contains(comers(e), id) })
	p.Since = h.History[came].At
	var times []int64
	for _, e := range h.History {
		if e.Kind == Ack && e.Person == id && !p.Acknowledged {
			p.Acknowledged, p.SecondsToAck = true, e.At-p.Since
		}
		if e.Kind == Notify && !e.Failed && slices.Contains(e.To, id) {
			p.Notifications++
			if e.Method != "email" {
				times = append(times, e.At)
			}
		}
		gone := e.Kind <= Reassign && !slices.Contains(e.To, id)
		p.Reassigned = p.Reassigned || p.responsible && gone
		switch {
		case gone:
			p.responsible = false
		case e.Kind <= Add && slices.Contains(e.To, id), e.Kind == Ack && e.Person == id:
			p.responsible = true
		}
	}
	for len(times) > 0 {
		began := times[0]
		p.Interruptions++
		if hour := time.Unix(began, 0).In(zoneOf(id)).Hour(); hour >= 22 || hour < 6 {
			p.SleepInterruptions++
		}
		p.interrupted = began
		times = slices.DeleteFunc(times, func(at int64) bool { return at-began < 60 })
	}
	for _, s := range naiveSteps(h.History) {
		if s.index > came {
			p.ManuallyEscalated = p.ManuallyEscalated || s.manual
			p.TimeoutEscalated = p.TimeoutEscalated || !s.manual
		}
	}
	end := h.now
	if h.Closed {
		end = max(h.CloseTime, h.Start)
	}
	for second := h.Start - 10; second < end; second++ {
		snoozed := slices.ContainsFunc(h.Snoozes, func(s Span) bool { return second >= s.From && second < s.Until })
		if !snoozed && engaged(h.History, id, second) {
			p.EngagedSeconds++
		}
	}
	return p
}

// engaged reports whether a person works on the incident in a second.
func engaged(all []Entry, id, second int64) (on bool) {
	for _, e := range all {
		if e.At > second {
			break
		}
		switch e.Kind {
		case Ack:
			on = on || e.Person == id
		case Unack:
			on = on && e.Person != id && e.Person != 0
		case Assign, Reassign:
			on = on && slices.Contains(e.To, id)
		case Resolve, Merge, Reopen:
			on = false
		}
	}
	return on
}

// TestTotalsEqualNaiveOnes adds random incidents, and recomputes the shares and means.
func TestTotalsEqualNaiveOnes(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	var total Total
	if total != (Total{}) || total.MeanSecondsToAck() != 0 || total.MeanSecondsToClose() != 0 || total.AcknowledgementPct() != 0 || total.NoiseReductionPct() != 0 {
		t.Error("figures of nothing are not 0")
	}
	var incidents, acked, ack, closed, toClose, events, withEvents, escalated float64
	by := map[string]int64{}
	for range 1000 {
		h := random(rng)
		f := Measure(&h.Incident, zoneOf, h.now)
		alerts := rng.Int64N(3)
		count := alerts * (1 + rng.Int64N(9))
		total.Add(&f, alerts, count)
		incidents++
		by[f.ClosedBy]++
		if events += float64(count); count > 0 {
			withEvents++
		}
		if f.Acknowledged {
			acked, ack = acked+1, ack+float64(f.SecondsToAck)
		}
		if f.Closed {
			closed, toClose = closed+1, toClose+float64(f.SecondsToClose)
		}
		if f.Escalations() > 0 {
			escalated++
		}
	}
	for name, c := range map[string][2]float64{
		"incidents": {float64(total.Incidents), incidents}, "MTTA": {total.MeanSecondsToAck(), ack / acked}, "MTTR": {total.MeanSecondsToClose(), toClose / closed},
		"acknowledged": {total.AcknowledgementPct(), 100 * acked / incidents}, "noise": {total.NoiseReductionPct(), 100 * (1 - withEvents/events)},
		"escalated": {float64(total.Escalated), escalated}, "closed": {float64(total.Closed), closed},
		"by": {float64(total.AutoClosed + 3*total.ManuallyClosed + 7*total.TimeoutClosed + 13*total.Merged), float64(by[Auto] + 3*by[Manually] + 7*by[Timeout] + 13*by[Merged])},
	} {
		if difference := c[0] - c[1]; difference > 0.0051 || difference < -0.0051 {
			t.Errorf("%s: %v, want %v", name, c[0], c[1])
		}
	}
}
