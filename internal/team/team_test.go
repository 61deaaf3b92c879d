package team_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/db"
	"tocsin/internal/team"
)

var errRollback = errors.New("rolled back")

// passed loads teams into an account that is made for them, dumps them and takes it all back.
func passed(t testing.TB, d *db.DB, records []team.Record) (dumped []team.Record, err error) {
	t.Helper()
	err = d.Write(context.Background(), func(tx *db.Tx) error {
		if _, err := tx.Exec(`INSERT INTO account (account_id, account_name, time_zone, owner_id, created_at) VALUES (7, 'A', 'UTC', 1, 0)`); err != nil {
			t.Fatal(err)
		}
		if err := team.Load(tx, 7, records); err != nil {
			return err
		}
		if dumped, err = team.Dump(tx, 7); err != nil {
			return err
		}
		return errRollback
	})
	if err == errRollback {
		return dumped, nil
	}
	return nil, err
}

// Members keep their order, and need not exist.
func TestLoadDump(t *testing.T) {
	const seed = 11
	rnd := rand.New(rand.NewPCG(seed, seed))
	d := apitest.OpenDB(t)
	for round := range 30 {
		records := []team.Record{}
		for i := range rnd.IntN(6) {
			r := team.Record{TeamID: int64(i)<<60 + 1, TeamName: strings.Repeat("队", 1+rnd.IntN(128))}
			for _, p := range rnd.Perm(9)[:rnd.IntN(9)] {
				r.PersonIDs = append(r.PersonIDs, int64(p)<<59+1)
			}
			records = append(records, r)
		}
		dumped, err := passed(t, d, records)
		if err != nil || !reflect.DeepEqual(dumped, records) {
			t.Fatalf("seed %d, round %d: %v: got\n%+v\nwant\n%+v", seed, round, err, dumped, records)
		}
	}
}

func TestLoadRefuses(t *testing.T) {
	d := apitest.OpenDB(t)
	for _, c := range []struct {
		bad  team.Record
		says string
	}{
		{team.Record{TeamID: -1, TeamName: "T"}, "teams[1].team_id: must be at least 1, got -1"},
		{team.Record{TeamID: 1, TeamName: "T"}, "teams[1].team_id: 1 is given twice"},
		{team.Record{TeamID: 2}, "teams[1].team_name: must have 1 to 128 characters, got 0"},
		{team.Record{TeamID: 2, TeamName: strings.Repeat("队", 129)}, "teams[1].team_name: must have 1 to 128 characters, got 129"},
		{team.Record{TeamID: 2, TeamName: "T", PersonIDs: []int64{4, 5, 4}}, "teams[1].person_ids[2]: 4 is given twice"},
		{team.Record{TeamID: 2, TeamName: "T", PersonIDs: []int64{0}}, "teams[1].person_ids[0]: must be at least 1, got 0"},
	} {
		_, err := passed(t, d, []team.Record{{TeamID: 1, TeamName: "T"}, c.bad})
		if !strings.Contains(fmt.Sprint(err), c.says) {
			t.Errorf("%v, want %s", err, c.says)
		}
	}
}
