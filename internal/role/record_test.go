package role_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/platform/db"
	"tocsin/internal/role"
)

func passed(t testing.TB, d *db.DB, records []role.Record) ([]role.Record, error) {
	t.Helper()
	return apitest.Passed(t, d, role.Load, role.Dump, records)
}

func TestLoadDump(t *testing.T) {
	const seed = 5
	rnd := rand.New(rand.NewPCG(seed, seed))
	d := apitest.OpenDB(t)
	for round := range 30 {
		records := []role.Record{}
		for i := range rnd.IntN(6) {
			r := role.Record{RoleID: int64(i)<<60 + 1, RoleName: strings.Repeat("é", 1+rnd.IntN(128)), Permissions: []string{}}
			for _, p := range rnd.Perm(len(auth.Names(auth.All)))[:rnd.IntN(8)] { // in any order
				r.Permissions = append(r.Permissions, auth.Permission(p).String())
			}
			if rnd.IntN(2) == 0 {
				r.Description, r.Status = strings.Repeat("ß", rnd.IntN(500)), []string{"", "disabled"}[rnd.IntN(2)]
				r.CreatedAt, r.UpdatedAt = rnd.Int64(), rnd.Int64N(9)
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
		bad  role.Record
		says string
	}{
		{role.Record{RoleID: 0, RoleName: "R"}, "roles[1].role_id: must be at least 1, got 0"},
		{role.Record{RoleID: 1, RoleName: "R"}, "roles[1].role_id: 1 is given twice"},
		{role.Record{RoleID: 2}, "roles[1].role_name: must have 1 to 128 characters, got 0"},
		{role.Record{RoleID: 2, RoleName: strings.Repeat("é", 129)}, "roles[1].role_name: must have 1 to 128 characters, got 129"},
		{role.Record{RoleID: 2, RoleName: "R", Description: strings.Repeat("é", 500)}, "roles[1].description: must have 0 to 499 characters, got 500"},
		{role.Record{RoleID: 2, RoleName: "R", Status: "paused"}, `roles[1].status: must be one of "", enabled, disabled, got "paused"`},
		{role.Record{RoleID: 2, RoleName: "R", CreatedAt: -1}, "roles[1].created_at: must be at least 0, got -1"},
		{role.Record{RoleID: 2, RoleName: "R", UpdatedAt: -1}, "roles[1].updated_at: must be at least 0, got -1"},
		{role.Record{RoleID: 2, RoleName: "R", Permissions: []string{"Channels Read (on-call)", "Everything"}}, `roles[1].permissions[1]: "Everything" is not a permission`},
	} {
		_, err := passed(t, d, []role.Record{{RoleID: 1, RoleName: "R"}, c.bad})
		if !strings.Contains(fmt.Sprint(err), c.says) {
			t.Errorf("%v, want %s", err, c.says)
		}
	}
}
