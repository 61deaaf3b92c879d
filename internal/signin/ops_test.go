package signin_test

import (
	"context"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pquerna/otp/totp"

	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/credential"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/secret"
	"tocsin/internal/sender"
	"tocsin/internal/session"
	"tocsin/internal/signin"
)

const phrase = "correct horse battery staple"

// start serves the operations; the owner of account A has a password.
func start(t *testing.T, change ...func(*signin.Config)) *apitest.Server {
	t.Helper()
	var s *apitest.Server
	keyring, err := secret.Open(filepath.Join(t.TempDir(), "keys"), func() time.Time { return apitest.Now })
	if err != nil {
		t.Fatal(err)
	}
	c := signin.Config{Keyring: keyring, Log: slog.New(slog.DiscardHandler), Held: func() string { return "" }}
	for _, set := range change {
		set(&c)
	}
	service := signin.New(c)
	s = apitest.Start(t, service.Ops(), session.Ops(), person.Ops())
	service.DB = s.DB
	s.Write(func(tx *db.Tx) error {
		return credential.SetPassword(tx, apitest.AccountA, apitest.OwnerA, credential.Hash(phrase), s.Clock.Now())
	})
	return s
}

func TestOperations(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Converse(t, []apitest.Turn{
		{Path: "/person/link/create", Body: `{"person_id":2659460982131}`, Keep: map[string]string{"link": "link_path"}, Golden: "person_link_create"},
		{Path: "/person/link/create", Body: `{"person_id":2659460982131,"is_mailed":true}`, Code: "InvalidParameter", Says: []string{"is_mailed"}},
		{Path: "/person/link/create", Body: `{"person_id":5}`, Code: "ResourceNotFound"},
		{Path: "/person/link/create", Key: apitest.KeyB, Body: `{"person_id":2659460982131}`, Code: "ResourceNotFound"},
		{Path: "/person/email/prove", Body: `{}`, Code: "BadRequest", Says: []string{"already"}},
		{Path: "/person/identity/remove", Key: apitest.KeyReader, Body: `{"person_id":2476123212131}`, Code: "AccessDenied"},
		{Path: "/person/identity/remove", Body: `{"person_id":5}`, Code: "ResourceNotFound"},
		{Path: "/person/identity/remove", Body: `{"person_id":2659460982131}`, Data: `{}`, Golden: "person_identity_remove"},
		{Path: "/person/security/info", Body: `{}`, Has: `{"has_password":true,"has_second_factor":false}`, Golden: "person_security_info"},
		{Path: "/person/security/info", Key: apitest.KeyReader, Body: `{"person_id":2476123212131}`, Code: "AccessDenied"},
		{Path: "/person/password/update", Body: `{"password":"wrong password","new_password":"another pass phrase"}`, Code: "InvalidParameter", Says: []string{"password", "wrong"}},
		{Path: "/person/password/update", Body: `{"password":"` + phrase + `","new_password":"` + phrase + `"}`, Code: "InvalidParameter", Says: []string{"new_password"}},
		{Path: "/person/password/update", Body: `{"password":"` + phrase + `","new_password":"short"}`, Code: "InvalidParameter", Says: []string{"new_password", "12"}},
		{Path: "/person/password/update", Key: apitest.KeyReader, Body: `{"password":"x","new_password":"another pass phrase"}`, Code: "BadRequest", Says: []string{"no password"}},
		{Path: "/person/password/update", Body: `{"password":"` + phrase + `","new_password":"another pass phrase"}`, Data: `{}`, Golden: "person_password_update"},
		{Path: "/person/second-factor/confirm", Body: `{"one_time_password":"123456"}`, Code: "BadRequest"},
		{Path: "/person/password/update", Body: `{"password":"x","new_password":"another pass phrase"}`, Code: "InvalidParameter"},
		{Path: "/person/password/update", Body: `{"password":"x","new_password":"another pass phrase"}`, Code: "RequestTooFrequently"},
	})
	s.Clock.Add(2 * time.Minute)
	s.Converse(t, []apitest.Turn{
		{Path: "/person/second-factor/begin", Body: `{"password":"` + phrase + `"}`, Code: "InvalidParameter", Says: []string{"password", "wrong"}},
		{Path: "/person/second-factor/begin", Body: `{"password":"another pass phrase"}`, Keep: map[string]string{"secret": "secret"}, Golden: "person_second-factor_begin"},
	})
	var begun struct{ Secret string }
	s.Call(apitest.KeyA, "/person/second-factor/begin", `{"password":"another pass phrase"}`).Into(&begun)
	code, err := totp.GenerateCode(begun.Secret, s.Clock.Now())
	if err != nil {
		t.Fatal(err)
	}
	keep := map[string]string{}
	for _, n := range strings.Split("0123456789", "") {
		keep[string("abcdefghij"[n[0]-'0'])] = "recovery_codes." + n
	}
	s.Converse(t, []apitest.Turn{
		{Path: "/person/second-factor/confirm", Body: `{"one_time_password":"` + code + `"}`, Keep: keep, Golden: "person_second-factor_confirm"},
		{Path: "/person/second-factor/confirm", Body: `{"one_time_password":"` + code + `"}`, Code: "BadRequest"},
		{Path: "/person/security/info", Body: `{}`, Has: `{"has_second_factor":true,"recovery_codes_left":10}`},
	})
	s.Clock.Add(2 * time.Minute)
	s.Converse(t, []apitest.Turn{
		{Path: "/person/second-factor/begin", Body: `{"password":"another pass phrase"}`, Code: "BadRequest", Says: []string{"already"}},
		{Path: "/person/second-factor/remove", Key: apitest.KeyReader, Body: `{"person_id":2476123212131}`, Code: "AccessDenied"},
		{Path: "/person/second-factor/remove", Body: `{"password":"another pass phrase"}`, Data: `{}`, Golden: "person_second-factor_remove"},
		{Path: "/person/security/info", Body: `{}`, Has: `{"has_second_factor":false,"recovery_codes_left":0}`},
	})
}

