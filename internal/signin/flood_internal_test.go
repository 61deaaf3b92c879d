package signin

import (
	"context"
	"errors"
	"sync"
	"testing"

	"tocsin/internal/platform/fair"
)

// However many strangers try passwords at once, one is hashed at a time, the networks take turns, and a person who is known
// does not wait for them.
func TestFloodOfStrangersTakesTurns(t *testing.T) {
	t.Parallel()
	s := New(Config{Pace: fair.NewQueue(fair.Rare, nil)})
	flood, other := hasher{network: networkOf("198.51.100.1")}, hasher{network: networkOf("203.0.113.9")}
	began, leave := make(chan hasher, 100), make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	hash := func(of hasher) {
		_ = s.hashing(ctx, of, func() {
			began <- of
			<-leave
		})
	}
	all.Go(func() { hash(flood) })
	<-began
	for range 50 {
		all.Go(func() { hash(flood) })
	}
	var done bool
	if err := s.hashing(t.Context(), hasher{known: true}, func() { done = true }); err != nil || !done {
		t.Errorf("a known person: %v", err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := s.hashing(ended, other, func() { t.Error("one more is hashed") }); !errors.Is(err, ErrBusy) {
		t.Errorf("one more stranger: %v", err)
	}
	if len(began) > 0 {
		t.Error("two passwords of strangers are hashed at once")
	}
	cancel()
	close(leave)
	all.Wait()
}

// Persons who do not exist are not counted, and those of other persons up to a bound.
func TestFailuresTakeBoundedMemory(t *testing.T) {
	t.Parallel()
	f := newFailures()
	for i := range int64(3 * maxFailing) {
		r := refOf(i)
		f.add(r, "198.51.100.1", at(i))
		f.add(r, "198.51.100.2", at(i))
	}
	all := f.take()
	if len(all) != maxFailing || all[refOf(5)].n != 2 || all[refOf(5)].ip != "198.51.100.2" || all[refOf(0)].n != 0 || len(f.take()) != 0 {
		t.Errorf("%d persons, %+v", len(all), all[refOf(5)])
	}
}
