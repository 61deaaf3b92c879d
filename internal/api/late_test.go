package api_test

import (
	"net/http"
	"testing"
	"time"

	"tocsin/internal/api"
	"tocsin/internal/api/apitest"
	"tocsin/internal/platform/ratelimit"
)

// TestEagerCallerIsRefusedLate: after many refusals in a minute the next one waits, and is the same in the end. No one else
// waits: no other account, no other operation, and no call that is not refused.
func TestEagerCallerIsRefusedLate(t *testing.T) {
	t.Parallel()
	s := withToys(apitest.StartConfig(t, func(c *api.Config) { c.Rate, c.LateBy = ratelimit.Rate{PerSecond: 1}, time.Hour }, toys()))
	t.Cleanup(s.Frame.StopWaiting)
	if r := s.Call(apitest.KeyA, echo, minimal); r.Code != "" {
		t.Fatal(r.Body)
	}
	var prompt apitest.Reply
	for range 60 {
		prompt = s.Call(apitest.KeyA, echo, minimal)
		if prompt.Status != http.StatusTooManyRequests {
			t.Fatalf("%d %s", prompt.Status, prompt.Body)
		}
	}
	replies := make(chan apitest.Reply)
	go func() { replies <- s.Call(apitest.KeyA, echo, minimal) }()
	for api.Late(s.Frame) != 1 {
		time.Sleep(time.Millisecond)
	}
	for range 2 {
		for _, call := range [][2]string{{apitest.KeyA, list}, {apitest.KeyB, echo}} {
			if r := s.Call(call[0], call[1], minimal); r.Status != http.StatusOK && r.Status != http.StatusTooManyRequests {
				t.Errorf("%s: %d %s", call[1], r.Status, r.Body)
			}
		}
	}
	s.Clock.Add(time.Second)
	if r := s.Call(apitest.KeyA, echo, minimal); r.Status != http.StatusOK {
		t.Errorf("a call within the limit: %d %s", r.Status, r.Body)
	}
	if n := api.Late(s.Frame); n != 1 {
		t.Errorf("%d refusals wait, want 1", n)
	}
	s.Frame.StopWaiting()
	late := <-replies
	if late.Status != prompt.Status || late.Code != prompt.Code || late.Header.Get("Retry-After") != prompt.Header.Get("Retry-After") {
		t.Errorf("late: %d %s, prompt: %d %s", late.Status, late.Body, prompt.Status, prompt.Body)
	}
}

// TestTriesOfKeysAreRefusedLate: so is a network that tries unknown keys, but not the keys that are valid.
func TestTriesOfKeysAreRefusedLate(t *testing.T) {
	t.Parallel()
	s := withToys(apitest.StartConfig(t, func(c *api.Config) { c.LateBy = time.Hour }, toys()))
	t.Cleanup(s.Frame.StopWaiting)
	for range 360 {
		s.Call("tk_nobody", list, "{}")
	}
	replies := make(chan apitest.Reply)
	go func() { replies <- s.Call("tk_nobody", list, "{}") }()
	for api.Late(s.Frame) != 1 {
		time.Sleep(time.Millisecond)
	}
	if r := s.Call(apitest.KeyA, list, "{}"); r.Status != http.StatusOK {
		t.Errorf("a valid key: %d %s", r.Status, r.Body)
	}
	s.Frame.StopWaiting()
	if r := <-replies; r.Status != http.StatusTooManyRequests {
		t.Errorf("%d %s", r.Status, r.Body)
	}
}
