package notify_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"tocsin/internal/api/apitest"
	"tocsin/internal/core/sentence"
	"tocsin/internal/engine/notify"
	"tocsin/internal/platform/db"
	"tocsin/internal/sender"
)

// Retries follow after 4 seconds, 8, ... up to ten minutes, a quarter more or less, with ten attempts in all.
func TestRetriesBackOffAndEnd(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	r.deliver = func(string) error { return errors.New("no answer") }
	r.put(apitest.AccountA, "k", "email", notify.Address{To: "a@example.com"})
	want := 4 * time.Second
	for n := int64(1); n <= 10; n++ {
		r.settle()
		s := r.stored("k")
		if s.attempts != n {
			t.Fatalf("%d attempts, want %d: %v", s.attempts, n, s)
		}
		if n == 10 {
			if s.status != notify.Failed || s.outcome != "no answer" {
				t.Errorf("in the end %v", s)
			}
			break
		}
		wait := time.UnixMilli(s.due).Sub(r.clock.Now())
		if s.status != notify.Waiting || wait < want*3/4-time.Millisecond || wait > want*5/4 {
			t.Errorf("after attempt %d it waits for %v, want about %v: %v", n, wait, want, s)
		}
		r.clock.Add(wait - time.Millisecond)
		if r.settle(); r.stored("k").attempts != n {
			t.Errorf("attempt %d was made before its time", n+1)
		}
		r.clock.Add(time.Millisecond)
		want = min(2*want, 10*time.Minute)
	}
	r.clock.Add(time.Hour)
	if r.settle(); r.stored("k").attempts != 10 {
		t.Error("it was retried although it had failed")
	}
}

func TestRetryFollowsServiceAnswer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		failure  error
		status   string
		at, most time.Duration // when it is retried
	}{
		{&sender.Error{Retry: true, Message: "busy"}, notify.Waiting, 3 * time.Second, 5 * time.Second},
		{&sender.Error{Retry: true, Message: "busy", After: 20 * time.Minute}, notify.Waiting, 20 * time.Minute, 20 * time.Minute},
		{&sender.Error{Retry: true, Message: "busy", After: time.Second}, notify.Waiting, 3 * time.Second, 5 * time.Second},
		{&sender.Error{Message: "no such mailbox", After: time.Minute}, notify.Failed, 0, 0},
		{fmt.Errorf("wrapped: %w", &sender.Error{Message: "no such mailbox"}), notify.Failed, 0, 0},
		{nil, notify.Sent, 0, 0},
	} {
		r := newFixture(t)
		r.deliver = func(string) error { return c.failure }
		r.put(apitest.AccountA, "k", "email", notify.Address{To: "a@example.com"})
		r.settle()
		s := r.stored("k")
		if s.status != c.status {
			t.Errorf("%v: %v, want %s", c.failure, s, c.status)
		}
		if wait := time.UnixMilli(s.due).Sub(start); s.status == notify.Waiting && (wait < c.at || wait > c.most) {
			t.Errorf("%v: it waits for %v, want %v to %v", c.failure, wait, c.at, c.most)
		}
	}
}

// A panic of a sender counts as one failed attempt.
func TestPanickingSenderIsRetried(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	r.deliver = func(string) error { panic("at the disco") }
	r.put(apitest.AccountA, "k", "email", notify.Address{To: "a@example.com"})
	r.settle()
	if s := r.stored("k"); s.status != notify.Waiting || strings.Contains(s.outcome, "disco") {
		t.Error(s)
	}
}

// An attempt without a result, because its process ended, is made again when its lease has expired. It counts as an
// attempt like any other.
func TestLostAttemptsCount(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	r.put(apitest.AccountA, "k", "email", notify.Address{To: "a@example.com"})
	lose := func(attempts int) {
		r.write(func(tx *db.Tx) error {
			_, err := tx.Exec(`UPDATE notice SET status = 'sending', attempts = $1, due_at = $2`, attempts, r.clock.Now().Add(2*time.Minute).UnixMilli())
			return err
		})
	}
	lose(10)
	r.clock.Add(2*time.Minute - time.Millisecond)
	if r.settle(); len(r.took) != 0 {
		t.Error("it was sent again although its lease had not expired")
	}
	r.clock.Add(time.Millisecond)
	r.settle()
	if s := r.stored("k"); len(r.took) != 0 || s.status != notify.Failed || s.outcome != string(sentence.New("no_result", 10)) {
		t.Errorf("%v; took %v", s, r.took)
	}
	r.put(apitest.AccountA, "k2", "email", notify.Address{To: "b@example.com"})
	r.write(func(tx *db.Tx) error {
		_, err := tx.Exec(`UPDATE notice SET status = 'sending', attempts = 9, due_at = $1 WHERE notice_key = 'k2'`, r.clock.Now().UnixMilli())
		return err
	})
	if r.settle(); !slices.Equal(r.took, []string{"b@example.com"}) {
		t.Errorf("took %v", r.took)
	}
}

