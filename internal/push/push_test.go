package push_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tocsin/internal/api/apitest"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/secret"
	"tocsin/internal/push"
	"tocsin/internal/sender/webpushtest"
)

// begin starts a server with the key of the first start. tested counts the tests that were asked for.
func begin(t *testing.T) (*apitest.Server, *secret.Keyring, *int) {
	t.Helper()
	keyring, err := secret.Open(filepath.Join(t.TempDir(), "key"), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	tested := 0
	r := &push.Service{Keyring: keyring, Test: func(*db.Tx, push.Subscription, time.Time) error { tested++; return nil }}
	s := apitest.Start(t, r.Ops())
	s.Write(func(tx *db.Tx) error { return r.Module().Complete(tx, keyring) })
	return s, keyring, &tested
}

// fixed is a subscription whose reply stays the same.
const fixed = `{"endpoint": "https://push.example.com/send/8f1c0a", "keys": {"p256dh": "BNNL5ZaTfK81qhXOx23-wewhigUeFb632jN6LvRWCFH1ubQr77FE_9qV1FuojuRmHP42zmf34rXgW80OvUVDgTk", "auth": "zqbxT6JKstKSY9JKibZLSQ"}, "name": "Firefox on Android"}`

func TestOperations(t *testing.T) {
	s, _, tested := begin(t)
	s.Write(func(tx *db.Tx) error { // the same in each run
		_, err := tx.Exec(`UPDATE push_key SET public_key = 'BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4'`)
		return err
	})
	s.Converse(t, []apitest.Turn{
		{Path: "/person/push/subscribe", Key: apitest.KeyReader, Body: fixed, Keep: map[string]string{"id": "subscription_id"}, Golden: "person_push_subscribe"},
		{Path: "/person/push/list", Key: apitest.KeyReader, Body: `{}`, Has: `{"items":[{"subscription_id":$id,"name":"Firefox on Android","host":"push.example.com","problem":"","tried_at":0}]}`, Golden: "person_push_list"},
		{Path: "/person/push/list", Body: `{}`, Has: `{"items":[]}`}, // only one's own, also for the owner
		{Path: "/person/push/remove", Body: `{"subscription_id":$id}`, Code: "ResourceNotFound"},
		{Path: "/person/push/test", Body: `{"subscription_id":$id}`, Code: "ResourceNotFound"},
		{Path: "/person/push/remove", Key: apitest.KeyB, Body: `{"subscription_id":$id}`, Code: "ResourceNotFound"},
		{Path: "/person/push/test", Key: apitest.KeyReader, Body: `{"subscription_id":$id}`, Golden: "person_push_test"},
		{Path: "/person/push/subscribe", Key: apitest.KeyReader, Body: fixed, Has: `{"subscription_id":$id}`}, // it stays one
		{Path: "/person/push/subscribe", Body: fixed},                                                         // the browser is the owner's now
		{Path: "/person/push/list", Key: apitest.KeyReader, Body: `{}`, Has: `{"items":[]}`},
		{Path: "/person/push/subscribe", Key: apitest.KeyB, Body: fixed}, // of another account: the first one's stays
		{Path: "/person/push/list", Body: `{}`, Has: `{"items":[{}]}`, Keep: map[string]string{"id": "items.0.subscription_id"}},
		{Path: "/person/push/remove", Body: `{"subscription_id":$id}`, Golden: "person_push_remove"},
		{Path: "/person/push/list", Body: `{}`, Has: `{"items":[]}`},
	})
	if *tested != 1 {
		t.Errorf("%d tests were sent", *tested)
	}
}

// TestHostileSubscriptions: what could never be sent to is refused when it is entered, and nothing repeats the endpoint.
func TestHostileSubscriptions(t *testing.T) {
	s, _, _ := begin(t)
	const p256dh, auth = "BNNL5ZaTfK81qhXOx23-wewhigUeFb632jN6LvRWCFH1ubQr77FE_9qV1FuojuRmHP42zmf34rXgW80OvUVDgTk", "zqbxT6JKstKSY9JKibZLSQ"
	body := func(endpoint, p256dh, auth string) string {
		return fmt.Sprintf(`{"endpoint":%q,"keys":{"p256dh":%q,"auth":%q}}`, endpoint, p256dh, auth)
	}
	turns := []apitest.Turn{}
	for _, endpoint := range []string{"http://push.example.com/x", "file:///etc/passwd", "gopher://push.example.com", "https://", "https:///x", "//push.example.com/x",
		"https://user:password@push.example.com/x", "https://push.example.com/x#y", "https://[::1", "javascript:alert(1)", "", "https://push.example.com/" + strings.Repeat("x", 2048)} {
		turns = append(turns, apitest.Turn{Path: "/person/push/subscribe", Body: body(endpoint, p256dh, auth), Code: "InvalidParameter", Says: []string{"endpoint"}})
	}
	for _, key := range []string{"", "AAAA", strings.Repeat("A", 87), p256dh[:86] + "!", "C" + p256dh[1:]} {
		turns = append(turns, apitest.Turn{Path: "/person/push/subscribe", Body: body("https://push.example.com/x", key, auth), Code: "InvalidParameter", Says: []string{"p256dh"}})
	}
	for _, key := range []string{"", "AAAA", auth + "AAAA", "!" + auth[1:]} {
		turns = append(turns, apitest.Turn{Path: "/person/push/subscribe", Body: body("https://push.example.com/x", p256dh, key), Code: "InvalidParameter", Says: []string{"auth"}})
	}
	turns = append(turns, apitest.Turn{Path: "/person/push/list", Body: `{}`, Has: `{"items":[]}`})
	s.Converse(t, turns)
}

// TestEndpointIsNotStolen: who knows an endpoint, and not the browser's keys, takes no one's notifications away. And one
// person has a bounded number of browsers.
func TestEndpointIsNotStolen(t *testing.T) {
	s, _, _ := begin(t)
	service := webpushtest.New(t)
	other := service.Browser("other").Subscription()
	stolen := strings.Replace(other, other[strings.Index(other, `"https`)+1:strings.Index(other, `", "keys`)], "https://push.example.com/send/8f1c0a", 1)
	turns := []apitest.Turn{
		{Path: "/person/push/subscribe", Key: apitest.KeyReader, Body: fixed},
		{Path: "/person/push/subscribe", Body: stolen, Code: "BadRequest", Says: []string{"another person"}},
		{Path: "/person/push/list", Key: apitest.KeyReader, Body: `{}`, Has: `{"items":[{}]}`},
	}
	for n := range push.MaxBrowsers - 1 {
		turns = append(turns, apitest.Turn{Path: "/person/push/subscribe", Key: apitest.KeyReader, Body: service.Browser(fmt.Sprint(n)).Subscription()})
	}
	turns = append(turns,
		apitest.Turn{Path: "/person/push/subscribe", Key: apitest.KeyReader, Body: other, Code: "BadRequest", Says: []string{"10", "remove one"}},
		apitest.Turn{Path: "/person/push/subscribe", Key: apitest.KeyReader, Body: fixed}) // one that is there can be updated
	s.Converse(t, turns)
	s.Write(func(tx *db.Tx) error { return push.Forget(tx, apitest.AccountA, apitest.Reader) })
	s.Converse(t, []apitest.Turn{{Path: "/person/push/list", Key: apitest.KeyReader, Body: `{}`, Has: `{"items":[]}`}})
}

// TestKeyOfServer stays through restarts and rotations, and is replaced only when its sealing key was given up: the
// browsers that have the old one are shown so.
func TestKeyOfServer(t *testing.T) {
	s, keyring, _ := begin(t)
	complete := (&push.Service{}).Module().Complete
	read := func(keyring *secret.Keyring) (k push.Key) {
		t.Helper()
		if err := s.DB.Read(context.Background(), func(tx *db.Tx) (err error) { k, err = push.OpenKey(tx, keyring); return err }); err != nil {
			t.Fatal(err)
		}
		return k
	}
	first := read(keyring)
	s.Write(func(tx *db.Tx) error { return complete(tx, keyring) })
	s.Write(func(tx *db.Tx) error {
		if _, err := keyring.Rotate(); err != nil {
			return err
		}
		for _, reseal := range (&push.Service{}).Module().Reseal {
			if _, err := reseal(tx, keyring.Renew); err != nil {
				return err
			}
		}
		return complete(tx, keyring)
	})
	if again := read(keyring); again != first || len(first.Public) != 87 {
		t.Errorf("the key was %v and is %v", first.Public, again.Public)
	}
	s.Converse(t, []apitest.Turn{{Path: "/person/push/subscribe", Body: fixed}})
	other, err := secret.Open(filepath.Join(t.TempDir(), "key"), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	s.Write(func(tx *db.Tx) error { return complete(tx, other) })
	if read(other).Public == first.Public {
		t.Error("the key is the same, and no one can open it")
	}
	s.Converse(t, []apitest.Turn{{Path: "/person/push/list", Body: `{}`, Has: `{"items":[{"problem":"` + push.OldKey + `"}]}`}})
}
