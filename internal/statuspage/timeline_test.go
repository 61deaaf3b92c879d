package statuspage

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/platform/db"
)

// legal lists the statuses that may follow each one, written out.
var legal = map[string][]string{
	"investigating": {"investigating", "identified", "monitoring", "resolved"}, "identified": {"investigating", "identified", "monitoring", "resolved"},
	"monitoring": {"investigating", "identified", "monitoring", "resolved"}, "resolved": {"resolved"},
	"scheduled": {"scheduled", "ongoing", "completed"}, "ongoing": {"ongoing", "completed"}, "completed": {"completed"},
}

func TestLegalTransitions(t *testing.T) {
	t.Parallel()
	for kind, list := range statuses {
		for _, before := range list {
			for _, after := range list {
				if got, want := mayFollow(kind, before, after), slices.Contains(legal[before], after); got != want {
					t.Errorf("%s after %s: %t", after, before, got)
				}
			}
		}
	}
}

// randomChange returns a change with a timeline of 1 to 5 updates at the moments 1 to 50.
func randomChange(r *rand.Rand, number int64) Change {
	kind := []string{incident, maintenance}[r.IntN(2)]
	c := Change{ChangeID: number, PageID: 1, Type: kind, Title: "x", StartAt: 1 + r.Int64N(100), ResponderIDs: []int64{}, LinkedChangeIDs: []string{}}
	if kind == maintenance && r.IntN(3) > 0 {
		c.AutoUpdate, c.CloseAt = true, c.StartAt+1+r.Int64N(100)
	}
	for i := range 1 + r.IntN(5) {
		u := Update{UpdateID: fmt.Sprint(i), At: 1 + r.Int64N(50), Components: []ComponentChange{}}
		if i == 0 || r.IntN(3) > 0 {
			u.Status = statuses[kind][r.IntN(len(statuses[kind]))]
		}
		for range r.IntN(2) {
			list := componentStatuses[kind]
			u.Components = append(u.Components, ComponentChange{ComponentID: fmt.Sprint("c", r.IntN(3)), Status: list[r.IntN(len(list))]})
		}
		c.Updates = append(c.Updates, u)
	}
	c.order()
	return c
}

// naive replays the updates in the order of their time and returns whether they are legal, and what they lead to at a
// moment after all of them.
func naive(c Change, now int64) (ok bool, status string, affected map[string]string) {
	affected = map[string]string{}
	retrograde := false
	for _, u := range c.Updates {
		if u.Status != "" {
			retrograde = retrograde || status != "" && !slices.Contains(legal[status], u.Status)
			status = u.Status
		}
		for _, one := range u.Components {
			affected[one.ComponentID] = one.Status
		}
	}
	ended := status == "resolved" || status == "completed"
	for _, s := range affected {
		retrograde = retrograde || ended && s != "operational"
	}
	if c.AutoUpdate && !ended {
		if now >= c.StartAt {
			status = "ongoing"
		}
		if now >= c.CloseAt {
			status = "completed"
		}
	}
	if status == "resolved" || status == "completed" {
		for id := range affected {
			affected[id] = "operational"
		}
	}
	return !retrograde && status != "", status, affected
}

// Random timelines are accepted and shown as the naive model has them, and the database finds them by the same status.
func TestTimelinesAgreeWithModel(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t)
	const seed = 20261122
	r := rand.New(rand.NewPCG(seed, 0))
	s.Write(func(tx *db.Tx) error {
		return Pages.Put(tx, apitest.AccountA, &Page{PageID: 1, Name: "x", URLName: "x"})
	})
	accepted := []Change{}
	for i := range int64(3000) {
		c := randomChange(r, i+1)
		ok, _, _ := naive(c, 0)
		if err := c.check(""); (err == nil) != ok {
			t.Fatalf("seed %d, change %d: %+v\nlegal: %t, %v", seed, i, c, ok, err)
		}
		if ok && len(accepted) < 300 {
			accepted = append(accepted, c)
		}
	}
	s.Write(func(tx *db.Tx) error { return Load(tx, apitest.AccountA, slices.Clone(accepted)) })
	for now := int64(50); now < 210; now += 1 + r.Int64N(15) {
		want, active := map[string][]int64{}, []int64{}
		for _, c := range accepted {
			_, status, affected := naive(c, now)
			shown := c.shown(&Page{}, now)
			if shown.Status != status || len(shown.Affected) != len(affected) {
				t.Fatalf("seed %d at %d: %+v is shown as %s %v, want %s %v", seed, now, c, shown.Status, shown.Affected, status, affected)
			}
			for _, a := range shown.Affected {
				if affected[a.ComponentID] != a.Status {
					t.Fatalf("seed %d at %d: %+v shows %s as %s, want %s", seed, now, c, a.ComponentID, a.Status, affected[a.ComponentID])
				}
			}
			want[status] = append(want[status], c.ChangeID)
			if status != "resolved" && status != "completed" {
				active = append(active, c.ChangeID)
			}
		}
		s.Read(func(tx *db.Tx) error {
			for status := range legal {
				list, total, err := changesOf(tx, apitest.AccountA, selection{page: 1, status: status, to: maxTime, limit: 1000}, now)
				if got := numbers(list); err != nil || !slices.Equal(got, want[status]) || total != int64(len(got)) {
					t.Errorf("seed %d at %d: %s are %v, want %v: %v", seed, now, status, got, want[status], err)
				}
			}
			list, total, err := openChanges(tx, apitest.AccountA, selection{limit: 1000}, now)
			if got := numbers(list); err != nil || !slices.Equal(got, active) || total != int64(len(got)) {
				t.Errorf("seed %d at %d: active are %v, want %v: %v", seed, now, got, active, err)
			}
			return nil
		})
	}
}

func numbers(list []Change) (all []int64) {
	for _, c := range list {
		all = append(all, c.ChangeID)
	}
	slices.Sort(all)
	return all
}
