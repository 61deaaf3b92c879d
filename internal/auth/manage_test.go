package auth_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

const secret32 = "0123456789abcdef0123456789abcde_"

// try runs fn in a write transaction and returns its error.
func try(s *apitest.Server, fn func(tx *db.Tx) error) error {
	return s.DB.Write(context.Background(), fn)
}

func create(s *apitest.Server, k auth.NewKey) (id int64, secret string, err error) {
	err = try(s, func(tx *db.Tx) error {
		id, secret, err = auth.CreateKey(tx, k, s.Clock.Now().Unix())
		return err
	})
	return id, secret, err
}

func (k keyTest) find(secret string) (auth.Principal, error) {
	k.s.Clock.Add(time.Second) // a principal is cached for half a second
	return k.s.Keys.Find(context.Background(), secret)
}

type keyTest struct{ s *apitest.Server }

func TestCreateKey(t *testing.T) {
	s := apitest.Start(t)
	k := keyTest{s}
	s.Grant(auth.SchedulesManage, auth.ChannelsRead)
	for _, c := range []struct {
		name string
		key  auth.NewKey
		may  []string
	}{
		{"all of the owner's", auth.NewKey{Person: apitest.OwnerA}, auth.Names(auth.All)},
		{"all of a person's", auth.NewKey{Person: apitest.Reader, Name: "ci"}, []string{"Channels Read (on-call)", "Schedules Read (on-call)", "Schedules Manage (on-call)"}},
		{"narrowed", auth.NewKey{Person: apitest.Reader, Permissions: []string{"Schedules Read (on-call)"}}, []string{"Schedules Read (on-call)"}},
		{"narrowed to Manage", auth.NewKey{Person: apitest.OwnerA, Permissions: []string{"Datasources Manage (monit)"}}, []string{"Datasources Read (monit)", "Datasources Manage (monit)"}},
		{"only what needs none", auth.NewKey{Person: apitest.OwnerA, Permissions: []string{}}, []string{}},
		{"with a secret of one's own", auth.NewKey{Person: apitest.Stranger, Secret: secret32}, []string{}},
		{"with the longest name and secret", auth.NewKey{Person: apitest.OwnerA, Secret: strings.Repeat("é", 256), Name: strings.Repeat("钥", 128)}, auth.Names(auth.All)},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.key.Account = apitest.AccountA
			id, secret, err := create(s, c.key)
			if err != nil {
				t.Fatal(err)
			}
			if c.key.Secret != "" && secret != c.key.Secret || c.key.Secret == "" && !strings.HasPrefix(secret, "tk_") {
				t.Errorf("secret %q", secret)
			}
			who, err := k.find(secret)
			if err != nil || who.KeyID != id || who.PersonID != c.key.Person || who.AccountID != apitest.AccountA || !slices.Equal(auth.Names(who.Permissions), c.may) {
				t.Errorf("%v: %+v may %q, want %q", err, who, auth.Names(who.Permissions), c.may)
			}
		})
	}
}

func seconds(n int64) *int64 { return &n }

func TestCreateKeyRefuses(t *testing.T) {
	s := apitest.Start(t)
	s.Grant(auth.SchedulesRead)
	s.Person(apitest.AccountA, 5, "Pending")
	s.Person(apitest.AccountA, 6, "Deleted")
	s.Exec(`UPDATE person SET status = CASE person_id WHEN 5 THEN 'pending' ELSE 'deleted' END WHERE person_id IN (5, 6)`)
	now := s.Clock.Now().Unix()
	if _, _, err := create(s, auth.NewKey{Account: apitest.AccountB, Person: apitest.OwnerB, Secret: secret32}); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		key  auth.NewKey
		says string
	}{
		{auth.NewKey{Person: 1}, "person 1 does not exist"},
		{auth.NewKey{Person: apitest.OwnerB}, "person 9900000000002 does not exist"},
		{auth.NewKey{Account: 1, Person: apitest.OwnerA}, "does not exist"},
		{auth.NewKey{Person: 6}, "person_id: must be a person who may call, 6 is deleted"},
		{auth.NewKey{Person: apitest.Reader, Permissions: []string{"Schedules Manage (on-call)"}}, `permissions: must be within the person's own, which lack "Schedules Manage (on-call)"`},
		{auth.NewKey{Person: apitest.Stranger, Permissions: []string{"Channels Read (on-call)"}}, "permissions: must be within"},
		{auth.NewKey{Person: apitest.OwnerA, Permissions: []string{"Everything"}}, `permissions: "Everything" is not a permission`},
		{auth.NewKey{Person: apitest.OwnerA, Name: strings.Repeat("a", 129)}, "name: must have 0 to 128 characters, got 129"},
		{auth.NewKey{Person: apitest.OwnerA, ExpiresAt: now}, "expires_at: must be after now"},
		{auth.NewKey{Person: apitest.OwnerA, ExpiresAt: -1}, "expires_at: must be after now"},
		{auth.NewKey{Person: apitest.OwnerA, Wait: seconds(31)}, "wait: must be from 0 to 30 seconds, got 31"},
		{auth.NewKey{Person: apitest.OwnerA, Wait: seconds(-1)}, "wait: must be from 0 to 30 seconds, got -1"},
		{auth.NewKey{Person: apitest.OwnerA, Secret: strings.Repeat("é", 31)}, "app_key: must have 32 to 256 characters, got 31"},
		{auth.NewKey{Person: apitest.OwnerA, Secret: strings.Repeat("a", 257)}, "app_key: must have 32 to 256 characters, got 257"},
		{auth.NewKey{Person: apitest.OwnerA, Secret: strings.Repeat("a", 32) + "\n"}, "app_key: must hold no white space"},
		{auth.NewKey{Person: apitest.OwnerA, Secret: secret32}, "app_key: is in use already"},
	} {
		if c.key.Account == 0 {
			c.key.Account = apitest.AccountA
		}
		_, secret, err := create(s, c.key)
		if !strings.Contains(fmt.Sprint(err), c.says) || secret != "" || fault.KindOf(err) == fault.Internal {
			t.Errorf("%q, %v, want %s", secret, err, c.says)
		}
		if c.key.Secret != "" && strings.Contains(fmt.Sprint(err), c.key.Secret) {
			t.Errorf("the error holds the secret: %v", err)
		}
	}
}

