package triage_test

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"tocsin/internal/activity"
	"tocsin/internal/core/event"
	"tocsin/internal/engine/triage"
	"tocsin/internal/platform/jobs"
)

// elsewhere returns another process on the same database.
func (r *fixture) elsewhere() *fixture {
	other := *r
	other.Service = triage.New(triage.Config{DB: r.DB, Bus: &activity.Bus{}, Log: slog.New(slog.DiscardHandler),
		Configs: triage.NewConfigs(r.DB), Decide: jobs.NewSignal()})
	return &other
}

// An account whose events another process decides is left to that one for a moment: else each process would prepare all events,
// and store its part of them.
func TestAccountIsLeftToProcessThatDecidesIt(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	elsewhere := r.elsewhere()
	sent := 0
	send := func(n int) {
		for range n {
			sent++
			r.take(sink, "t", fmt.Sprint("k", sent), event.Critical, map[string]string{"host": "h"})
		}
	}
	waiting := func(want int64) {
		t.Helper()
		if n := r.count(`SELECT count(*) FROM event_waiting`); n != want {
			t.Fatalf("%d events wait, want %d", n, want)
		}
	}
	job := r.Jobs()[0]
	run := func() (again time.Time) {
		t.Helper()
		for range 2 { // the second reports what the rounds of the first returned
			var err error
			again, err = job.Run(t.Context(), r.now)
			if err != nil {
				t.Fatal(err)
			}
			job.Wait()
		}
		return again
	}
	goesOn := func() { elsewhere.runs(); send(30) }
	send(30)
	r.once(goesOn)
	run()
	waiting(30)
	if again := run(); !again.After(r.now) || again.Sub(r.now) > time.Second {
		t.Errorf("it is looked at again at %s, now is %s", again, r.now)
	}
	waiting(30)
	r.now = r.now.Add(time.Second) // it may have ended
	run()
	waiting(0)
	if n := r.count(`SELECT count(DISTINCT event_id) FROM verdict`); n != int64(sent) || n != r.count(`SELECT count(*) FROM verdict`) {
		t.Errorf("%d verdicts on %d events", n, sent)
	}
}

// Another process decides events, and their numbers are those of new ones before the first process stores its verdicts.
func TestNumberThatIsUsedAgainIsAnotherEvent(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	elsewhere := r.elsewhere()
	all := []string{r.take(sink, "noise", "a", event.Critical, nil), r.take(sink, "noise", "b", event.Critical, nil)}
	r.once(func() {
		elsewhere.runs()
		all = append(all, r.take(sink, "t", "c", event.Critical, nil), r.take(sink, "t", "d", event.Critical, nil))
	})
	r.runs()
	for n, id := range all {
		if got := r.outcomes(id); len(got) != 1 {
			t.Errorf("event %d has the verdicts %v, want one", n, got)
		}
	}
}

// Another process decides the first events about an alert. At that time this process has read all events, but not yet the
// alert. Repeated verdicts on the first events must neither count nor hide the last event.
func TestEventsDecidedElsewhereCountOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ severities, outcomes []string }{
		{[]string{event.Warning, event.Critical, event.Info}, []string{"opened", "grouped", "grouped"}},
		{[]string{event.Critical, event.Ok, event.Critical}, []string{"opened", "recovered", "opened"}},
	} {
		r := newFixture(t)
		elsewhere := r.elsewhere()
		var ids []string
		for _, severity := range c.severities {
			ids = append(ids, r.take(sink, "t", "k", severity, nil))
		}
		r.Gathered(func() {
			r.Gathered(nil)
			r.exec(`UPDATE event_waiting SET attempts = 99 WHERE event_id = $1`, ids[2]) // the other process does not see the event
			job := elsewhere.Jobs()[0]
			if _, err := job.Run(t.Context(), r.now); err != nil {
				t.Error(err)
			}
			job.Wait()
			r.exec(`UPDATE event_waiting SET attempts = 0`)
		})
		r.runs()
		for i, id := range ids {
			r.wants(id, c.outcomes[i])
		}
		if n := r.count(`SELECT sum(event_cnt) FROM alert`); n != 3 {
			t.Errorf("the alerts have %d events, want 3", n)
		}
	}
}
