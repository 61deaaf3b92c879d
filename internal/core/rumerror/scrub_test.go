package rumerror_test

import (
	"strings"
	"testing"

	"tocsin/internal/core/rumerror"
)

func TestScrubHidesWhatIsPrivate(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, want string }{
		{"login failed for jane.doe+x@example.co.uk", "login failed for <email>"},
		{"reset of jane%40example.com failed", "reset of <email> failed"},
		{"password=hunter2 is wrong", "password=<hidden> is wrong"},
		{`{"password":"hun ter2","user_token": 'abcdef'}`, `{"password":<hidden>,"user_token": <hidden>}`},
		{"the password is hunter2!", "the password is <hidden>"},
		{"Authorization: Bearer abc.def-123", "Authorization: <hidden> <token>"},
		{"got Bearer abcdef123 instead", "got Bearer <token> instead"},
		{"jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln expired", "jwt <token> expired"},
		{"card 4111 1111 1111 1111 declined", "card <card> declined"},
		{"card 4111-1111-1111-1111 declined", "card <card> declined"},
		{"7 4111 1111 1111 1111 12 declined", "7 <card> 12 declined"},
		{"order 4111111111111112 not found", "order 4111111111111112 not found"},
		{"GET https://user:pass@shop.example/reset?email=a@b.cc&t=1 failed", "GET https://shop.example/reset failed"},
		{"session 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b expired", "session <token> expired"},
		{"key sk_live_51H8xYzAbCdEfGhIjKlMnOp refused", "key <token> refused"},
	} {
		if got := rumerror.Scrub(c.text); got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}

func TestScrubLeavesPlainMessages(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"TypeError: Cannot read properties of undefined (reading 'price')", "Unexpected token < in JSON at position 0", "Request failed with status code: 404",
		"Loading chunk 17 failed", "Order A1000 not found", "1.4.2", "token expired", "passing is off", "ValidationError: Invalid quantity 0 for item SKU-9981",
		"getUserAccountInformationFromServer is not a function", "payment gateway said Error: gateway timeout", "https://shop.example.com/assets/app.js:1:273",
	} {
		if got := rumerror.Scrub(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func FuzzScrub(f *testing.F) {
	f.Add("a@b.cc", "x")
	f.Fuzz(func(t *testing.T, before, after string) {
		if got := rumerror.Scrub(before + " jane@example.com 4111111111111111 " + after); strings.Contains(got, "jane@example.com") || strings.Contains(got, "4111111111111111") {
			t.Errorf("%q", got)
		}
	})
}
