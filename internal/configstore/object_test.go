package configstore_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
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
	d, err := db.Open(context.Background(), "sqlite:"+filepath.Join(t.TempDir(), "test.db"))
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
			q := configstore.Query{ByUpdate: r.IntN(2) == 0, ByRank: r.IntN(3) == 0, Ascending: r.IntN(2) == 0, Limit: 1 + r.Int64N(60)}
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
					if !q.ByRank && len(got) > 0 && v.Created != last.Created && (v.Created > last.Created) != (q.Ascending != q.ByUpdate) {
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

func TestDeleteClearsReferences(t *testing.T) {
	d, err := db.Open(context.Background(), "sqlite:"+filepath.Join(t.TempDir(), "test.db"))
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
