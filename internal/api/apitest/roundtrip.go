package apitest

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"

	v2 "github.com/go-json-experiment/json"

	objects "tocsin/internal/configstore"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/secret"
)

// Box is a keyring in a file that is deleted with the test.
func Box(t testing.TB) *secret.Keyring {
	t.Helper()
	keyring, err := secret.Open(filepath.Join(t.TempDir(), "key"), func() time.Time { return Now })
	if err != nil {
		t.Fatal(err)
	}
	return keyring
}

// RoundTrip loads records of a kind's section, which must be in canonical form and in the order of their ids, and
// expects the same records from dump. A dump without secrets must show none of them. Each record that a function of
// breaks has changed must be refused, with the path that is the function's name.
func RoundTrip[T any](t *testing.T, k objects.Kind[T], records []T, breaks map[string]func(*T)) {
	t.Helper()
	s, keyring := Start(t), Box(t)
	copied := func() (all []T) {
		b, err := json.Marshal(records)
		if err == nil {
			err = json.Unmarshal(b, &all)
		}
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	dump := func(secrets bool) (all []T) {
		s.Read(func(tx *db.Tx) (err error) {
			all, err = k.Dump(tx, keyring, AccountA, secrets)
			return err
		})
		return all
	}
	s.Write(func(tx *db.Tx) error { return k.Load(tx, keyring, AccountA, copied()) })
	if got := dump(true); !same(t, got, records) {
		t.Errorf("loaded and dumped\n%+v\nwant\n%+v", got, records)
	}
	masked := dump(false)
	shown, err := json.Marshal(masked)
	if err != nil {
		t.Fatal(err)
	}
	for i := range records {
		if k.Secrets == nil {
			break
		}
		err := k.Secrets(&copied()[i], func(path, text string) (string, error) {
			if text != "" && !secret.IsReference(text) && strings.Contains(string(shown), text) {
				t.Errorf("an export without secrets shows %s", path)
			}
			return text, nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	empty := Start(t)
	refused := func(what string, records []T) {
		t.Helper()
		err := k.ExamineAll(records)
		if err == nil {
			err = empty.DB.Write(t.Context(), func(tx *db.Tx) error { return k.Load(tx, keyring, AccountA, records) })
		}
		if err == nil || !strings.Contains(err.Error(), k.Section+"[") || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
	for what, spoil := range breaks {
		all := copied()[:1]
		spoil(&all[0])
		refused(what, all)
	}
}

// same compares values by their JSON: a nil list and an empty one are the same.
func same(t *testing.T, a, b any) bool {
	t.Helper()
	x, err := v2.Marshal(a, v2.Deterministic(true))
	if err != nil {
		t.Fatal(err)
	}
	y, err := v2.Marshal(b, v2.Deterministic(true))
	if err != nil {
		t.Fatal(err)
	}
	return string(x) == string(y)
}
