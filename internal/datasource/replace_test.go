package datasource_test

import (
	"math/rand/v2"
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/datasource"
	"tocsin/internal/db"
)

// Replacing some datasources by others gives those, one without secrets keeps them, and erasing leaves the
// others alone.
func TestReplaceAndErase(t *testing.T) {
	const seed = 11
	rnd := rand.New(rand.NewPCG(seed, seed))
	box := newBox(t)
	for round := range 20 {
		s := start(t)
		dump := func(secrets bool) (records []datasource.Record) {
			s.Write(func(tx *db.Tx) (err error) {
				records, err = datasource.Dump(tx, box, apitest.AccountA, secrets)
				return err
			})
			return records
		}
		replace := func(records []datasource.Record) {
			s.Write(func(tx *db.Tx) error { return datasource.Replace(tx, box, apitest.AccountA, records) })
		}
		replace([]datasource.Record{random(t, rnd, 1), random(t, rnd, 2)})
		want := []datasource.Record{random(t, rnd, 1), random(t, rnd, 2), random(t, rnd, 3)}
		for i := range want {
			want[i].UpdatedAt = int64(1 + i)
			if want[i].TypeIdent == dump(true)[min(i, 1)].TypeIdent {
				want[i] = decodeRecord(t, itemJSON(uint64(1+i), want[i].TypeIdent, full[want[i].TypeIdent][0])) // with all secrets, so that none is kept
			}
		}
		replace(want)
		if got := encode(t, dump(true)); got != encode(t, want) {
			t.Fatalf("seed %d, round %d: got\n%s\nwant\n%s", seed, round, got, encode(t, want))
		}
		replace(dump(false))
		if got := encode(t, dump(true)); got != encode(t, want) {
			t.Fatalf("seed %d, round %d: without secrets got\n%s\nwant\n%s", seed, round, got, encode(t, want))
		}
		s.Write(func(tx *db.Tx) error {
			if err := datasource.Erase(tx, apitest.AccountA, 2); err != nil {
				return err
			}
			return datasource.Erase(tx, apitest.AccountA, 99)
		})
		if got := encode(t, dump(true)); got != encode(t, []datasource.Record{want[0], want[2]}) {
			t.Fatalf("seed %d, round %d: after erasing got %s", seed, round, got)
		}
		if id := idOf(s.Call(apitest.KeyA, createPath, prometheus(`{}`))); id != 4 {
			t.Fatalf("seed %d, round %d: the next id is %d", seed, round, id)
		}
	}
}
