package rum_test

import (
	"fmt"
	"testing"
	"time"

	"tocsin/internal/api/apitest"
	"tocsin/internal/platform/db"
	"tocsin/internal/rum"
)

const rotatePath = "/rum/application/token/rotate"

func TestTokenRotate(t *testing.T) {
	t.Parallel()
	s, keyring := start(t)
	private := app()
	private.IsPrivate, private.TeamID = true, 7
	s.Write(func(tx *db.Tx) error {
		return rum.LoadApplications(tx, keyring, apitest.AccountA, []rum.Application{web(), private})
	})
	at := func(rest string) string { return fmt.Sprintf(`{"application_id": %q%s}`, web().ApplicationID, rest) }
	works := func(token string, want bool) {
		t.Helper()
		s.Write(func(tx *db.Tx) error {
			a, found, err := rum.ByToken(tx, token, s.Clock.Now())
			if found != want || found && a.ApplicationID != web().ApplicationID {
				t.Errorf("the token works: %t, want %t", found, want)
			}
			return err
		})
	}
	s.Scenarios(t, rotatePath, []apitest.Scenario{
		{Name: "no permission", Key: apitest.KeyReader, Body: at(""), Code: "AccessDenied", Says: []string{"Applications Manage"}},
		{Name: "another account", Key: apitest.KeyB, Body: at(""), Code: "ResourceNotFound"},
		{Name: "too long", Body: at(`, "grace_seconds": 2592001`), Code: "InvalidParameter", Says: []string{"grace_seconds", "2592000"}},
		{Name: "negative", Body: at(`, "grace_seconds": -1`), Code: "InvalidParameter", Says: []string{"grace_seconds"}},
		{Name: "unknown", Body: `{"application_id": "x"}`, Code: "ResourceNotFound"},
	})
	works(token, true)
	type reply struct {
		ClientToken   string `json:"client_token"`
		OldTokenUntil int64  `json:"old_token_until"`
	}
	var first, second reply
	s.Call(apitest.KeyA, rotatePath, at(`, "grace_seconds": 3600`)).Into(&first)
	var shown rum.Application
	s.Call(apitest.KeyA, infoPath, at("")).Into(&shown)
	if shown.ClientToken != first.ClientToken || shown.OldTokenUntil != s.Clock.Now().Add(time.Hour).UnixMilli() || first.OldTokenUntil != shown.OldTokenUntil {
		t.Errorf("%+v, %+v", shown, first)
	}
	works(token, true)
	works(first.ClientToken, true)
	s.Call(apitest.KeyA, updatePath, at(`, "application_name": "Shop"`)) // changes neither token
	works(token, true)
	s.Clock.Add(time.Hour)
	works(token, false)
	s.Call(apitest.KeyA, rotatePath, at("")).Into(&second)
	works(first.ClientToken, false)
	works(second.ClientToken, true)
	if second.OldTokenUntil != 0 || second.ClientToken == first.ClientToken {
		t.Errorf("%+v", second)
	}
	works("", false)
}

func TestTokenRotateGolden(t *testing.T) {
	t.Parallel()
	s, keyring := start(t)
	s.Write(func(tx *db.Tx) error {
		return rum.LoadApplications(tx, keyring, apitest.AccountA, []rum.Application{web()})
	})
	s.Converse(t, []apitest.Turn{{
		Path: rotatePath, Body: `{"application_id": "eWbr4xk3ZRnLabRa6unqwD", "grace_seconds": 86400}`, Keep: map[string]string{"new": "client_token"},
		Golden: "rum_application_token_rotate",
	}})
}

func TestOriginsAreChecked(t *testing.T) {
	t.Parallel()
	s, keyring := start(t)
	s.Write(func(tx *db.Tx) error {
		return rum.LoadApplications(tx, keyring, apitest.AccountA, []rum.Application{web()})
	})
	at := func(origin string) string {
		return fmt.Sprintf(`{"application_id": %q, "allowed_origins": ["https://shop.example.com", %q]}`, web().ApplicationID, origin)
	}
	var scenarios []apitest.Scenario
	for _, origin := range []string{"", "shop.example.com", "https://shop.example.com/", "https://Shop.example.com", "https://*", "https://a.*.com", "https://u@x.com", "https://x.com?y", "https://x y.com", "*"} {
		scenarios = append(scenarios, apitest.Scenario{Name: origin, Body: at(origin), Code: "InvalidParameter", Says: []string{"allowed_origins[1]"}})
	}
	for _, origin := range []string{"https://*.example.com", "http://localhost:3000", "capacitor://localhost", "https://[::1]:8080"} {
		scenarios = append(scenarios, apitest.Scenario{Name: origin, Body: at(origin)})
	}
	s.Scenarios(t, updatePath, scenarios)
}

func TestAllows(t *testing.T) {
	t.Parallel()
	a := rum.Application{AllowedOrigins: []string{"https://shop.example.com", "https://*.example.org"}}
	for origin, want := range map[string]bool{
		"https://shop.example.com": true, "http://shop.example.com": false, "https://shop.example.com:8443": false, "https://shop.example.com.evil.net": false,
		"https://a.b.example.org": true, "https://example.org": false, "https://evilexample.org": false, "": false, "null": false, "https://SHOP.example.com": true,
	} {
		if a.Allows(origin) != want {
			t.Errorf("%q: %t", origin, !want)
		}
	}
	if open := (&rum.Application{}); !open.Allows("") || !open.Allows("https://x.com") {
		t.Error("without origins any page may send")
	}
}
