package escalationplan_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"tocsin/internal/core/escalationplan"
)

// sentMessage is a message at a moment.
type sentMessage struct {
	what escalationplan.Message
	at   int64
}

// followModel runs from second to second. What happens at a second is before what is sent at it.
func followModel(history map[int64]string, held []escalationplan.Span, every, bundle, fallback, end int64) (list []sentMessage) {
	rose, waits, bundleEnd, quiet := false, false, int64(0), int64(0)
	for now := int64(start); now < end; now++ {
		switch history[now] {
		case "rise":
			rose = true
		case "join":
			if !waits || bundleEnd == 0 {
				waits, bundleEnd = true, now+bundle
			}
		}
		if now > start {
			quiet++ // seconds without a reminder
		}
		if slices.ContainsFunc(held, func(p escalationplan.Span) bool { return p.From <= now && now < p.Until }) {
			continue
		}
		what := escalationplan.None
		switch {
		case rose:
			what, rose, waits, quiet = escalationplan.Rise, false, false, 0
		case fallback > 0 && now >= fallback: // the responders' messages wait for the next second
			list, fallback = append(list, sentMessage{escalationplan.Unanswered, now}), 0
			continue
		case every > 0 && quiet >= every:
			what, waits, quiet = escalationplan.Reminder, false, 0
		case bundleEnd > 0 && now >= bundleEnd && waits:
			what, waits = escalationplan.Joined, false
		}
		if bundleEnd > 0 && now >= bundleEnd {
			bundleEnd = 0
		}
		if what != escalationplan.None {
			list = append(list, sentMessage{what, now})
		}
	}
	return list
}

// TestFollowUpAgainstModel: called when it asks for it, or when something has happened, the same messages are sent at the
// same moments as by the model: each rise once, one message for each bundle of alerts, one reminder for each interval, and
// one message to the fallback.
func TestFollowUpAgainstModel(t *testing.T) {
	for seed := range uint64(3000) {
		rng := rand.New(rand.NewPCG(seed, 7))
		every, bundle, end := rng.Int64N(80), 1+rng.Int64N(30), int64(start)+400
		if rng.IntN(3) == 0 {
			every = 0
		}
		fallback := int64(0)
		if rng.IntN(2) == 0 {
			fallback = start + 1 + rng.Int64N(200)
		}
		history, held := map[int64]string{}, []escalationplan.Span(nil)
		for range rng.IntN(20) {
			history[start+rng.Int64N(300)] = []string{"rise", "join", "join", "join"}[rng.IntN(4)]
		}
		for range rng.IntN(3) {
			from := start + rng.Int64N(300)
			held = append(held, escalationplan.Span{From: from, Until: from + 1 + rng.Int64N(60)})
		}
		var got []sentMessage
		f := escalationplan.FollowUp{From: start, Every: every, Fallback: fallback}
		next := int64(start)
		for now := int64(start); now < end; now++ {
			what, changed := history[now]
			switch what {
			case "rise":
				f.Rose = true
			case "join":
				if !f.Fresh || f.Joined == 0 {
					f.Fresh, f.Joined = true, now+bundle
				}
			}
			if !changed && (next == 0 || now < next) {
				continue
			}
			until := now
			for range held { // one that ends may be followed by another
				for _, p := range held {
					if p.From <= until && until < p.Until {
						until = p.Until
					}
				}
			}
			var m escalationplan.Message
			if m, next = f.Next(until, now); m != escalationplan.None {
				got = append(got, sentMessage{m, now})
			}
			if next != 0 && next <= now {
				t.Fatalf("seed %d: at %d the next moment is %d", seed, now, next)
			}
		}
		if want := followModel(history, held, every, bundle, fallback, end); !slices.Equal(got, want) {
			t.Fatalf("seed %d: every %d, bundle %d, held %v, %v\n got %v\nwant %v", seed, every, bundle, held, history, got, want)
		}
	}
}
