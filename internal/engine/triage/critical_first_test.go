package triage_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/core/event"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/id"
)

// crowd takes n events of alerts of their own.
func (r *fixture) crowd(n int, status string) (events []string) {
	r.t.Helper()
	for range n {
		events = append(events, r.take(sink, "t", fmt.Sprint("crowd", r.n), status, nil))
	}
	return events
}

// decided returns how many of some events have a verdict.
func (r *fixture) decided(events []string) (n int) {
	r.t.Helper()
	for _, e := range events {
		n += min(1, len(r.outcomes(e)))
	}
	return n
}

// round runs one round of the account.
func (r *fixture) round() {
	r.t.Helper()
	if err := r.run(); err != nil {
		r.t.Fatal(err)
	}
}

func TestCriticalEventOvertakesCrowd(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	before := r.take(sink, "t", "k", event.Info, nil) // one of the first events, and decided with them
	crowd := r.crowd(600, event.Info)
	behind := r.take(sink, "u", "k", event.Warning, nil)
	ended := r.take(sink, "t", "other", event.Ok, nil)
	critical := r.take(sink, "v", "k", event.Critical, nil)
	over := r.take(sink, "v", "k", event.Ok, nil)
	r.round()
	for e, want := range map[string][]string{before: {"opened"}, behind: {"grouped"}, critical: {"grouped"}, ended: nil, over: nil} {
		if got := r.outcomes(e); !slices.Equal(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	}
	if n := r.decided(crowd); n < 60 || n > 300 {
		t.Errorf("%d of the crowd are decided in the first round", n)
	}
	r.runs()
	if got := r.outcomes(over); !slices.Equal(got, []string{"recovered"}) {
		t.Errorf("its end: %v", got)
	}
	if n := r.decided(crowd); n != len(crowd) {
		t.Errorf("%d of the crowd are decided", n)
	}
}

func TestCriticalCrowdLeavesHalfToOthers(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	others, critical := r.crowd(300, event.Info), r.crowd(600, event.Critical)
	for range 2 {
		r.round()
	}
	if a, b := r.decided(critical), r.decided(others); a < 60 || b < 60 || a > 2*b || b > 2*a {
		t.Errorf("%d Critical and %d others are decided", a, b)
	}
	r.runs()
	if a, b := r.decided(critical), r.decided(others); a != 600 || b != 300 {
		t.Errorf("%d Critical and %d others are decided in the end", a, b)
	}
}

func TestKeyWithManyEventsDelaysNoOther(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	r.crowd(200, event.Info)
	for n := range 400 {
		r.take(sink, fmt.Sprint("t", n), "busy", event.Info, nil)
	}
	last := r.take(sink, "t", "busy", event.Critical, nil)
	critical := r.take(sink, "t", "quiet", event.Critical, nil)
	r.round()
	if got := r.outcomes(critical); !slices.Equal(got, []string{"opened"}) {
		t.Errorf("it has %v", got)
	}
	if got := r.outcomes(last); len(got) > 0 {
		t.Errorf("it has overtaken events of its own alert: %v", got)
	}
	r.runs()
}

// An event that an earlier program stored has no chain, because it may be about any alert.
func TestEventOfEarlierProgramIsNotOvertaken(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	r.crowd(400, event.Info)
	old := id.Object(r.now)
	r.n++
	r.store(old, r.now.UnixNano()+r.n, fmt.Sprintf(`{"integration_id": %d, "alert_key": "k", "title": "t", "event_status": "Info"}`, sink))
	critical := r.take(sink, "t", "k", event.Critical, nil)
	for range 10 {
		r.round()
		if a, b := r.outcomes(old), r.outcomes(critical); len(a) == 0 && len(b) > 0 {
			t.Fatal("it was overtaken")
		}
	}
	if got := r.outcomes(critical); !slices.Equal(got, []string{"grouped"}) {
		t.Errorf("it has %v", got)
	}
}

func TestBrokenCriticalEventDelaysNoOther(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	crowd := r.crowd(400, event.Info)
	bad, good := r.take(sink, "t", "bad", event.Critical, nil), r.take(sink, "t", "good", event.Critical, nil)
	r.exec(`UPDATE event SET body = '{"integration_id": "no number"}' WHERE event_id = $1`, bad)
	for range 12 {
		_ = r.run() // fails, each time with the same event
	}
	if got := r.outcomes(bad); !slices.Equal(got, []string{"failed"}) {
		t.Errorf("the broken one has %v", got)
	}
	if got := r.outcomes(good); !slices.Equal(got, []string{"opened"}) {
		t.Errorf("the one behind it has %v", got)
	}
	if n := r.decided(crowd); n != len(crowd) {
		t.Errorf("%d of the crowd are decided", n)
	}
}

// Each alert is the same in the end, whether Critical events come first or not.
func TestOrderChangesNoAlert(t *testing.T) {
	t.Parallel()
	for seed := range uint64(apitest.Setting(t, "TOCSIN_TRIAGE_SEEDS", 2)) {
		first, plain := newFixture(t), newFixture(t)
		for _, r := range []*fixture{first, plain} {
			rng := rand.New(rand.NewPCG(seed, 27))
			for range 2 {
				for range 500 {
					status := []string{event.Critical, event.Warning, event.Info, event.Info, event.Info, event.Ok}[rng.IntN(6)]
					r.take(sink, []string{"t", "u", "noise"}[rng.IntN(3)], fmt.Sprint("k", rng.IntN(1+rng.IntN(40))), status, nil)
				}
				if r == plain {
					r.exec(`UPDATE event_waiting SET rank = 1`)
				}
				r.runs()
			}
		}
		if got, want := first.ends(), plain.ends(); got != want {
			t.Fatalf("seed %d:\n%s\nwant\n%s", seed, got, want)
		}
	}
}

// ends returns the alerts of each key, and the verdicts on its events.
func (r *fixture) ends() string {
	r.t.Helper()
	var lines []string
	err := r.DB.Read(r.t.Context(), func(tx *db.Tx) (err error) {
		lines, err = db.All(tx, func(scan db.Scan) (line string, err error) {
			var key, title, severity, status string
			var events, end int64
			err = scan(&key, &title, &severity, &status, &events, &end)
			return fmt.Sprintln(key, title, severity, status, events, end), err
		}, `SELECT alert_key, title, alert_severity, alert_status, event_cnt, end_time FROM alert ORDER BY alert_key, alert_id`)
		return err
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return strings.Join(lines, "")
}