// A mail that proves the address is sent once in ten minutes.
func TestProofIsMailed(t *testing.T) {
	t.Parallel()
	s := start(t, func(c *signin.Config) {
		c.PublicURL = "https://tocsin.example.com"
		c.Mail = func(context.Context, string, sender.Message) error { return nil }
	})
	s.Exec(`UPDATE person SET email = 'olga@example.com', email_verified = FALSE WHERE person_id = $1`, apitest.OwnerA)
	s.Converse(t, []apitest.Turn{
		{Path: "/person/email/prove", Body: `{}`, Data: `{}`, Golden: "person_email_prove"},
		{Path: "/person/email/prove", Body: `{}`, Code: "RequestTooFrequently", Says: []string{"10 minutes"}},
	})
	s.Exec(`UPDATE person SET email_verified = TRUE WHERE person_id = $1`, apitest.OwnerA)
	s.Converse(t, []apitest.Turn{{Path: "/person/email/prove", Body: `{}`, Code: "BadRequest", Says: []string{"already"}}})
}

// A link has all permissions of its person and no end but its own, so no key may make one that has less.
func TestLinksAreForWhoCoversPerson(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Grant(auth.MembersManage)
	s.Exec(`INSERT INTO role (account_id, role_id, role_name, permissions) VALUES ($1, 7, 'more', '["Members Manage (org)","Audit Read (org)"]')`, apitest.AccountA)
	key := func(k auth.NewKey) (made string) {
		k.Account, k.Person = apitest.AccountA, apitest.OwnerA
		s.Write(func(tx *db.Tx) (err error) { _, made, err = auth.CreateKey(tx, k, s.Clock.Now().Unix()); return err })
		return made
	}
	narrow, short := key(auth.NewKey{Permissions: []string{"Members Manage (org)"}}), key(auth.NewKey{ExpiresAt: s.Clock.Now().Unix() + 60})
	var invited struct {
		Items []struct {
			MemberID int64 `json:"member_id"`
		}
	}
	s.Call(apitest.KeyReader, "/member/invite", `{"members":[{"email":"a@example.com"}]}`).Into(&invited)
	pending := invited.Items[0].MemberID
	for _, c := range []struct {
		name, key string
		person    int64
		code      string
	}{
		{"the owner for anyone", apitest.KeyA, apitest.Stranger, ""}, {"a narrowed key", narrow, apitest.Stranger, "AccessDenied"},
		{"a key that expires", short, apitest.Stranger, "AccessDenied"}, {"another for the owner", apitest.KeyReader, apitest.OwnerA, "AccessDenied"},
		{"another for oneself", apitest.KeyReader, apitest.Reader, "AccessDenied"}, {"another for who is pending", apitest.KeyReader, pending, ""},
		{"without the permission", apitest.KeyNothing, pending, "AccessDenied"},
	} {
		if r := s.Call(c.key, "/person/link/create", `{"person_id":`+itoa(c.person)+`}`); r.Code != c.code {
			t.Errorf("%s: %q, want %q: %s", c.name, r.Code, c.code, r.Body)
		}
	}
	s.Call(apitest.KeyA, "/member/role/grant", `{"member_id":`+itoa(pending)+`,"role_ids":[7]}`)
	for _, c := range []struct{ path, body string }{
		{"/person/link/create", `{"person_id":` + itoa(pending) + `}`},
		{"/member/info/reset", `{"member_id":` + itoa(pending) + `,"email":"thief@example.com"}`},
	} {
		if r := s.Call(apitest.KeyReader, c.path, c.body); r.Code != "AccessDenied" {
			t.Errorf("for a person with more permissions: %s %q", c.path, r.Code)
		}
	}
}