// One host that hangs, with more waiting for it than one batch holds, blocks no other: neither another host, nor another
// account whose chat has the same name.
func TestHangingHostBlocksNoOther(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	release := make(chan struct{})
	t.Cleanup(func() { close(release); r.Job().Wait() })
	const waiting, slots = 300, 8
	began := make(chan string, waiting) // attempts at the hanging host
	r.deliver = func(to string) error {
		if strings.Contains(to, "//hang.") {
			began <- to
			<-release
		}
		return nil
	}
	for n := range waiting {
		r.put(apitest.AccountA, fmt.Sprint("hang", n), "slack", notify.Address{Chat: &sender.Chat{URL: "https://hang.example.com/x", Alias: "#ops"}})
	}
	r.clock.Add(time.Second)
	want := []string{}
	for n := range 20 {
		to := fmt.Sprintf("https://well%d.example.com/x", n)
		want = append(want, to)
		r.put(apitest.AccountB, fmt.Sprint("well", n), "slack", notify.Address{Chat: &sender.Chat{URL: to, Alias: "#ops"}})
	}
	woken := r.Job().Signal.C() // when a queue has a free slot again, or more to claim
	r.run()                     // the whole batch is for the host that hangs
	for r.run(); r.taken() < len(want) || len(began) < slots; r.run() {
		select {
		case <-woken:
		case <-time.After(10 * time.Millisecond): // each attempt has a goroutine of its own, which may start late
		}
	}
	for range slots {
		<-began
	}
	if n := len(began); n != 0 {
		t.Errorf("%d at once at the hanging host, want %d", slots+n, slots)
	}
	slices.Sort(want)
	r.mu.Lock()
	if slices.Sort(r.took); !slices.Equal(r.took, want) {
		t.Errorf("took %v", r.took)
	}
	r.mu.Unlock()
}

// Many hosts that hang use up all slots, as when the internet connection is lost: the local mail server still gets its
// messages.
func TestManyHangingHostsBlockNoOther(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	release := make(chan struct{})
	t.Cleanup(func() { close(release); r.Job().Wait() })
	r.deliver = func(to string) error {
		if strings.Contains(to, "//hang") {
			<-release
		}
		return nil
	}
	for n := range 600 {
		r.put(apitest.AccountA, fmt.Sprint("hang", n), "slack", notify.Address{Chat: &sender.Chat{URL: fmt.Sprintf("https://hang%d.example.com/x", n%30)}})
	}
	r.clock.Add(time.Second)
	for n := range 5 {
		r.put(apitest.AccountB, fmt.Sprint("mail", n), "email", notify.Address{To: "b@example.com"})
	}
	woken := r.Job().Signal.C() // when a slot is free again
	r.run()
	for r.run(); r.taken() < 5; r.run() {
		<-woken
	}
}

// A key is stored once for each account.
func TestSameKeyIsNotStoredTwice(t *testing.T) {
	t.Parallel()
	r := newFixture(t)
	for range 3 {
		r.put(apitest.AccountA, "k", "email", notify.Address{To: "a@example.com"})
		r.settle()
	}
	r.put(apitest.AccountB, "k", "email", notify.Address{To: "b@example.com"})
	r.settle()
	if !slices.Equal(r.took, []string{"a@example.com", "b@example.com"}) {
		t.Errorf("took %v", r.took)
	}
}

// Cancel affects only waiting notifications of the given incident, account and causes.
func TestCancelAffectsOnlyItsCauses(t *testing.T) {
	t.Parallel()
	const incident, other = "5e5e5e5e5e5e5e5e5e5e5e01", "5e5e5e5e5e5e5e5e5e5e5e02"
	r := newFixture(t)
	want := map[string]string{}
	for _, account := range []int64{apitest.AccountA, apitest.AccountB} {
		for _, about := range []string{incident, other} {
			for _, cause := range []string{notify.Page, notify.Fallback, notify.Recovery} {
				for _, status := range []string{notify.Waiting, notify.Sending, notify.Sent} {
					key := fmt.Sprint(account, about, cause, status)
					want[key] = status
					if account == apitest.AccountA && about == incident && cause != notify.Recovery && status == notify.Waiting {
						want[key] = notify.Cancelled
					}
					r.write(func(tx *db.Tx) error {
						if err := r.Put(tx, notify.Notification{Account: account, Key: key, Incident: about, Cause: cause, Method: "email"}, start); err != nil {
							return err
						}
						_, err := tx.Exec(`UPDATE notice SET status = $1 WHERE notice_key = $2`, status, key)
						return err
					})
				}
			}
		}
	}
	r.write(func(tx *db.Tx) error {
		return r.Cancel(tx, apitest.AccountA, []string{incident}, "it is over", start, notify.Page, notify.Fallback)
	})
	for key, status := range want {
		if s := r.stored(key); s.status != status || status == notify.Cancelled && s.outcome != "it is over" {
			t.Errorf("%s is %v, want %s", key, s, status)
		}
	}
}
