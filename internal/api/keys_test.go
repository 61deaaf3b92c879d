package api_test

import (
	"fmt"
	"net/http"
	"net/netip"
	"strconv"
	"testing"
	"time"

	"tocsin/internal/api"
	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
)

const (
	millisecond = time.Millisecond
	keyC        = "tk_another_of_account_a_0123456789abcde"
)

// bearer calls with a key in the header, and with a key in the query if query is not empty.
func bearer(s *apitest.Server, authorization, query string) apitest.Reply {
	target := list
	if query != "" {
		target += "?app_key=" + query
	}
	r := s.Request("POST", target, "")
	r.Header.Set("Authorization", authorization)
	return s.Do(r)
}

func TestWhereKeyIs(t *testing.T) {
	t.Parallel()
	s := withToys(apitest.Start(t, toys()))
	for _, c := range []struct{ name, header, query, code string }{
		{"header", "Bearer " + apitest.KeyA, "", ""},
		{"scheme in another case", "bearer  " + apitest.KeyA + " ", "", ""},
		{"query", "", apitest.KeyA, ""},
		{"query wins when good", "Bearer wrong", apitest.KeyA, ""},
		{"query wins when wrong", "Bearer " + apitest.KeyA, "wrong", "Unauthorized"},
		{"another scheme", "Basic " + apitest.KeyA, "", "Unauthorized"},
		{"no scheme", apitest.KeyA, "", "Unauthorized"},
		{"neither", "", "", "Unauthorized"},
		{"no key behind the scheme", "Bearer ", "", "Unauthorized"},
		{"part of a key", "Bearer " + apitest.KeyA[:20], "", "Unauthorized"},
		{"a key and more", "Bearer " + apitest.KeyA + "x", "", "Unauthorized"},
	} {
		if r := bearer(s, c.header, c.query); r.Code != c.code {
			t.Errorf("%s: %d %s", c.name, r.Status, r.Body)
		}
	}
	if r := s.Do(s.Request("POST", list+"?app_key=&app_key="+apitest.KeyA, "")); r.Code != "Unauthorized" {
		t.Errorf("an empty key before a good one: %s", r.Body)
	}
}

// TestKeysThatEnd ends a key's validity in every possible way, by SQL as another process would. The key must be refused
// within a second of the clock, and the error must be the same each time.
func TestKeysThatEnd(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, end, mend string }{
		{"disabled", `UPDATE app_key SET status = 'disabled' WHERE person_id = $1`, `UPDATE app_key SET status = 'enabled' WHERE person_id = $1`},
		{"deleted", `DELETE FROM app_key WHERE person_id = $1`, ""},
		{"person deleted", `UPDATE person SET status = 'deleted' WHERE person_id = $1`, `UPDATE person SET status = 'enabled' WHERE person_id = $1`},
		{"person pending", `UPDATE person SET status = 'pending' WHERE person_id = $1`, `UPDATE person SET status = 'enabled' WHERE person_id = $1`},
		{"person gone", `DELETE FROM person WHERE person_id = $1`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := withToys(apitest.Start(t, toys()))
			call := func() string { return s.Call(apitest.KeyReader, list, "{}").Code }
			if code := call(); code != "" {
				t.Fatalf("before: %s", code)
			}
			s.Exec(c.end, apitest.Reader)
			for range 9 { // used all the time: a key in use must be read again as well
				s.Clock.Add(100 * millisecond)
				call()
			}
			s.Clock.Add(99 * millisecond)
			if code := call(); code != "Unauthorized" {
				t.Errorf("within a second: %q", code)
			}
			if c.mend == "" {
				return
			}
			s.Exec(c.mend, apitest.Reader)
			if code := call(); code != "" {
				t.Errorf("restored: %q", code)
			}
		})
	}
}

func TestKeysExpire(t *testing.T) {
	t.Parallel()
	s := withToys(apitest.Start(t, toys()))
	end := apitest.Now.Unix() + 10
	s.Exec(`UPDATE app_key SET expires_at = $1 WHERE person_id = $2`, end, apitest.Reader)
	for _, c := range []struct {
		at   time.Time
		code string
	}{
		{apitest.Now, ""},
		{time.Unix(end, 0).Add(-time.Nanosecond), ""},
		{time.Unix(end, 0), "Unauthorized"},
		{time.Unix(end, 0).Add(time.Hour), "Unauthorized"},
		{apitest.Now, ""}, // the clock was set back
	} {
		s.Clock.Set(c.at)
		if r := s.Call(apitest.KeyReader, list, "{}"); r.Code != c.code {
			t.Errorf("at %s: %s", c.at, r.Body)
		}
	}
}

