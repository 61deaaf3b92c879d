package api_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"tocsin/internal/api"
	"tocsin/internal/api/apitest"
	"tocsin/internal/platform/ratelimit"
)

// withWait starts a server where one read in a second passes and the others wait, and uses up the first.
func withWait(t *testing.T) *apitest.Server {
	s := withToys(apitest.StartConfig(t, func(c *api.Config) {
		c.Rate, c.LimitWait = ratelimit.Rate{PerSecond: 1}, 20*time.Second
	}, toys()))
	t.Cleanup(s.Frame.StopWaiting) // before the server is closed, which waits for its calls
	if r := s.Call(apitest.KeyA, echo, minimal); r.Code != "" {
		t.Fatal(r.Body)
	}
	return s
}

// until polls until so many calls wait.
func until(t *testing.T, s *apitest.Server, n int) {
	t.Helper()
	for range 2000 {
		if api.Waiting(s.Frame) == n {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("%d calls wait, want %d", api.Waiting(s.Frame), n)
}

// The place of a client that is gone is free for the next, and a call whose turn comes is answered as if it had just come.
func TestClientThatIsGoneFreesItsPlace(t *testing.T) {
	t.Parallel()
	s := withWait(t)
	ctx, leave := context.WithCancel(context.Background())
	gone := make(chan error, 1)
	go func() {
		r := s.Request("POST", echo+"?app_key="+apitest.KeyA, minimal).WithContext(ctx)
		answer, err := http.DefaultClient.Do(r)
		if err == nil {
			answer.Body.Close()
		}
		gone <- err
	}()
	until(t, s, 1)
	replies := make(chan apitest.Reply, 1)
	go func() { replies <- s.Call(apitest.KeyA, echo, minimal) }()
	until(t, s, 2)
	leave()
	if err := <-gone; err == nil {
		t.Error("the call that left was answered")
	}
	until(t, s, 1)
	s.Clock.Add(time.Second)
	if r := <-replies; r.Status != 200 || r.Header.Get("Retry-After") != "" {
		t.Errorf("%d %s", r.Status, r.Body)
	}
	until(t, s, 0)
}

// A key that is revoked while its call waits is refused.
func TestRevokedKeyIsRefusedAfterWaiting(t *testing.T) {
	t.Parallel()
	s := withWait(t)
	replies := make(chan apitest.Reply, 1)
	go func() { replies <- s.Call(apitest.KeyA, echo, minimal) }()
	until(t, s, 1)
	s.Exec(`UPDATE app_key SET status = 'disabled'`)
	s.Clock.Add(2 * time.Second)
	if r := <-replies; r.Code != "Unauthorized" {
		t.Errorf("%d %s", r.Status, r.Body)
	}
}
