package configstore_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/db/dbtest"
	"tocsin/internal/platform/fault"
)

func TestReferences(t *testing.T) {
	d, err := db.Open(context.Background(), dbtest.Migrated(t))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	err = d.Write(context.Background(), func(tx *db.Tx) error {
		for _, account := range []int64{1, 2} {
			if _, err := tx.Exec(`INSERT INTO account (account_id, account_name, time_zone, owner_id, created_at) VALUES ($1, 'A', 'UTC', 1, 0)`, account); err != nil {
				return err
			}
		}
		refused := func(want string, refs int) {
			t.Helper()
			err := configstore.RefuseReferenced(tx, 1, configstore.Team, 7)
			var f *fault.Error
			if want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if !errors.As(err, &f) || f.Kind != fault.ReferenceExist || f.Message != want || len(f.Refs) != refs {
				t.Errorf("%v, want %s", err, want)
			}
		}
		set := func(account int64, id int, name string, to ...configstore.Target) {
			t.Helper()
			if err := configstore.SetReferences(tx, account, configstore.RefFrom(configstore.Schedule, id, name), to...); err != nil {
				t.Error(err)
			}
		}
		refused("", 0)
		set(2, 1, "Elsewhere", configstore.RefTo(configstore.Team, 7))
		set(1, 1, "Night", configstore.RefTo(configstore.Person, 7), configstore.RefTo(configstore.Team, 0), configstore.RefTo(configstore.Calendar, ""))
		refused("", 0)
		set(1, 1, "Night", configstore.RefTo(configstore.Team, 7), configstore.RefTo(configstore.Team, 7))
		refused("team 7 is used by schedule 1 (Night)", 1)
		set(1, 2, "Day", configstore.RefTo(configstore.Team, "7"))
		refused("team 7 is used by schedule 1 (Night) and 1 more", 2)
		set(1, 1, "Nights", configstore.RefTo(configstore.Team, 7))
		refused("team 7 is used by schedule 1 (Nights) and 1 more", 2)
		for i := range 200 {
			set(1, 1000+i, fmt.Sprint("Schedule ", i), configstore.RefTo(configstore.Team, 7))
		}
		refused("team 7 is used by schedule 1 (Nights) and at least 99 more", 100)
		for _, id := range append([]int{1, 2}, rangeOf(1000, 1200)...) {
			if err := configstore.ClearReferences(tx, 1, configstore.Schedule, id); err != nil {
				t.Error(err)
			}
		}
		refused("", 0)
		refs, err := configstore.References(tx, 2, configstore.Team, 7)
		if len(refs) != 1 || !strings.Contains(refs[0].Name, "Elsewhere") {
			t.Errorf("the other account has %+v", refs)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func rangeOf(from, to int) (list []int) {
	for i := from; i < to; i++ {
		list = append(list, i)
	}
	return list
}
