package person_test

import (
	"fmt"
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
)

// newKey makes a key in account A and returns its id and secret.
func newKey(s *apitest.Server, k auth.NewKey) (id int64, secret string) {
	k.Account = apitest.AccountA
	s.Write(func(tx *db.Tx) (err error) {
		id, secret, err = auth.CreateKey(tx, k, s.Clock.Now().Unix())
		return err
	})
	return id, secret
}

// expect calls and compares the error code; empty means success.
func expect(t *testing.T, s *apitest.Server, key, path, body, code string) apitest.Reply {
	t.Helper()
	r := s.Call(key, path, body)
	if r.Code != code {
		t.Errorf("%s %s: code %q, want %q: %s", path, body, r.Code, code, r.Body)
	}
	return r
}

// TestKeyNarrowedToNothingLeavesKeysAlone uses narrowed keys of the account's owner, who may act on all keys.
func TestKeyNarrowedToNothingLeavesKeysAlone(t *testing.T) {
	for _, permissions := range [][]string{{}, {"Channels Manage (on-call)"}, {"Members Read (org)"}} {
		s := apitest.Start(t, person.Ops())
		full, _ := newKey(s, auth.NewKey{Person: apitest.OwnerA, Name: "full"})
		theirs, _ := newKey(s, auth.NewKey{Person: apitest.Reader, Name: "theirs"})
		_, narrow := newKey(s, auth.NewKey{Person: apitest.OwnerA, Permissions: permissions})
		expect(t, s, narrow, "/person/app-key/create", `{"key_name":"x"}`, "AccessDenied")
		expect(t, s, narrow, "/person/app-key/create", `{"key_name":"x","permissions":[]}`, "AccessDenied")
		for _, path := range []string{"disable", "enable", "delete", "name/reset"} {
			expect(t, s, narrow, "/person/app-key/"+path, fmt.Sprintf(`{"key_id":%d,"key_name":"x"}`, full), "AccessDenied")
			expect(t, s, narrow, "/person/app-key/"+path, fmt.Sprintf(`{"key_id":%d,"person_id":%d,"key_name":"x"}`, theirs, apitest.Reader), "AccessDenied")
		}
		code := "AccessDenied"
		if len(permissions) > 0 && permissions[0] == "Members Read (org)" {
			code = ""
		}
		expect(t, s, narrow, "/person/app-key/list", `{}`, code)
		expect(t, s, narrow, "/member/info/reset", fmt.Sprintf(`{"member_id":%d,"email":"thief@example.com"}`, apitest.OwnerA), "AccessDenied")
		expect(t, s, narrow, "/member/info/reset", fmt.Sprintf(`{"member_id":%d,"locale":"en-US"}`, apitest.OwnerA), "AccessDenied")
		expect(t, s, narrow, "/member/info", `{}`, "")
	}
}

// TestNarrowedKeyActsWithinItsPermissions uses a key that holds Members Manage and one permission more.
func TestNarrowedKeyActsWithinItsPermissions(t *testing.T) {
	s := apitest.Start(t, person.Ops())
	own := []string{"Members Manage (org)", "Schedules Read (on-call)"}
	self, narrow := newKey(s, auth.NewKey{Person: apitest.OwnerA, Permissions: own})
	full, _ := newKey(s, auth.NewKey{Person: apitest.OwnerA, Name: "full"})
	wider, _ := newKey(s, auth.NewKey{Person: apitest.OwnerA, Permissions: append(own, "Audit Read (org)")})
	within, _ := newKey(s, auth.NewKey{Person: apitest.OwnerA, Permissions: []string{"Schedules Read (on-call)"}})
	nothing, _ := newKey(s, auth.NewKey{Person: apitest.Stranger}) // a full key of a person without any role

	expect(t, s, narrow, "/person/app-key/create", `{"key_name":"x","permissions":["Audit Read (org)"]}`, "AccessDenied")
	expect(t, s, narrow, "/person/app-key/create", `{"key_name":"x","permissions":["Schedules Manage (on-call)"]}`, "AccessDenied")
	var made struct{ Key string }
	expect(t, s, narrow, "/person/app-key/create", `{"key_name":"x"}`, "").Into(&made)
	var me struct{ Permissions []string }
	s.Call(made.Key, "/member/info", `{}`).Into(&me)
	if fmt.Sprint(me.Permissions) != fmt.Sprint([]string{"Schedules Read (on-call)", "Members Read (org)", "Members Manage (org)"}) {
		t.Errorf("the key that a narrowed key created has %q", me.Permissions)
	}
	for _, path := range []string{"disable", "enable", "name/reset", "delete"} {
		for _, key := range []int64{full, wider} {
			expect(t, s, narrow, "/person/app-key/"+path, fmt.Sprintf(`{"key_id":%d,"key_name":"x"}`, key), "AccessDenied")
			if path == "delete" {
				expect(t, s, narrow, "/person/app-key/"+path, fmt.Sprintf(`{"key_id":%d,"dry_run":true}`, key), "AccessDenied")
			}
		}
		expect(t, s, narrow, "/person/app-key/"+path, fmt.Sprintf(`{"key_id":%d,"key_name":"x"}`, within), "")
		expect(t, s, narrow, "/person/app-key/"+path, fmt.Sprintf(`{"key_id":%d,"person_id":%d,"key_name":"x"}`, nothing, apitest.Stranger), "AccessDenied")
	}
	expect(t, s, narrow, "/person/app-key/disable", fmt.Sprintf(`{"key_id":%d}`, self), "BadRequest")
}

