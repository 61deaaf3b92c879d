package configstore_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/db/dbtest"
)

type thing struct {
	ID      string `json:"id"`
	Parent  string `json:"parent"`
	Name    string `json:"name"`
	Rank    int64  `json:"rank"`
	Team    int64  `json:"team"`
	Created int64  `json:"created"`
}

var things = configstore.Kind[thing]{
	Name: "thing", Section: "things",
	Head: func(t *thing) configstore.Head {
		return configstore.Head{ID: t.ID, Parent: t.Parent, Name: t.Name, Rank: t.Rank, Team: t.Team, CreatedAt: t.Created, UpdatedAt: -t.Created}
	},
	Refs: func(t *thing) []configstore.Target {
		return []configstore.Target{configstore.RefTo(configstore.Team, t.Team)}
	},
	Check: func(*db.Tx, configstore.RecordPath, int64, *thing) error { return nil },
}

// TestPagesShowEveryObjectOnce reads random objects page by page, with every filter and order, and compares the result
// with a naive filter.
func TestPagesShowEveryObjectOnce(t *testing.T) {
	d, err := db.Open(context.Background(), dbtest.Migrated(t))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	r := rand.New(rand.NewPCG(1, 2))
	var all []thing
	names := []string{"Straße", "STRASSE", "Ωmega", "ωMEGA", "100%", "a_b", `a\b`, "支付"}
	err = d.Write(context.Background(), func(tx *db.Tx) error {
		if _, err := tx.Exec(`INSERT INTO account (account_id, account_name, time_zone, owner_id, created_at) VALUES (1, 'A', 'UTC', 1, 0), (2, 'B', 'UTC', 1, 0)`); err != nil {
			return err
		}
		for i := range 157 {
			v := thing{fmt.Sprintf("%03d", i), fmt.Sprint(r.IntN(3)), names[r.IntN(len(names))], r.Int64N(3), r.Int64N(3), r.Int64N(5)}
			all = append(all, v)
			for _, account := range []int64{1, 2} {
				if fresh, err := things.Insert(tx, account, &v); err != nil || !fresh {
					t.Errorf("%v %v", fresh, err)
				}
			}
			if fresh, err := things.Insert(tx, 1, &v); err != nil || fresh {
				t.Errorf("twice: %v %v", fresh, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	err = d.Snapshot(context.Background(), func(tx *db.Tx) error {
		for range 300 {
			q := configstore.Query{ByUpdate: r.IntN(2) == 0, Ascending: r.IntN(2) == 0, Limit: 1 + r.Int64N(60)}
			search := ""
			if r.IntN(2) == 0 {
				search = []string{"ωm", "%", "_", `\`, "付", "strasse"}[r.IntN(6)]
				q.Search = search
			}
			if r.IntN(3) == 0 {
				q.Teams = []int64{r.Int64N(3)}
			}
			if r.IntN(4) == 0 {
				q.Parents = []string{"1", "2"}
			}
			want := []string{}
			for _, v := range all {
				if (len(q.Teams) == 0 || v.Team == q.Teams[0]) && (q.Parents == nil || v.Parent != "0") && strings.Contains(db.Fold(v.Name), db.Fold(search)) {
					want = append(want, v.ID)
				}
			}
			got, last := []string{}, thing{}
			for {
				items, total, err := things.Page(tx, 1, q)
				if err != nil {
					return err
				}
				if int(total) != len(want) {
					t.Fatalf("%+v: total %d, want %d", q, total, len(want))
				}
				for _, v := range items {
					if len(got) > 0 && v.Created != last.Created && (v.Created > last.Created) != (q.Ascending != q.ByUpdate) {
						t.Fatalf("%+v: %+v after %+v", q, v, last)
					}
					got, last = append(got, v.ID), v
				}
				if q.Offset += q.Limit; len(items) < int(q.Limit) {
					break
				}
			}
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Fatalf("%+v: %v, want %v", q, got, want)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestSliceContinuesBehindUnreadableObjects walks a list with objects that cannot be decoded, one element on a page.
func TestSliceContinuesBehindUnreadableObjects(t *testing.T) {
	t.Parallel()
	d, err := db.Open(context.Background(), dbtest.Migrated(t))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	err = d.Write(context.Background(), func(tx *db.Tx) error {
		if _, err := tx.Exec(`INSERT INTO account (account_id, account_name, time_zone, owner_id, created_at) VALUES (1, 'A', 'UTC', 1, 0)`); err != nil {
			return err
		}
		for i := range 6 {
			if err := things.Put(tx, 1, &thing{ID: fmt.Sprint(i), Name: "n", Created: int64(i / 2)}); err != nil {
				return err
			}
		}
		if err := tx.Do(`UPDATE object SET body = '{' WHERE kind = 'thing' AND id IN ('1', '2', '5')`); err != nil {
			return err
		}
		got := []string{}
		for q := (configstore.Query{Ascending: true, Limit: 1}); ; {
			page, err := things.Slice(tx, 1, q)
			if err != nil {
				return err
			}
			for _, v := range page.Items {
				got = append(got, v.ID)
			}
			q.After = page.End
			if !page.More || len(got) > 6 {
				break
			}
		}
		if !slices.Equal(got, []string{"0", "3", "4"}) {
			t.Errorf("%q, want all that can be decoded", got)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestDeleteClearsReferences(t *testing.T) {
	d, err := db.Open(context.Background(), dbtest.Migrated(t))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	err = d.Write(context.Background(), func(tx *db.Tx) error {
		if _, err := tx.Exec(`INSERT INTO account (account_id, account_name, time_zone, owner_id, created_at) VALUES (1, 'A', 'UTC', 1, 0)`); err != nil {
			return err
		}
		for i := range 3 {
			if err := things.Put(tx, 1, &thing{ID: fmt.Sprint(i), Parent: "p", Name: "n", Team: 7}); err != nil {
				return err
			}
		}
		if refs, err := configstore.References(tx, 1, configstore.Team, 7); len(refs) != 3 || err != nil {
			t.Errorf("%v %v", refs, err)
		}
		if err := things.Put(tx, 1, &thing{ID: "0", Parent: "q", Name: "n"}); err != nil {
			return err
		}
		gone, err := things.DeleteOf(tx, 1, "p")
		if len(gone) != 2 || err != nil {
			t.Errorf("%v %v", gone, err)
		}
		if err := configstore.RefuseReferenced(tx, 1, configstore.Team, 7); err != nil {
			t.Error(err)
		}
		if _, found, err := things.Find(tx, 1, "0"); !found || err != nil {
			t.Error("it went too", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestCorruptObjects checks that lists leave out an object that cannot be decoded, that copies fail with its name, and
// that it can be deleted with its parent.
func TestCorruptObjects(t *testing.T) {
	d := open(t)
	write(t, d, func(tx *db.Tx) error {
		for _, v := range []thing{{ID: "1", Parent: "p", Name: "good"}, {ID: "2", Parent: "p", Name: "bad"}} {
			if _, err := things.Insert(tx, 1, &v); err != nil {
				return err
			}
		}
		_, err := tx.Exec(`UPDATE object SET body = '{"id": 2}' WHERE id = '2'`)
		return err
	})
	counts := func(want int) {
		t.Helper()
		err := d.Read(t.Context(), func(tx *db.Tx) error {
			left, err := configstore.Unreadable(tx)
			if left["thing"] != want {
				t.Errorf("%v, want %d things", left, want)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	lists := map[string]func(*db.Tx) ([]thing, error){
		"All":  func(tx *db.Tx) ([]thing, error) { return things.All(tx, 1) },
		"Of":   func(tx *db.Tx) ([]thing, error) { return things.Of(tx, 1, "p") },
		"Each": func(tx *db.Tx) ([]thing, error) { return things.Each(tx, 1, []int64{1, 2}) },
		"Page": func(tx *db.Tx) ([]thing, error) {
			list, _, err := things.Page(tx, 1, configstore.Query{Limit: 10})
			return list, err
		},
	}
	var reported []db.Row
	d.Unreadable().Report = func(r db.Row, _ error) { reported = append(reported, r) }
	write(t, d, func(tx *db.Tx) error {
		for name, list := range lists {
			if got, err := list(tx); err != nil || len(got) != 1 || got[0].ID != "1" {
				t.Errorf("%s: %v %v", name, got, err)
			}
		}
		if _, err := things.Dump(tx, nil, 1, false); err == nil || !strings.Contains(err.Error(), "thing 2") {
			t.Errorf("a copy without the object: %v", err)
		}
		return nil
	})
	if want := []db.Row{{Account: 1, Kind: "thing", ID: "2"}}; !slices.Equal(reported, want) {
		t.Errorf("reported %v, want %v", reported, want)
	}
	counts(1)
	write(t, d, func(tx *db.Tx) error {
		gone, err := things.DeleteOf(tx, 1, "p")
		if len(gone) != 2 || gone[1].ID != "2" {
			t.Errorf("deleted %v", gone)
		}
		return err
	})
	counts(0)
}
