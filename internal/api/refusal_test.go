package api_test

import (
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"tocsin/internal/api"
	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/platform/fault"
)

// TestEveryRefusalForFrequencyHasRetryAfter: whether the fault knows the time or not, and for pages as well.
func TestEveryRefusalForFrequencyHasRetryAfter(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err  error
		want string
	}{
		{fault.TooSoon(90*time.Second, "wait"), "90"},
		{fault.TooSoon(1500*time.Millisecond, "wait"), "2"},
		{fault.TooSoon(-time.Second, "wait"), "60"},
		{fault.New(fault.TooFrequent, "wait"), "60"},
		{fault.New(fault.Unavailable, "wait"), "5"},
		{fault.New(fault.Conflict, "wait"), ""},
	} {
		s := apitest.Start(t, []api.Op{{Path: echo, Doc: "Refuses.", Example: `{}`,
			Do: api.Do(func(*api.Call, nothing) (api.Empty, error) { return api.Empty{}, c.err })}})
		if got := s.Call(apitest.KeyA, echo, `{}`).Header.Get("Retry-After"); got != c.want {
			t.Errorf("%#v: Retry-After %q, want %q", c.err, got, c.want)
		}
	}
	s := apitest.Start(t, toys())
	w := httptest.NewRecorder()
	if err := s.Frame.Send(w, s.Request("GET", "/", ""), auth.Principal{}, http.StatusTooManyRequests, nil); err != nil || w.Header().Get("Retry-After") != "60" {
		t.Errorf("a page: %v, %v", err, w.Header())
	}
}

// TestMessagesAreShortAndPlain: whatever is wrong with a body, the message has at most 1,500 characters and no word of the
// program's libraries.
func TestMessagesAreShortAndPlain(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, append(toys(), api.Op{Path: "/toy/long", Doc: "Refuses at length.", Example: `{}`,
		Do: api.Do(func(*api.Call, nothing) (api.Empty, error) {
			return api.Empty{}, fault.Invalid("name", "%s, got %s", strings.Repeat("é", 5000), "this")
		})}))
	library := regexp.MustCompile(`EOF|json:|jsontext|strconv|unmarshal|Unmarshal|goroutine|reflect|panic`)
	bodies := []string{`{`, `{"name`, `{"name":`, `{"name":"a`, `[`, `"`, `{"a":1}{`, `nul`, `{"count":1e999}`, `{"name":1,}`, `{"name":"\u12"}`, "\xff", `{"at":"now"}`}
	for _, body := range append(bodies, strings.Repeat("[", 1900)) {
		r := s.Call(apitest.KeyA, echo, body)
		if r.Status != 400 || library.MatchString(r.Message) || utf8.RuneCountInString(r.Message) > 1500 {
			t.Errorf("%.40s: %d %s", body, r.Status, r.Message)
		}
	}
	r := s.Call(apitest.KeyA, "/toy/long", `{}`)
	if n := utf8.RuneCountInString(r.Message); n > 1500 || n < 1490 || !strings.Contains(r.Message, "parameter name") || !strings.HasSuffix(r.Message, "got this.") {
		t.Errorf("%d characters: %s", n, r.Message)
	}
}
