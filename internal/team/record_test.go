package team_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/platform/db"
	"tocsin/internal/team"
)

func passed(t testing.TB, d *db.DB, records []team.Record) ([]team.Record, error) {
	t.Helper()
	return apitest.Passed(t, d, team.Load, team.Dump, records)
}

// TestLoadDump checks that members keep their order, and that they need not exist.
func TestLoadDump(t *testing.T) {
	const seed = 11
	rnd := rand.New(rand.NewPCG(seed, seed))
	d := apitest.OpenDB(t)
	for round := range 30 {
		records := []team.Record{}
		for i := range rnd.IntN(6) {
			r := team.Record{TeamID: int64(i)<<60 + 1, TeamName: strings.Repeat("队", 1+rnd.IntN(128))}
			if rnd.IntN(2) == 0 {
				r.Description, r.RefID = strings.Repeat("ß", rnd.IntN(501)), strings.Repeat("r", rnd.IntN(256))
				r.CreatorID = rnd.Int64()
				r.UpdatedBy = rnd.Int64N(9)
				r.CreatedAt = rnd.Int64N(9)
				r.UpdatedAt = rnd.Int64()
			}
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

func TestLoadRejectsInvalidRecords(t *testing.T) {
	d := apitest.OpenDB(t)
	for _, c := range []struct {
		bad  team.Record
		says string
	}{
		{team.Record{TeamID: -1, TeamName: "T"}, "teams[1].team_id: must be at least 1, got -1"},
		{team.Record{TeamID: 1, TeamName: "T"}, "teams[1].team_id: 1 is given twice"},
		{team.Record{TeamID: 2}, "teams[1].team_name: must have 1 to 128 characters, got 0"},
		{team.Record{TeamID: 2, TeamName: strings.Repeat("队", 129)}, "teams[1].team_name: must have 1 to 128 characters, got 129"},
		{team.Record{TeamID: 2, TeamName: "T", Description: strings.Repeat("é", 501)}, "teams[1].description: must have 0 to 500 characters, got 501"},
		{team.Record{TeamID: 2, TeamName: "T", RefID: strings.Repeat("é", 256)}, "teams[1].ref_id: must have 0 to 255 characters, got 256"},
		{team.Record{TeamID: 2, TeamName: "T", CreatorID: -1}, "teams[1].creator_id: must be at least 0, got -1"},
		{team.Record{TeamID: 2, TeamName: "T", UpdatedBy: -1}, "teams[1].updated_by: must be at least 0, got -1"},
		{team.Record{TeamID: 2, TeamName: "T", CreatedAt: -1}, "teams[1].created_at: must be at least 0, got -1"},
		{team.Record{TeamID: 2, TeamName: "T", UpdatedAt: -1}, "teams[1].updated_at: must be at least 0, got -1"},
		{team.Record{TeamID: 2, TeamName: "T", PersonIDs: []int64{4, 5, 4}}, "teams[1].person_ids[2]: 4 is given twice"},
		{team.Record{TeamID: 2, TeamName: "T", PersonIDs: []int64{0}}, "teams[1].person_ids[0]: must be at least 1, got 0"},
	} {
		_, err := passed(t, d, []team.Record{{TeamID: 1, TeamName: "T"}, c.bad})
		if !strings.Contains(fmt.Sprint(err), c.says) {
			t.Errorf("%v, want %s", err, c.says)
		}
	}
}
