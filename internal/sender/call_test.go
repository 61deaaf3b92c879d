package sender_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"tocsin/internal/core/sentence"
	"tocsin/internal/platform/egress"
	"tocsin/internal/sender"
)

type word struct {
	Code int    `json:"code"`
	Text string `json:"text"`
}

func (w *word) Err() *sender.Error {
	if w.Code == 0 {
		return nil
	}
	return sender.Refused(w.Code, w.Text, w.Code == 7)
}

// FuzzJudgeHides: whatever a service replies, no secret of the chat is shown, nor the path of its address.
func FuzzJudgeHides(f *testing.F) {
	chat := sender.Chat{Token: "https://chat.example/hook/abcdefgh12?key=ijklmnop34&x=1", VerifyToken: "verify me", SignSecret: "sign&me"}
	f.Add(404, `no hook /hook/abcdefgh12`)
	f.Add(200, `{"code":1,"text":"verify\nme or sign%26me, says ijklmnop34"}`)
	f.Add(429, strings.Repeat("x", 195)+"abcdefgh12")
	f.Fuzz(func(t *testing.T, status int, body string) {
		if strings.Contains(body, "*") {
			t.Skip("what hides must not be in it")
		}
		receipt, err := sender.Judge(&word{}, chat.Secrets())(egress.Attempt{Status: status, Body: []byte(body)}, nil)
		shown := receipt.Reply
		if err != nil {
			shown += "\x00" + err.Error()
		}
		for _, secret := range []string{chat.Token, "abcdefgh12", "ijklmnop34", "verify me", "sign&me", "sign%26me"} {
			if strings.Contains(shown, secret) {
				t.Errorf("%q is shown: %s", secret, shown)
			}
		}
	})
}

func TestJudgeCombinesFailures(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
		want   string
	}{
		{200, `{}`, "<nil> false"},
		{200, `not JSON`, "<nil> false"},
		{200, `{"code":1,"text":"no"}`, "it refused with 1: no false"},
		{200, `{"code":7,"text":"later"}`, "it refused with 7: later true"},
		{400, `{"code":7}`, `it answered 400 Bad Request: {"code":7} true`},
		{500, `{"code":1}`, `it answered 500 Internal Server Error: {"code":1} true`},
	} {
		_, err := sender.Judge(&word{}, nil)(egress.Attempt{Status: c.status, Body: []byte(c.body)}, nil)
		if got := fmt.Sprint(err, sender.Retry(err)); got != c.want {
			t.Errorf("%d %s: %s, want %s", c.status, c.body, got, c.want)
		}
	}
	_, err := sender.Judge(&word{Code: 1}, []string{"chat.example"})(egress.Attempt{}, &egress.Failure{Phase: "dial", Why: sentence.Raw("chat.example cannot be reached")})
	if fmt.Sprint(err, sender.Retry(err)) != "*** cannot be reached true" {
		t.Error(err)
	}
}

func TestRetryAfter(t *testing.T) {
	const date = "Sat, 21 Nov 2026 10:00:00 GMT"
	for asked, want := range map[string]time.Duration{
		"": 0, "7": 7 * time.Second, "0": 0, "-5": 0, "soon": 0, "7200": time.Hour, "9223372036854775807": time.Hour, "99999999999999999999": 0,
		"Sat, 21 Nov 2026 10:01:30 GMT": 90 * time.Second, "Sat, 21 Nov 2026 09:00:00 GMT": 0, "Sun, 22 Nov 2026 10:00:00 GMT": time.Hour,
	} {
		_, err := sender.Of(egress.Attempt{Status: 503, Header: http.Header{"Retry-After": {asked}, "Date": {date}}}, nil)
		var failed *sender.Error
		if !errors.As(err, &failed) || failed.After != want {
			t.Errorf("%q: %+v, want %s", asked, err, want)
		}
	}
	_, err := sender.Of(egress.Attempt{Status: 429, Header: http.Header{"Retry-After": {"Sat, 21 Nov 2026 10:01:30 GMT"}}}, nil)
	if failed := new(sender.Error); !errors.As(err, &failed) || failed.After != 0 || !failed.Retry {
		t.Errorf("a moment without a date: %+v", failed)
	}
}

