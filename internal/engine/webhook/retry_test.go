package webhook

import (
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"tocsin/internal/core/sentence"
	"tocsin/internal/platform/egress"
)

var noon = time.Date(2026, 4, 13, 12, 0, 0, 0, time.UTC)

func TestClassify(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]string{200: delivered, 201: delivered, 204: delivered, 299: delivered, 301: failed, 304: failed, 400: failed, 401: failed, 404: failed, 410: failed,
		408: waiting, 429: waiting, 500: waiting, 501: waiting, 503: waiting, 599: waiting} {
		if v := classify(egress.Attempt{Status: status, Header: http.Header{"Retry-After": {"7"}}}, nil, noon); v.status != want || (v.after == 7*time.Second) != (want == waiting) || (v.why == "") != (want == delivered) {
			t.Errorf("%d: %+v", status, v)
		}
	}
	for phase, want := range map[egress.Phase]string{egress.Refused: failed, egress.Malformed: failed, egress.Dial: waiting, egress.TLS: waiting,
		egress.TimeoutConnect: waiting, egress.TimeoutHeaders: waiting, egress.EOF: waiting, egress.Other: waiting} {
		if v := classify(egress.Attempt{}, &egress.Failure{Phase: phase, Why: sentence.Raw("why")}, noon); v.status != want || v.why != "why" {
			t.Errorf("%s: %+v", phase, v)
		}
	}
	cut := &egress.Failure{Phase: egress.TimeoutBody, Why: sentence.Raw("too slow")}
	for status, want := range map[int]string{200: delivered, 404: failed, 500: waiting} {
		if v := classify(egress.Attempt{Status: status}, cut, noon); v.status != want {
			t.Errorf("a cut-off %d: %+v", status, v)
		}
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{"": 0, "0": 0, "120": 2 * time.Minute, "-5": 0, "soon": 0, "1.5": 0, "99999999": maxAge, "99999999999999999999": 0,
		"Mon, 13 Apr 2026 12:00:30 GMT": 30 * time.Second, "Mon, 13 Apr 2026 11:00:00 GMT": 0, "Mon, 13 Apr 2099 11:00:00 GMT": maxAge} {
		if got := retryAfter(text, noon); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

func FuzzRetryAfter(f *testing.F) {
	f.Add("120")
	f.Add("Mon, 13 Apr 2026 12:00:30 GMT")
	f.Fuzz(func(t *testing.T, text string) {
		if got := retryAfter(text, noon); got < 0 || got > maxAge {
			t.Errorf("%q: %v", text, got)
		}
	})
}

// A message that is not accepted is tried between 15 and 40 times, with delays from about 4 seconds to 2½ hours. The last
// attempt is within a day, and not long before its end.
func TestMessagesAreRetriedForDay(t *testing.T) {
	t.Parallel()
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 0))
		now, tries := noon, 1
		for {
			due, ok := next(conclusion{status: waiting}, noon, now, r.Float64())
			if wait := due.Sub(now); wait < 3*time.Second || wait > 150*time.Minute {
				t.Fatalf("seed %d: a pause of %v", seed, wait)
			}
			if !ok {
				break
			}
			now = due
			tries++
		}
		if tries < 15 || tries > 40 || now.After(noon.Add(maxAge)) || now.Before(noon.Add(maxAge-150*time.Minute)) {
			t.Errorf("seed %d: %d tries, the last after %v", seed, tries, now.Sub(noon))
		}
	}
	if due, ok := next(conclusion{status: waiting, after: time.Hour}, noon, noon, 0); !ok || due != noon.Add(time.Hour) {
		t.Errorf("asked to wait an hour: %v %v", due, ok)
	}
	if due, ok := next(conclusion{status: waiting, after: maxAge}, noon, noon.Add(time.Second), 0); !ok || due != noon.Add(maxAge) {
		t.Errorf("asked to wait longer than it lives, it is tried once more at its end: %v %v", due, ok)
	}
	if _, ok := next(conclusion{status: waiting, after: maxAge}, noon, noon.Add(maxAge), 0); ok {
		t.Error("it is tried after its end")
	}
	for _, status := range []string{delivered, failed} {
		if _, ok := next(conclusion{status: status}, noon, noon, 0); ok {
			t.Errorf("%s is tried again", status)
		}
	}
}

func TestSlotsOfEndpoint(t *testing.T) {
	t.Parallel()
	for failures, want := range map[int64]int{0: 16, 9: 16, 10: 1, 50: 1} {
		if got := (&endpoint{failures: failures}).slots(); got != want {
			t.Errorf("%d failures: %d", failures, got)
		}
	}
}

func TestSubscriptionMatches(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		s       subscription
		kind    string
		event   string
		channel int64
		want    bool
	}{
		{subscription{webhookType: "alert"}, "alert", "a_merge", 7, true},
		{subscription{webhookType: "alert"}, "incident", "i_new", 7, false},
		{subscription{webhookType: "incident"}, "incident", "i_new", 0, true},
		{subscription{webhookType: "alert", channels: []int64{7, 8}}, "alert", "a_new", 8, true},
		{subscription{webhookType: "alert", channels: []int64{7, 8}}, "alert", "a_new", 9, false},
		{subscription{webhookType: "alert", channels: []int64{7, 8}}, "alert", "a_new", 0, false},
		{subscription{webhookType: "alert", events: []string{"a_new"}}, "alert", "a_new", 9, true},
		{subscription{webhookType: "alert", events: []string{"a_new"}}, "alert", "a_close", 9, false},
		{subscription{webhookType: "alert", events: []string{"a_update"}}, "alert", "a_close", 9, true},
		{subscription{webhookType: "alert", events: []string{"a_close"}}, "alert", "a_update", 9, false},
		{subscription{webhookType: "alert", events: []string{"a_new"}, channels: []int64{7}}, "alert", "a_new", 9, false},
	} {
		if got := c.s.matches(c.kind, c.event, c.channel, nil); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

func TestShownHeadersAreJSON(t *testing.T) {
	t.Parallel()
	text, err := shown(http.Header{"B": {"1", "2"}, "A": {"\xff\"", ""}}, func(name, value string) string { return strings.ToLower(name) + value })
	if err != nil || text != `{"A":"a�\", ","B":"b1, 2"}` {
		t.Errorf("%s %v", text, err)
	}
}
