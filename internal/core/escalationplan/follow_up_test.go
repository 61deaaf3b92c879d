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

// asking describes the questions of a model. wait is how long a reminder awaits an answer; withdraws: a missing answer
// withdraws the acknowledgement. after is the number of seconds until the question reaches its person; 0: never.
type asking struct {
	wait, after int64
	withdraws   bool
}

// followModel runs from second to second. What happens at a second is before what is sent at it.
func followModel(
	history map[int64]string, held []escalationplan.Span, every, bundle, fallback int64, q asking, end int64,
) (list []sentMessage) {
	var rose, waits, woke bool
	var bundleEnd, quiet, open, again int64
	answered := func() {
		woke = false
		quiet, open = 0, 0
	}
	shown := func() {
		waits = false
		quiet = 0
	}
	for now := int64(start); now < end; now++ {
		switch history[now] {
		case "rise":
			rose = true
		case "join":
			if !waits || bundleEnd == 0 {
				waits, bundleEnd = true, now+bundle
			}
		case "wake":
			woke, open = true, 0
		}
		if now > start {
			quiet++ // seconds without a reminder
		}
		switch history[now] {
		case "answer":
			answered()
		case "later":
			answered()
			again = now + 90
		case "never":
			answered()
			again = -1
		}
		if slices.ContainsFunc(held, func(p escalationplan.Span) bool { return p.From <= now && now < p.Until }) {
			continue
		}
		what := escalationplan.None
		switch over := open > 0 && now >= open; {
		case rose:
			what, rose = escalationplan.Rise, false
			shown()
		case over && q.withdraws:
			return append(list, sentMessage{escalationplan.Withdrawn, now})
		case over && q.after == 0:
			list, open = append(list, sentMessage{escalationplan.Unreached, now}), 0
			continue
		case fallback > 0 && now >= fallback: // the responders' messages wait for the next second
			list, fallback = append(list, sentMessage{escalationplan.Unanswered, now}), 0
			continue
		case woke:
			what, woke = escalationplan.Woken, false
			open = now + q.after + escalationplan.WokenWait
			shown()
		case every > 0 && quiet >= every && (open == 0 || over) && again >= 0 && now >= again:
			what, open = escalationplan.Reminder, 0
			if q.wait > 0 {
				open = now + q.after + q.wait
			}
			shown()
		case bundleEnd > 0 && now >= bundleEnd && waits:
			what, waits = escalationplan.Joined, false
		}
		if open > 0 && now >= open && !q.withdraws && q.after > 0 { // the question has reached its person, so nothing follows
			open = 0
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

// TestFollowUpAgainstModel calls a follow-up when it asks for the call, or when something has happened. The messages and
// their moments equal those of the model. Each rise is one message, as is each bundle of alerts, and each interval of
// reminders. No reminder is sent while a question is open. The end of a snooze is one message, as is the message to the
// fallback. A question without an answer in its time withdraws the acknowledgement, which ends the history.
func TestFollowUpAgainstModel(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3000) {
		rng := rand.New(rand.NewPCG(seed, 7))
		every := rng.Int64N(80)
		bundle := 1 + rng.Int64N(30)
		end := int64(start) + 1400
		if rng.IntN(3) == 0 {
			every = 0
		}
		fallback := int64(0)
		if rng.IntN(2) == 0 {
			fallback = start + 1 + rng.Int64N(200)
		}
		q := asking{wait: 30 + rng.Int64N(60), withdraws: rng.IntN(2) == 0}
		if rng.IntN(4) == 0 {
			q.wait = 0
		}
		q.after = rng.Int64N(q.wait + 1) // the question is checked again after the wait
		history, held := map[int64]string{}, []escalationplan.Span(nil)
		for range rng.IntN(20) {
			history[start+rng.Int64N(300)] = []string{"rise", "join", "join", "join", "answer", "later", "wake", "never"}[rng.IntN(8)]
		}
		for range rng.IntN(3) {
			from := start + rng.Int64N(300)
			held = append(held, escalationplan.Span{From: from, Until: from + 1 + rng.Int64N(60)})
		}
		got := followed(t, history, held, escalationplan.FollowUp{From: start, Every: every, Fallback: fallback, Asks: q.wait}, bundle, q, end)
		if want := followModel(history, held, every, bundle, fallback, q, end); !slices.Equal(got, want) {
			t.Fatalf("seed %d: every %d, bundle %d, %+v, held %v, %v\n got %v\nwant %v", seed, every, bundle, q, held, history, got, want)
		}
	}
}

// followed returns the messages that a follow-up sends.
func followed(
	t *testing.T, history map[int64]string, held []escalationplan.Span, f escalationplan.FollowUp, bundle int64, q asking, end int64,
) (got []sentMessage) {
	t.Helper()
	next, asked := int64(start), int64(0)
	wait := int64(0)
	for now := int64(start); now < end; now++ {
		what, changed := history[now]
		switch what {
		case "rise":
			f.Rose = true
		case "join":
			if !f.Fresh || f.Joined == 0 {
				f.Fresh, f.Joined = true, now+bundle
			}
		case "wake":
			f.Woke, f.Await = true, escalationplan.Await{}
		case "answer", "later", "never":
			f.From, f.Woke = now, false
			f.Await = escalationplan.Await{}
			f.Again = map[string]int64{"answer": f.Again, "later": now + 90, "never": escalationplan.Never}[what]
		}
		if !changed && (next == 0 || now < next) {
			continue
		}
		if f.Await.Open { // as the caller does, from the outcome of the question's messages
			one := escalationplan.Delivery{Person: 1, At: asked + q.after, Sent: q.after > 0, Open: now < asked+q.after}
			until, reached, ended := escalationplan.AnswerBy(asked, wait, now, []escalationplan.Delivery{one})
			if ended && until != asked+q.after+wait {
				t.Fatalf("asked at %d, %+v: the answer is awaited until %d", asked, q, until)
			}
			f.Await = escalationplan.Await{Open: true, Until: until, Withdraws: q.withdraws, Reached: reached}
		}
		until := now
		for range held { // the end of a span may lie in another span
			for _, p := range held {
				if p.From <= until && until < p.Until {
					until = p.Until
				}
			}
		}
		var m escalationplan.Message
		m, next = f.Next(until, now)
		if m != escalationplan.None {
			got = append(got, sentMessage{m, now})
		}
		switch m {
		case escalationplan.Woken:
			asked, wait = now, escalationplan.WokenWait
		case escalationplan.Reminder:
			asked, wait = now, f.Asks
		case escalationplan.Withdrawn:
			return got
		}
		if next != 0 && next <= now {
			t.Fatalf("at %d the next moment is %d", now, next)
		}
	}
	return got
}

// TestAnswerBy compares until when an answer is awaited for outcomes of a question's messages.
func TestAnswerBy(t *testing.T) {
	t.Parallel()
	const asked, wait = 1000, 600
	sent := func(person, at int64) escalationplan.Delivery {
		return escalationplan.Delivery{Person: person, Sent: true, At: at}
	}
	failed := func(at int64) escalationplan.Delivery { return escalationplan.Delivery{Person: 1, At: at} }
	open := func(at int64) escalationplan.Delivery { return escalationplan.Delivery{Person: 1, Open: true, At: at} }
	for name, c := range map[string]struct {
		all            []escalationplan.Delivery
		until          int64
		reached, ended bool
	}{
		"nothing to send": {nil, 1600, false, true},
		"delivered":       {[]escalationplan.Delivery{sent(1, 1005)}, 1605, true, true},
		"delivered over the first of two methods": {[]escalationplan.Delivery{sent(1, 1300), sent(1, 1005)}, 1605, true, true},
		"delivered over one method, others open":  {[]escalationplan.Delivery{open(9000), sent(1, 1005)}, 1605, true, true},
		"delivered to the last of two persons":    {[]escalationplan.Delivery{sent(1, 1005), sent(2, 1200)}, 1800, true, true},
		"failed":                                  {[]escalationplan.Delivery{failed(1400), failed(1100)}, 2000, false, true},
		"failed, and another method is tried":     {[]escalationplan.Delivery{failed(1400), open(1500)}, 2030, false, false},
		"open for hours":                          {[]escalationplan.Delivery{open(9000)}, 9000, false, false},
	} {
		until, reached, ended := escalationplan.AnswerBy(asked, wait, 2000, c.all)
		if until != c.until || reached != c.reached || ended != c.ended {
			t.Errorf("%s: until %d, reached %t, ended %t", name, until, reached, ended)
		}
	}
}
