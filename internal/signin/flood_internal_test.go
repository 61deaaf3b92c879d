package signin

import (
	"context"
	"errors"
	"sync"
	"testing"
)

// However many strangers try passwords at once, a few are hashed at a time, and a person who is known gets a turn.
func TestAFloodLeavesAPlaceForKnownPersons(t *testing.T) {
	s := New(Config{})
	var mu sync.Mutex
	now, most := 0, 0
	count := func(change int) {
		mu.Lock()
		defer mu.Unlock()
		now += change
		most = max(most, now)
	}
	full, leave := make(chan struct{}, 100), make(chan struct{})
	var all sync.WaitGroup
	ctx, cancel := context.WithCancel(context.Background())
	for range 50 {
		all.Go(func() {
			_ = s.hashing(ctx, false, func() {
				count(1)
				full <- struct{}{}
				<-leave
				count(-1)
			})
		})
	}
	for range maxHashes {
		<-full
	}
	done := false
	if err := s.hashing(t.Context(), true, func() { done = true }); err != nil || !done {
		t.Errorf("a known person: %v", err)
	}
	ended, end := context.WithCancel(context.Background())
	end()
	if err := s.hashing(ended, false, func() { t.Error("one more is hashed") }); !errors.Is(err, ErrBusy) {
		t.Errorf("one more stranger: %v", err)
	}
	cancel()
	close(leave)
	all.Wait()
	if most != maxHashes {
		t.Errorf("%d at once, want %d", most, maxHashes)
	}
}

// Persons who do not exist are not counted, and those of other persons up to a bound.
func TestFailuresTakeBoundedMemory(t *testing.T) {
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
