package triage

import (
	"testing"
	"time"
)

// A process that is too early again and again leaves the account for longer each time, up to a second, and from the
// beginning once it has decided events of it.
func TestPatienceGrows(t *testing.T) {
	t.Parallel()
	var o elsewhere
	now := time.Unix(1_800_000_000, 0)
	left := func() (patience time.Duration) {
		t.Helper()
		o.note(7, now)
		if until := o.until(7, "first", now); !until.After(now) {
			t.Fatal("it is not left")
		}
		for range 2 { // as long as the first event is another one each time, it is left
			now = now.Add(2 * maxPatience)
			if o.until(7, now.String(), now).IsZero() {
				t.Fatal("it is not left although its events are decided")
			}
		}
		for event := now.String(); !o.until(7, event, now).IsZero(); now = now.Add(time.Millisecond) {
			patience += time.Millisecond
		}
		return patience
	}
	for _, want := range []time.Duration{200, 400, 800, 1000, 1000} {
		if got := left(); got != want*time.Millisecond {
			t.Errorf("left for %s, want %d ms", got, want)
		}
	}
	o.own(7)
	if got := left(); got != patience {
		t.Errorf("left for %s after its events were decided here, want %s", got, patience)
	}
	o.keep(map[int64]bool{})
	if o.note(7, now); len(o.missed) != 1 || o.accounts[7].patience != patience {
		t.Errorf("after nothing waited: %+v", o.accounts[7])
	}
}