func TestAddresses(t *testing.T) {
	for address, want := range map[string]string{"https://a/b?c=%2F&n=0": "https://a/b?c=%2F&n=1", "https://a": "https://a?n=1", "https://a b": "https://a b"} {
		if got := sender.With(address, url.Values{"n": {"1"}}); got != want {
			t.Errorf("%s: %s, want %s", address, got, want)
		}
	}
	if got := sender.Base("", "https://own") + sender.Base("https://set//", "https://own"); got != "https://ownhttps://set" {
		t.Error(got)
	}
	if _, err := (sender.Call{URL: "no URL"}).Do(context.Background(), egress.New(egress.Policy{}), nil); err == nil || sender.Retry(err) {
		t.Error(err)
	}
}

// TestAddLeavesOutOnlyRefused compares with a model: all are added but those refused, who are named.
func TestAddLeavesOutOnlyRefused(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	for range 300 {
		ids, banned := []string{}, []string{}
		for i := range r.IntN(20) {
			ids = append(ids, fmt.Sprint(i))
			if r.IntN(4) == 0 {
				banned = append(banned, fmt.Sprint(i))
			}
		}
		in := []string{}
		refused, err := sender.Add(ids, 1+r.IntN(6), func(lot []string) error {
			if slices.ContainsFunc(lot, func(id string) bool { return slices.Contains(banned, id) }) {
				return &sender.Error{Message: sentence.Raw("no")}
			}
			in = append(in, lot...)
			return nil
		})
		if slices.Sort(in); len(in)+len(banned) != len(ids) || !slices.Equal(refused, banned) && len(refused)+len(banned) > 0 || (err != nil) != (len(ids) > 0 && len(banned) == len(ids)) {
			t.Fatalf("seed %d: of %v but %v: %v in, %v refused, %v", seed, ids, banned, in, refused, err)
		}
	}
}

func TestOpenStopsAfterMaxTries(t *testing.T) {
	all := strings.Split("abcdefghijklmnopqrstuvwxyz", "")
	for name, c := range map[string]struct {
		fails func(tries int) error
		tries int
		rest  string
		err   string
	}{
		"at once":       {func(int) error { return nil }, 1, "bcdefghijklmnopqrstuvwxyz", ""},
		"at the third":  {func(n int) error { return map[bool]error{true: &sender.Error{Message: sentence.Raw("no")}}[n < 3] }, 3, "abdefghijklmnopqrstuvwxyz", ""},
		"never":         {func(n int) error { return &sender.Error{Message: sentence.Raw(fmt.Sprint("no ", n))} }, 10, "", "no 1"},
		"what may heal": {func(n int) error { return &sender.Error{Message: sentence.Raw(fmt.Sprint("busy ", n)), Retry: n == 2} }, 2, "", "busy 2"},
	} {
		tries, lots := 0, slices.Collect(slices.Chunk(all, 1))
		rest, err := sender.Open(all, lots, func([]string) error { tries++; return c.fails(tries) })
		if tries != c.tries || strings.Join(rest, "") != c.rest || c.err != "" && (err == nil || err.Error() != c.err) || c.err == "" && err != nil {
			t.Errorf("%s: %d tries, %v, %v", name, tries, rest, err)
		}
	}
}

func TestFindStopsAtRetryableFailure(t *testing.T) {
	people := []sender.Contact{{Name: "a"}, {Email: "b@example.com"}, {Phone: "+1"}}
	find := func(answers map[string]error) (string, error) {
		ids, _, missing, err := sender.Directory(func(c sender.Contact) (string, error) {
			if err, ok := answers[c.Label()]; ok {
				return "", err
			}
			return "id", nil
		}).Find(people)
		return fmt.Sprint(ids, missing), err
	}
	no, later := &sender.Error{Message: sentence.Raw("no")}, &sender.Error{Retry: true, Message: "later"}
	for _, c := range []struct {
		answers map[string]error
		want    string
		err     error
	}{
		{map[string]error{"a": nil}, "[id] [a]", nil},
		{map[string]error{"a": no, "+1": nil}, "[id] [a +1]", nil},
		{map[string]error{"b@example.com": later}, "[] []", later},
		{map[string]error{"a": no, "b@example.com": no, "+1": no}, "[] [a b@example.com +1]", no},
		{map[string]error{"a": nil, "b@example.com": nil, "+1": nil}, "[] [a b@example.com +1]", nil},
	} {
		if got, err := find(c.answers); got != c.want || !errors.Is(err, c.err) {
			t.Errorf("%v: %s %v, want %s %v", c.answers, got, err, c.want, c.err)
		}
	}
}
