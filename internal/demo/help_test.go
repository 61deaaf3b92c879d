package demo

import (
	"path/filepath"
	"testing"
	"time"
	_ "time/tzdata"

	"tocsin/internal/accountfile"
	"tocsin/internal/activity"
	"tocsin/internal/alert"
	"tocsin/internal/api/apitest"
	"tocsin/internal/channel"
	"tocsin/internal/datasource"
	"tocsin/internal/engine/webhook"
	"tocsin/internal/incident"
	"tocsin/internal/person"
	"tocsin/internal/platform/secret"
	"tocsin/internal/rum"
	"tocsin/internal/schedule"
	"tocsin/internal/template"
)

// nows are moments at which the account is tested: around both clock changes, at the ends of weeks,
// months and years, in a leap year, and in between.
var nows = []string{
	"2026-04-13T04:00:00Z",
	"2026-03-29T00:59:59Z", // the last second of winter time
	"2026-03-29T01:00:00Z",
	"2026-10-24T22:15:00Z", // shortly before a day of 25 hours
	"2026-10-25T01:00:00Z",
	"2026-11-01T23:29:59Z", // Monday already, in Berlin
	"2027-01-01T00:00:00Z",
	"2027-01-31T12:00:00Z", // the next month has no 31st
	"2028-02-29T08:00:00Z",
	"2026-08-02T21:59:59Z", // the end of a Sunday
	"2026-06-30T07:00:01Z",
}

func parse(t testing.TB, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func newKeyring(t testing.TB) *secret.Keyring {
	t.Helper()
	keyring, err := secret.Open(filepath.Join(t.TempDir(), "keys"), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	return keyring
}

// serve starts a server with every module.
func serve(t testing.TB) (*apitest.Server, *secret.Keyring) {
	t.Helper()
	keyring := newKeyring(t)
	return apitest.Start(t, person.Ops(), template.Ops(), (&schedule.Service{Keyring: keyring}).Ops(), channel.Ops(nil), alert.Ops(), (&incident.Service{Bus: &activity.Bus{}}).Ops(),
		(&datasource.Service{Keyring: keyring}).Ops(), rum.New(nil, keyring, nil).Ops(), webhook.New(webhook.Config{CursorKey: []byte("key")}).Ops()), keyring
}

// sample returns the account with only the newest of its deliveries: under the race detector, storing all of them
// takes longer than all other steps. test/blackbox stores them all.
func sample(now time.Time) *accountfile.File {
	f := Account(now)
	f.Deliveries = f.Deliveries[deliveries-100:]
	return f
}

func filled(t testing.TB, s *apitest.Server, keyring *secret.Keyring, now time.Time) Keys {
	t.Helper()
	keys, err := FillWith(t.Context(), s.DB, keyring, now, sample)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}