func TestWhatKeyMay(t *testing.T) {
	t.Parallel()
	s := withToys(apitest.Start(t, toys()))
	s.Exec(`INSERT INTO toy (account_id, toy_id, toy_name) VALUES ($1, 1, 'ball')`, apitest.AccountA)
	may := func(key, path string) bool {
		t.Helper()
		body := map[string]string{echo: minimal, info: `{"id":1}`, secure: `{}`, create: `{"name":"ball"}`, list: `{}`}[path]
		r := s.Call(key, path, body)
		if r.Code != "" && r.Code != "AccessDenied" {
			t.Fatalf("%s: %s", path, r.Body)
		}
		return r.Code == ""
	}
	expect := func(name string, got, want bool) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %t", name, got)
		}
	}
	expect("no role, an operation for any key", may(apitest.KeyNothing, list), true)
	expect("no role, an operation that needs a permission", may(apitest.KeyNothing, info), false)
	expect("the owner needs no role", may(apitest.KeyA, secure), true)

	s.Grant(auth.SchedulesRead)
	expect("read", may(apitest.KeyReader, info), true)
	expect("either of two", may(apitest.KeyReader, echo), true)
	expect("read is not manage", may(apitest.KeyReader, create), false)
	expect("another resource", may(apitest.KeyReader, secure), false)

	s.Grant(auth.SchedulesManage)
	expect("manage", may(apitest.KeyReader, create), true)
	expect("manage includes read", may(apitest.KeyReader, info), true)

	s.Grant(auth.SchedulesManage, auth.DatasourcesManage)
	narrow := func(list string) {
		s.Exec(`UPDATE app_key SET permissions = $1 WHERE person_id = $2`, list, apitest.Reader)
		s.Clock.Add(time.Second)
	}
	narrow(`["Schedules Read (on-call)"]`)
	expect("narrowed to read: read", may(apitest.KeyReader, info), true)
	expect("narrowed to read: manage", may(apitest.KeyReader, create), false)
	expect("narrowed to read: another", may(apitest.KeyReader, secure), false)
	narrow(`["Schedules Manage (on-call)","Incidents Manage (on-call)"]`)
	expect("narrowed to manage: read", may(apitest.KeyReader, info), true)
	expect("narrowed to manage: another", may(apitest.KeyReader, secure), false)
	narrow(`["Alerting Rules Manage (monit)"]`)
	expect("narrowed to what the person has not", may(apitest.KeyReader, info), false)
	narrow(`[]`)
	expect("narrowed to nothing: any key", may(apitest.KeyReader, list), true)
	expect("narrowed to nothing: read", may(apitest.KeyReader, info), false)

	s.Exec(`UPDATE app_key SET permissions = '["Schedules Read (on-call)"]' WHERE person_id = $1`, apitest.OwnerA)
	s.Clock.Add(time.Second)
	expect("an owner's narrowed key: read", may(apitest.KeyA, info), true)
	expect("an owner's narrowed key: manage", may(apitest.KeyA, create), false)
}

func TestAnotherAccountsToysAreNotThere(t *testing.T) {
	t.Parallel()
	s := withToys(apitest.Start(t, toys()))
	s.Exec(`INSERT INTO toy (account_id, toy_id, toy_name) VALUES ($1, 1, 'ball')`, apitest.AccountA)
	if r := s.Call(apitest.KeyB, info, `{"id":1}`); r.Code != "ResourceNotFound" || r.Status != 404 {
		t.Errorf("%s", r.Body)
	}
}

// TestGuessing tries 300 unknown keys in a minute from one address, which is the limit, and then more.
func TestGuessing(t *testing.T) {
	t.Parallel()
	proxy := netip.MustParsePrefix("127.0.0.0/8")
	s := withToys(apitest.StartConfig(t, func(c *api.Config) { c.Proxies = []netip.Prefix{proxy} }, toys()))
	from := func(address, key string) apitest.Reply {
		r := s.Request("POST", list, "")
		r.Header.Set("X-Forwarded-For", address)
		if key != "" {
			r.Header.Set("Authorization", "Bearer "+key)
		}
		return s.Do(r)
	}
	const here, there = "203.0.113.7", "203.0.113.8"
	for i := range 300 {
		if r := from(here, "guess-"+strconv.Itoa(i)); r.Code != "Unauthorized" {
			t.Fatalf("guess %d: %s", i, r.Body)
		}
	}
	s.Clock.Add(20 * time.Second)
	slowed := from(here, "one-more")
	if slowed.Code != "RequestTooFrequently" || slowed.Status != 429 || slowed.Header.Get("Retry-After") != "40" {
		t.Errorf("guess 301: %s, Retry-After %q", slowed.Body, slowed.Header.Get("Retry-After"))
	}
	for _, c := range []struct{ name, address, key, code string }{
		{"a good key from there", here, apitest.KeyA, ""},
		{"no key at all", here, "", "Unauthorized"},
		{"another address", there, "guess", "Unauthorized"},
	} {
		if r := from(c.address, c.key); r.Code != c.code {
			t.Errorf("%s: %s", c.name, r.Body)
		}
	}
	s.Clock.Add(40 * time.Second)
	if r := from(here, "one-more"); r.Code != "Unauthorized" {
		t.Errorf("a minute after the first: %s", r.Body)
	}
}

// TestOneNetworkIsOneGuesser: one subscriber line commonly has a whole /64 of addresses.
func TestOneNetworkIsOneGuesser(t *testing.T) {
	t.Parallel()
	proxies := []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	s := withToys(apitest.StartConfig(t, func(c *api.Config) { c.Proxies = proxies }, toys()))
	var last apitest.Reply
	for i := range 301 {
		r := s.Request("POST", list, "")
		r.Header = http.Header{"X-Forwarded-For": {fmt.Sprintf("2001:db8::%x", i+1)}, "Authorization": {"Bearer guess"}}
		last = s.Do(r)
	}
	if last.Code != "RequestTooFrequently" {
		t.Errorf("%s", last.Body)
	}
}

func TestLastUseIsStored(t *testing.T) {
	t.Parallel()
	s := withToys(apitest.Start(t, toys()))
	s.Key(apitest.AccountA, apitest.Reader, keyC)
	s.Clock.Add(time.Minute)
	s.Call(keyC, list, "{}")
	if err := s.Keys.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	var used []int64
	s.Read(func(tx *tx) (err error) {
		used, err = allOf[int64](tx, `SELECT last_used_at FROM app_key ORDER BY last_used_at DESC`)
		return err
	})
	if used[0] != apitest.Now.Unix()+60 || used[1] != 0 {
		t.Errorf("%v", used)
	}
}
