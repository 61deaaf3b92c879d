package app_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tocsin/internal/app"
	"tocsin/internal/engine/notify"
	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/db/dbtest"
	"tocsin/internal/platform/secret"
	"tocsin/internal/sender"
)

// secretive are calls that leave secrets behind which the random ones of the configuration do not, or may delete again.
var secretive = []struct{ path, body string }{
	{"/person/second-factor/begin", `{}`},
	{"/preference/update", `{"contacts":{"slack":"https://hooks.example.com/secret"}}`},
	{"/person/push/subscribe", `{"endpoint":"https://push.example.com/secret","keys":{"p256dh":"BNNL5ZaTfK81qhXOx23-wewhigUeFb632jN6LvRWCFH1ubQr77FE_9qV1FuojuRmHP42zmf34rXgW80OvUVDgTk","auth":"zqbxT6JKstKSY9JKibZLSQ"}}`},
	{"/incident/create", `{"incident_severity":"Critical","title":"down","channel_id":$channel_id}`},
	{"/schedule/create", `{"schedule_name":"nights","notify":{"webhooks":[{"type":"slack","settings":{"token":"secret"}}]}}`},
}

// TestNoSecretNeedsOldKeyAfterRotation fills an account through its operations until each resealer of each module
// has a secret, rotates the keys, which drops the old one, and opens every secret. No text in any table is under the old
// key then, so a table that no module reseals shows too.
func TestNoSecretNeedsOldKeyAfterRotation(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	unreachable := func(context.Context, string, notify.Address, sender.Message) (sender.Receipt, error) {
		return sender.Receipt{}, &sender.Error{Retry: true, Message: "unreachable"} // so that what is to be sent stays
	}
	c := app.Config{DB: dbtest.Migrated(t), SealKeyFile: filepath.Join(t.TempDir(), "tocsin.key"), Clock: clock.System, Log: slog.New(slog.DiscardHandler), Version: "test",
		Senders: app.Senders{Deliver: unreachable}}
	a, err := app.New(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	first, err := a.FirstStart(ctx, "UTC")
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(a.Frame)
	defer server.Close()
	randomAccount(t, rand.New(rand.NewPCG(3, 11)), server.URL, first.Key)
	escalating(t, a, server.URL, first)
	old := a.Keyring.KeyIDs()[0]
	for name, n := range passed(t, a, func(sealed, _ string) (string, error) { return sealed, nil }) {
		if n == 0 {
			t.Errorf("%s finds no secret: make one", name)
		}
	}
	if texts := sealedUnder(t, a.DB, old); len(texts) < 6 {
		t.Errorf("only these columns have sealed texts: %v", texts)
	}
	if err := rotated(a, c); err != nil {
		t.Fatal(err)
	}
	ring, err := secret.Open(c.SealKeys().Path(), clock.System.Now)
	if err != nil || len(ring.KeyIDs()) != 1 || ring.KeyIDs()[0] == old {
		t.Fatalf("the old key is still there: %v", err)
	}
	passed(t, a, func(sealed, context string) (string, error) {
		_, err := ring.Open(sealed, context)
		return sealed, err
	})
	if texts := sealedUnder(t, a.DB, old); len(texts) > 0 {
		t.Errorf("still sealed under the old key, which is gone: %v", texts)
	}
}

// escalating makes an escalation wait and a notification to a chat be due.
func escalating(t *testing.T, a *app.App, url string, first *app.First) {
	t.Helper()
	call := func(path, body string) string {
		t.Helper()
		status, data := post(t, url, first.Key, path, body)
		if status != 200 {
			t.Fatalf("%s: %d %s", path, status, data)
		}
		return string(data)
	}
	channel := idNames.FindStringSubmatch(call("/channel/create", `{"channel_name":"Secretive","team_id":0}`))[2]
	call("/channel/escalate/rule/create", fmt.Sprintf(`{"channel_id":%s,"rule_name":"r","template_id":"000000000000000000000001","layers":[{"max_times":3,"notify_step":5,"escalate_window":30,
		"target":{"person_ids":[%d],"by":{"follow_preference":true},"webhooks":[{"type":"slack","settings":{"token":"secret","url":"https://example.com/secret"}}]}}]}`, channel, first.OwnerID))
	for _, s := range secretive {
		call(s.path, strings.ReplaceAll(s.body, "$channel_id", channel))
	}
	if err := a.Runner.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// passed passes all secrets through a function and counts them by resealer. Nothing is changed.
func passed(t *testing.T, a *app.App, through secret.Renew) map[string]int {
	t.Helper()
	counts, undo := map[string]int{}, errors.New("undo")
	err := a.DB.Write(context.Background(), func(tx *db.Tx) error {
		for _, m := range a.Modules {
			for i, reseal := range m.Reseal {
				name := fmt.Sprintf("Reseal %d of %s", i, m.Name)
				n := 0
				if _, err := reseal(tx, func(sealed, context string) (string, error) {
					if secret.IsSealed(sealed) {
						n++
					}
					return through(sealed, context)
				}); err != nil {
					t.Errorf("%s: %v", name, err)
				}
				counts[name] = n
			}
		}
		return undo
	})
	if !errors.Is(err, undo) {
		t.Fatal(err)
	}
	return counts
}

// sealedUnder counts the texts of the database that hold something sealed under a key, by table and column.
func sealedUnder(t *testing.T, d *db.DB, key string) map[string]int64 {
	t.Helper()
	found := map[string]int64{}
	err := d.Read(context.Background(), func(tx *db.Tx) error {
		tables, err := dbtest.Tables(tx)
		if err != nil {
			return err
		}
		for _, table := range tables {
			columns, err := dbtest.Columns(tx, table)
			if err != nil {
				return err
			}
			for _, c := range columns {
				if c.Type != "TEXT" || table == "seal_key" {
					continue
				}
				found[table+"."+c.Name], _, err = db.One(tx, db.Column[int64],
					`SELECT count(*) FROM "`+table+`" WHERE replace("`+c.Name+`", $1, '') <> "`+c.Name+`"`, key)
				if err != nil {
					return err
				}
			}
		}
		maps.DeleteFunc(found, func(_ string, n int64) bool { return n == 0 })
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// rotated replaces the sealing key: by one command on the embedded engine, and on PostgreSQL in the steps for several servers.
func rotated(a *app.App, c app.Config) error {
	if dbtest.Server == "" {
		_, err := c.SealKeys().Rotate(context.Background(), a.DB)
		return err
	}
	old, err := os.ReadFile(c.SealKeyFile)
	if err != nil {
		return err
	}
	key := secret.NewKey() + "\n"
	if err := os.WriteFile(c.SealKeyFile, append([]byte(key), old...), 0o600); err != nil {
		return err
	}
	time.Sleep(1100 * time.Millisecond) // a server reads the file again after a second, and seals with its new key from then on
	if err := a.Runner.Settle(context.Background()); err != nil {
		return err
	}
	if err := a.Nodes.Beat(context.Background()); err != nil {
		return err
	}
	if _, err := c.SealKeys().RenewAll(context.Background(), a.DB); err != nil {
		return err
	}
	if err := a.Nodes.Leave(context.Background()); err != nil { // its row names the old key too
		return err
	}
	return os.WriteFile(c.SealKeyFile, []byte(key), 0o600)
}
