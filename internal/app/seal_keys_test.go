package app_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"tocsin/internal/accountfile"
	"tocsin/internal/app"
	"tocsin/internal/demo"
	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/secret"
)

// demoFiles holds the database and the key file of the demo account, and its owner's key. Filling a database takes
// longest of all that these tests do, so it is done once.
type demoFiles struct {
	database, keys []byte
	owner          string
}

var demoOnce = sync.OnceValues(func() (f demoFiles, err error) {
	dir, err := os.MkdirTemp("", "tocsin-app-test")
	if err != nil {
		return f, err
	}
	defer os.RemoveAll(dir)
	c := testConfig(dir)
	a, err := app.New(context.Background(), c)
	if err != nil {
		return f, err
	}
	now := clock.System.Now()
	account := demo.Account(now)
	account.Deliveries = account.Deliveries[:100] // storing all deliveries takes seconds
	if err := accountfile.Import(context.Background(), a.DB, a.Keyring, account, now, false); err != nil {
		return f, err
	}
	keys, err := demo.Fill(context.Background(), a.DB, a.Keyring, now)
	if err := errors.Join(err, a.Close()); err != nil {
		return f, err
	}
	f.owner = keys.All
	f.database, err = os.ReadFile(filepath.Join(dir, "tocsin.db"))
	if err != nil {
		return f, err
	}
	f.keys, err = os.ReadFile(c.SealKeys().Path())
	return f, err
})

func testConfig(dir string) app.Config {
	return app.Config{
		DB: "sqlite:" + filepath.Join(dir, "tocsin.db"), Clock: clock.System, Log: slog.New(slog.DiscardHandler), Version: "test",
	}
}

// sealed returns a database that holds the demo account, which has secrets of every kind, and its owner's key.
func sealed(t *testing.T) (c app.Config, owner string) {
	t.Helper()
	f, err := demoOnce()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	c = testConfig(dir)
	err = errors.Join(
		os.WriteFile(filepath.Join(dir, "tocsin.db"), f.database, 0o600),
		os.WriteFile(c.SealKeys().Path(), f.keys, 0o600),
	)
	if err != nil {
		t.Fatal(err)
	}
	return c, f.owner
}

// opens starts the program on a database and stops it.
func opens(c app.Config) error {
	a, err := app.New(context.Background(), c)
	if err == nil {
		err = a.Close()
	}
	return err
}

// lose replaces the key file by another, or deletes it, and returns the old one.
func lose(t *testing.T, c app.Config, another bool) (lost []byte) {
	t.Helper()
	lost, err := os.ReadFile(c.SealKeys().Path())
	if err == nil {
		err = os.Remove(c.SealKeys().Path())
	}
	if err == nil && another {
		_, err = secret.Open(c.SealKeys().Path(), clock.System.Now)
	}
	if err != nil {
		t.Fatal(err)
	}
	return lost
}

