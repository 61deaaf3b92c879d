package demo

import (
	"path/filepath"
	"testing"
	"time"
	_ "time/tzdata"

	"tocsin/internal/accountfile"
	"tocsin/internal/alert"
	"tocsin/internal/api/apitest"
	"tocsin/internal/channel"
	"tocsin/internal/datasource"
	"tocsin/internal/incident"
	"tocsin/internal/news"
	"tocsin/internal/person"
	"tocsin/internal/rum"
	"tocsin/internal/schedule"
	"tocsin/internal/seal"
	"tocsin/internal/webhook"
)

// nows are moments at which the account is looked at: around both clock changes, at the ends of weeks,
// months and years, in a leap year, and in between.
var nows = []string{
	"2026-04-13T04:00:00Z",
	"2026-03-29T00:59:59Z", // the last second of winter time
	"2026-03-29T01:00:00Z",
	"2026-10-24T22:15:00Z", // 25 hours are about to begin
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

func newBox(t testing.TB) *seal.Box {
	t.Helper()
	box, err := seal.Open(filepath.Join(t.TempDir(), "keys"), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	return box
}

// serve mounts every room.
func serve(t testing.TB) (*apitest.Server, *seal.Box) {
	t.Helper()
	box := newBox(t)
	return apitest.Start(t, person.Ops(), (&schedule.Room{Box: box}).Ops(), channel.Ops(nil), (&alert.Room{}).Ops(), (&incident.Room{Bus: &news.Bus{}}).Ops(),
		(&datasource.Room{Box: box}).Ops(), rum.New(box).Ops(), webhook.New(webhook.Config{CursorKey: []byte("key")}).Ops()), box
}

// sample is the account with the newest of its deliveries only: under the race detector, to store all of
// them takes longer than everything else together. test/blackbox stores them all.
func sample(now time.Time) *accountfile.File {
	f := Account(now)
	f.Deliveries = f.Deliveries[deliveries-100:]
	return f
}

func filled(t testing.TB, s *apitest.Server, box *seal.Box, now time.Time) Keys {
	t.Helper()
	keys, err := fill(t.Context(), s.DB, box, now, sample)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}
