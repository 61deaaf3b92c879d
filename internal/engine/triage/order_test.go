package triage_test

import (
	"slices"
	"testing"

	"tocsin/internal/activity"
	"tocsin/internal/core/event"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// A database that can be read and takes no writes is no fault of an event: the recovery that comes meanwhile must not be
// decided before its alert, which would stay open.
func TestNothingOvertakesWhileDatabaseIsAway(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	away := true
	r.Bus.Subscribe(func(*db.Tx, activity.Item) error {
		if away {
			return fault.New(fault.Unavailable, "it takes no writes")
		}
		return nil
	})
	first := r.take(sink, "t", "k", event.Critical, nil)
	for range 7 { // an event that is itself at fault fails for good after five attempts
		if err := r.run(); fault.KindOf(err) != fault.Unavailable {
			t.Fatalf("the database takes no writes: %v", err)
		}
	}
	recovery := r.take(sink, "t", "k", event.Ok, nil)
	_ = r.run() // fails
	away = false
	for range 2 {
		if err := r.run(); err != nil {
			t.Fatal(err)
		}
	}
	if alert, end := r.outcomes(first), r.outcomes(recovery); !slices.Equal(alert, []string{"opened"}) || !slices.Equal(end, []string{"recovered"}) {
		t.Errorf("the alert has %v, its recovery %v", alert, end)
	}
}