// exec changes a database that no program has open.
func exec(t *testing.T, c app.Config, query string) {
	t.Helper()
	d, err := db.Open(context.Background(), c.DB)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	err = d.Write(context.Background(), func(tx *db.Tx) error {
		_, err := tx.Exec(query)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestDatabaseNeedsItsKeys: a database does not start with keys that cannot open its secrets: no file, another file,
// other text. This holds when the table of keys lists them, and when only the secrets show them, as after an upgrade. No
// key file is created then.
func TestDatabaseNeedsItsKeys(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ another, upgraded, text bool }{
		"no file": {}, "another file": {another: true}, "upgraded, no file": {upgraded: true}, "upgraded, another file": {another: true, upgraded: true}, "text": {text: true},
	} {
		t.Run(name, func(t *testing.T) {
			config, _ := sealed(t)
			if c.upgraded {
				exec(t, config, `DELETE FROM seal_key`)
			}
			lost := lose(t, config, c.another)
			if c.text {
				config.SealKey = "other " + strings.Repeat("A", 43) + "="
			}
			err := opens(config)
			id := keyIDs(t, lost)[0]
			if err == nil || !strings.Contains(err.Error(), "sealed under the key "+id) || !strings.Contains(err.Error(), "--new-seal-key") {
				t.Fatalf("it starts without key %s: %v", id, err)
			}
			if _, err := os.Stat(config.SealKeys().Path()); (err == nil) != c.another {
				t.Errorf("the key file after the refusal: %v", err)
			}
			config.SealKey = ""
			if err := os.WriteFile(config.SealKeys().Path(), lost, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := opens(config); err != nil {
				t.Errorf("it does not start with its key: %v", err)
			}
		})
	}
}

func keyIDs(t *testing.T, ring []byte) []string {
	t.Helper()
	keyring, err := secret.FromText(string(ring))
	if err != nil {
		t.Fatal(err)
	}
	return keyring.KeyIDs()
}

// TestDatabaseWithoutSecretsNeedsNoKey: a database that holds no secret starts with any keys, and creates a new file.
func TestDatabaseWithoutSecretsNeedsNoKey(t *testing.T) {
	t.Parallel()
	c := app.Config{DB: "sqlite:" + filepath.Join(t.TempDir(), "tocsin.db"), Clock: clock.System, Log: slog.New(slog.DiscardHandler), Version: "test"}
	for range 3 {
		if err := opens(c); err != nil {
			t.Fatal(err)
		}
		lose(t, c, false)
	}
}

// TestLostSecretsHideNoObject: with --new-seal-key a database starts without its keys, and from then on without the
// flag. The lost secrets hide no object from lists, leave a line in the log, and do not stop a rotation.
func TestLostSecretsHideNoObject(t *testing.T) {
	t.Parallel()
	c, owner := sealed(t)
	lose(t, c, false)
	c.NewSealKey = true
	if err := opens(c); err != nil {
		t.Fatal(err)
	}
	c.NewSealKey = false
	var lines bytes.Buffer
	c.Log = slog.New(slog.NewTextHandler(&lines, nil))
	a, err := app.New(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	server := httptest.NewServer(a.Frame)
	defer server.Close()
	ids := func(path, body, list, id string) (all []any) {
		t.Helper()
		status, data := post(t, server.URL, owner, path, body)
		var reply map[string]json.RawMessage
		var items []map[string]any
		if status != 200 || json.Unmarshal(data, &reply) != nil || json.Unmarshal(reply[list], &items) != nil || len(items) == 0 {
			t.Errorf("%s: %d %.300s", path, status, data)
		}
		for _, item := range items {
			all = append(all, item[id])
		}
		return all
	}
	lines.Reset()
	ids("/rum/application/list", `{}`, "items", "application_id")
	ids("/schedule/list", `{"start": 1767225600, "end": 1767312000}`, "items", "schedule_id")
	ids("/integration/list", `{}`, "items", "integration_id")
	ids("/channel/escalate/rule/list", `{"channel_id": 1001}`, "items", "rule_id")
	for _, id := range datasources(t, server.URL, owner) {
		text, _ := json.Marshal(map[string]any{"id": id})
		if status, data := post(t, server.URL, owner, "/monit/datasource/info", string(text)); status != 200 {
			t.Errorf("/monit/datasource/info %v: %d %s", id, status, data)
		}
	}
	if !strings.Contains(lines.String(), "level=WARN") || !strings.Contains(lines.String(), "has no key") {
		t.Errorf("the log does not name the secrets that are lost: %.2000s", lines.String())
	}
	r, err := c.SealKeys().Rotate(context.Background(), a.DB)
	if err != nil {
		t.Errorf("a rotation: %v", err)
	}
	if err := opens(c); err != nil {
		t.Errorf("after the rotation to %s: %v", r.KeyID, err)
	}
}

// TestRotationReplacesKey: after a rotation the new key is needed, and the old one is not.
func TestRotationReplacesKey(t *testing.T) {
	t.Parallel()
	c, _ := sealed(t)
	old, err := os.ReadFile(c.SealKeys().Path())
	if err != nil {
		t.Fatal(err)
	}
	d, err := db.Open(context.Background(), c.DB)
	if err != nil {
		t.Fatal(err)
	}
	r, err := c.SealKeys().Rotate(context.Background(), d)
	if err != nil || r.Sealed == 0 {
		t.Fatal(r, err)
	}
	d.Close()
	if err := opens(c); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(c.SealKeys().Path(), old, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := opens(c); err == nil || !strings.Contains(err.Error(), r.KeyID) {
		t.Errorf("with the older key file: %v", err)
	}
}

// datasources lists the ids of all datasources.
func datasources(t *testing.T, url, owner string) (ids []any) {
	t.Helper()
	status, data := post(t, url, owner, "/monit/datasource/list", `{}`)
	var items []struct{ ID uint64 }
	if err := json.Unmarshal(data, &items); status != 200 || err != nil || len(items) == 0 {
		t.Errorf("/monit/datasource/list: %d %.300s", status, data)
	}
	for _, item := range items {
		ids = append(ids, item.ID)
	}
	return ids
}

// post calls an operation and returns the status and the data.
func post(t *testing.T, url, key, path, body string) (status int, data json.RawMessage) {
	t.Helper()
	r, err := http.Post(url+path+"?app_key="+key, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	var reply struct{ Data, Error json.RawMessage }
	if err := json.NewDecoder(r.Body).Decode(&reply); err != nil {
		t.Fatal(err)
	}
	if r.StatusCode != 200 {
		return r.StatusCode, reply.Error
	}
	return r.StatusCode, reply.Data
}