// TestFullKeyOfPersonWithoutRoles calls the operations that any valid key may call.
func TestFullKeyOfPersonWithoutRoles(t *testing.T) {
	s := apitest.Start(t, person.Ops())
	var made struct {
		ID  int64 `json:"key_id"`
		Key string
	}
	expect(t, s, apitest.KeyNothing, "/person/app-key/create", `{"key_name":"x"}`, "").Into(&made)
	for _, path := range []string{"name/reset", "disable", "enable", "delete"} {
		expect(t, s, apitest.KeyNothing, "/person/app-key/"+path, fmt.Sprintf(`{"key_id":%d,"key_name":"y"}`, made.ID), "")
	}
	expect(t, s, apitest.KeyNothing, "/member/info/reset", fmt.Sprintf(`{"member_id":%d,"email":"stan@example.com"}`, apitest.Stranger), "")
	// Permissions that match the person's own still narrow: a role that is granted later does not widen the key.
	_, narrow := newKey(s, auth.NewKey{Person: apitest.Stranger, Permissions: []string{}})
	expect(t, s, narrow, "/person/app-key/create", `{"key_name":"x"}`, "AccessDenied")
}

// TestExpiringKeyCannotCreateLongerLivedKey creates and enables keys.
func TestExpiringKeyCannotCreateLongerLivedKey(t *testing.T) {
	s := apitest.Start(t, person.Ops())
	end := s.Clock.Now().Unix() + 3600
	forever, _ := newKey(s, auth.NewKey{Person: apitest.OwnerA})
	sooner, _ := newKey(s, auth.NewKey{Person: apitest.OwnerA, ExpiresAt: end - 1})
	_, expiring := newKey(s, auth.NewKey{Person: apitest.OwnerA, ExpiresAt: end})
	expect(t, s, expiring, "/person/app-key/create", fmt.Sprintf(`{"key_name":"x","expires_at":%d}`, end+1), "AccessDenied")
	expect(t, s, expiring, "/person/app-key/create", fmt.Sprintf(`{"key_name":"same","expires_at":%d}`, end), "")
	expect(t, s, expiring, "/person/app-key/create", `{"key_name":"unsaid"}`, "")
	expect(t, s, expiring, "/person/app-key/create", `{"key_name":"never","expires_at":0}`, "")
	var list struct {
		Items []struct {
			KeyName   string `json:"key_name"`
			ExpiresAt int64  `json:"expires_at"`
		}
	}
	s.Call(apitest.KeyA, "/person/app-key/list", `{}`).Into(&list)
	found := 0
	for _, k := range list.Items {
		if k.KeyName != "" {
			found++
			if k.ExpiresAt != end {
				t.Errorf("key %q ends at %d, its maker at %d", k.KeyName, k.ExpiresAt, end)
			}
		}
	}
	if found != 3 {
		t.Errorf("%d keys", found)
	}
	for key, code := range map[int64]string{forever: "AccessDenied", sooner: ""} {
		expect(t, s, expiring, "/person/app-key/disable", fmt.Sprintf(`{"key_id":%d}`, key), "")
		expect(t, s, expiring, "/person/app-key/enable", fmt.Sprintf(`{"key_id":%d}`, key), code)
	}
}

// TestOnlyOwnerChangesOwnerContacts tries other persons with Members Manage, and a narrowed key of the owner.
func TestOnlyOwnerChangesOwnerContacts(t *testing.T) {
	s := apitest.Start(t, person.Ops())
	s.Grant(auth.MembersManage)
	_, narrow := newKey(s, auth.NewKey{Person: apitest.OwnerA, Permissions: []string{"Members Manage (org)"}})
	owner := func(member string) string { return fmt.Sprintf(`{"member_id":%d,%s}`, apitest.OwnerA, member) }
	expect(t, s, apitest.KeyA, "/member/info/reset", owner(`"phone":"+15550199"`), "")
	for _, key := range []string{apitest.KeyReader, narrow} {
		for _, member := range []string{`"email":"thief@example.com"`, `"email":""`, `"phone":"+15550100"`, `"phone":""`, `"country_code":"XX"`} {
			expect(t, s, key, "/member/info/reset", owner(member), "AccessDenied")
		}
		expect(t, s, key, "/member/info/reset", owner(`"locale":"en-US"`), "")
	}
	expect(t, s, apitest.KeyReader, "/member/info/reset", fmt.Sprintf(`{"member_id":%d,"email":"stan@example.com"}`, apitest.Stranger), "")
	expect(t, s, apitest.KeyA, "/member/info/reset", owner(`"email":"new@example.com","phone":"+15550100"`), "")
	expect(t, s, apitest.KeyReader, "/member/info/reset", owner(`"email":"new@example.com"`), "") // sent back as it is
}

// TestKeyListShowsPermissions distinguishes null from an empty list.
func TestKeyListShowsPermissions(t *testing.T) {
	s := apitest.Start(t, person.Ops())
	newKey(s, auth.NewKey{Person: apitest.Stranger, Name: "nothing", Permissions: []string{}})
	var list struct{ Items []map[string]any }
	s.Call(apitest.KeyNothing, "/person/app-key/list", `{"asc":true}`).Into(&list)
	if len(list.Items) != 2 {
		t.Fatalf("%v", list.Items)
	}
	if full, there := list.Items[0]["permissions"]; !there || full != nil {
		t.Errorf("a full key shows %#v, want null", full)
	}
	if narrowed, ok := list.Items[1]["permissions"].([]any); !ok || len(narrowed) != 0 {
		t.Errorf("a key narrowed to nothing shows %#v, want []", list.Items[1]["permissions"])
	}
}
