package api_test

import (
	"strconv"
	"testing"
	"time"

	"tocsin/internal/api"
	"tocsin/internal/api/apitest"
	"tocsin/internal/platform/ratelimit"
)

// documented is the limit of the specification, 8.
var documented = ratelimit.Rate{PerSecond: 50, PerMinute: 1000}

type rateHeaders struct{ limit, remaining, reset, retry string }

func headers(r apitest.Reply) rateHeaders {
	h := r.Header
	return rateHeaders{h.Get("X-RateLimit-Limit"), h.Get("X-RateLimit-Remaining"), h.Get("X-RateLimit-Reset"), h.Get("Retry-After")}
}

func TestLimitsAreExact(t *testing.T) {
	t.Parallel()
	s := withToys(apitest.StartWith(t, documented, toys()))
	start := apitest.Now.Unix()
	accepted := 0
	call := func(want string, h rateHeaders) {
		t.Helper()
		r := s.Call(apitest.KeyA, list, "{}")
		if got := headers(r); r.Code != want || got != h {
			t.Fatalf("call %d at +%s: %s, %+v, want %+v", accepted+1, s.Clock.Now().Sub(apitest.Now), r.Code, got, h)
		}
		if r.Code == "" {
			accepted++
		}
	}
	const refused = "RequestTooFrequently"
	for second := range int64(20) {
		s.Clock.Set(apitest.Now.Add(time.Duration(second) * time.Second))
		for i := range int64(50) {
			minuteLeft := 1000 - int64(accepted) - 1
			h := rateHeaders{"50", strconv.FormatInt(49-i, 10), strconv.FormatInt(start+second+1, 10), ""}
			if minuteLeft <= 49-i { // with the same number left, the window that frees a call later
				h = rateHeaders{"1000", strconv.FormatInt(minuteLeft, 10), strconv.FormatInt(start+60, 10), ""}
			}
			call("", h)
		}
		if second < 19 {
			call(refused, rateHeaders{"50", "0", strconv.FormatInt(start+second+1, 10), "1"})
			s.Clock.Add(999 * time.Millisecond)
			call(refused, rateHeaders{"50", "0", strconv.FormatInt(start+second+1, 10), "1"})
		}
	}
	if accepted != 1000 {
		t.Fatalf("%d accepted", accepted)
	}
	call(refused, rateHeaders{"1000", "0", strconv.FormatInt(start+60, 10), "41"})
	s.Clock.Set(apitest.Now.Add(59*time.Second + 999*time.Millisecond))
	call(refused, rateHeaders{"1000", "0", strconv.FormatInt(start+60, 10), "1"})
	s.Clock.Set(apitest.Now.Add(60 * time.Second)) // the first fifty leave the window; refused calls were not counted
	call("", rateHeaders{"1000", "49", strconv.FormatInt(start+61, 10), ""})
}

func TestLimitsArePerAccountAndOperation(t *testing.T) {
	t.Parallel()
	s := withToys(apitest.StartWith(t, ratelimit.Rate{PerSecond: 1}, toys()))
	for _, c := range []struct{ name, key, path, code string }{
		{"first", apitest.KeyA, list, ""},
		{"second", apitest.KeyA, list, "RequestTooFrequently"},
		{"another key of the account", apitest.KeyNothing, list, "RequestTooFrequently"},
		{"another operation", apitest.KeyA, open, ""},
		{"another account", apitest.KeyB, list, ""},
		{"an unknown key has no account", "wrong", list, "Unauthorized"},
	} {
		if r := s.Call(c.key, c.path, "{}"); r.Code != c.code {
			t.Errorf("%s: %s", c.name, r.Body)
		}
	}
	s.Clock.Add(time.Second)
	if r := s.Call(apitest.KeyA, list, "{}"); r.Code != "" {
		t.Errorf("a second later: %s", r.Body)
	}
}

// TestRefusedCallsOfOperationCount: a call that the limit refused does not count, but a call that passed the limit
// counts even if it is refused later.
func TestRefusedCallsOfOperationCount(t *testing.T) {
	t.Parallel()
	s := withToys(apitest.StartWith(t, ratelimit.Rate{PerSecond: 2}, toys()))
	for i, code := range []string{"ResourceNotFound", "InvalidParameter", "RequestTooFrequently"} {
		if r := s.Call(apitest.KeyA, info, []string{`{"id":7}`, `{}`, `{"id":7}`}[i]); r.Code != code {
			t.Errorf("%d: %s", i, r.Body)
		}
	}
}

func TestOperationsOwnLimit(t *testing.T) {
	t.Parallel()
	slow := toys()
	for i := range slow {
		if slow[i].Path == list {
			slow[i].Rate = ratelimit.Rate{PerSecond: 1, PerMinute: 60}
		}
	}
	run := func(rate ratelimit.Rate) (codes []string) {
		s := withToys(apitest.StartWith(t, rate, slow))
		for range 2 {
			codes = append(codes, s.Call(apitest.KeyA, list, "{}").Code)
		}
		return codes
	}
	if got := run(documented); got[0] != "" || got[1] == "" {
		t.Errorf("beside the documented limit: %q", got)
	}
	if got := run(ratelimit.Rate{}); got[0] != "" || got[1] != "" {
		t.Errorf("a deployment without limits: %q", got)
	}
}

func TestWithoutLimitsThereAreNoHeaders(t *testing.T) {
	t.Parallel()
	s := withToys(apitest.Start(t, toys()))
	if h := headers(s.Call(apitest.KeyA, list, "{}")); h != (rateHeaders{}) {
		t.Errorf("%+v", h)
	}
}

func TestQuietAccountsAreForgotten(t *testing.T) {
	t.Parallel()
	s := withToys(apitest.StartWith(t, documented, toys()))
	s.Call(apitest.KeyA, list, "{}")
	s.Call("guess", list, "{}")
	s.Clock.Add(2 * time.Minute)
	if rates, guesses := api.Remembered(s.Frame); rates != 0 || guesses != 0 {
		t.Errorf("%d accounts and %d addresses are remembered", rates, guesses)
	}
}