func TestKeyLife(t *testing.T) {
	s := apitest.Start(t)
	k := keyTest{s}
	at := s.Clock.Now().Unix()
	id, secret, err := create(s, auth.NewKey{Account: apitest.AccountA, Person: apitest.Reader, Name: "ci", Permissions: []string{}, ExpiresAt: at + 60})
	if err != nil {
		t.Fatal(err)
	}
	expect := func(want bool) {
		t.Helper()
		if _, err := k.find(secret); (err == nil) != want {
			t.Errorf("%v", err)
		}
	}
	set := func(account int64, status string) error {
		return try(s, func(tx *db.Tx) error { return auth.SetKeyStatus(tx, account, id, status) })
	}
	expect(true)
	used := s.Clock.Now().Unix()
	if err := s.Keys.Flush(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := set(apitest.AccountA, auth.KeyDisabled); err != nil {
		t.Fatal(err)
	}
	expect(false)

	var keys []auth.Key
	err = try(s, func(tx *db.Tx) (err error) {
		keys, err = auth.ListKeys(tx, apitest.AccountA)
		return err
	})
	want := auth.Key{ID: id, Name: "ci", PersonID: apitest.Reader, PersonName: "Rita Reader", Permissions: []string{}, Status: "disabled", ExpiresAt: at + 60, CreatedAt: at, LastUsedAt: used}
	if err != nil || len(keys) != 4 || !reflect.DeepEqual(keys[3], want) || keys[0].Permissions != nil {
		t.Errorf("%v: %+v, want %+v last", err, keys, want)
	}

	if err := set(apitest.AccountB, auth.KeyEnabled); fault.KindOf(err) != fault.NotFound {
		t.Errorf("another account's key: %v", err)
	}
	if err := set(apitest.AccountA, "paused"); fault.KindOf(err) != fault.InvalidParameter {
		t.Errorf("unknown status: %v", err)
	}
	if err := set(apitest.AccountA, auth.KeyEnabled); err != nil {
		t.Fatal(err)
	}
	expect(true)

	remove := func(account int64) error {
		return try(s, func(tx *db.Tx) error { return auth.DeleteKey(tx, account, id) })
	}
	account := func() (account int64, err error) {
		err = try(s, func(tx *db.Tx) error {
			account, err = auth.AccountOfKey(tx, id)
			return err
		})
		return account, err
	}
	if a, err := account(); err != nil || a != apitest.AccountA {
		t.Errorf("%d, %v", a, err)
	}
	if err := remove(apitest.AccountB); fault.KindOf(err) != fault.NotFound {
		t.Errorf("another account's key: %v", err)
	}
	if err := remove(apitest.AccountA); err != nil {
		t.Fatal(err)
	}
	expect(false)
	if err := remove(apitest.AccountA); fault.KindOf(err) != fault.NotFound {
		t.Errorf("deleted twice: %v", err)
	}
	if _, err := account(); fault.KindOf(err) != fault.NotFound {
		t.Errorf("%v", err)
	}
	s.Exec(`UPDATE app_key SET key_id = 77 WHERE person_id IN ($1, $2)`, apitest.Stranger, apitest.OwnerB)
	id = 77
	if _, err := account(); fault.KindOf(err) != fault.InvalidParameter {
		t.Errorf("%v", err)
	}
}
