package webhook_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"tocsin/internal/api/apitest"
	"tocsin/internal/engine/webhook"
	"tocsin/internal/platform/db"
)

// TestListsEqualModel reads random lists from end to end and compares every page and every total with the model, while
// another account has deliveries of its own at the same moments.
func TestListsEqualModel(t *testing.T) {
	t.Parallel()
	s, r := start(t), rand.New(rand.NewPCG(1, 0))
	all := random(r, 600)
	record(t, s, apitest.AccountB, random(r, 50)...)
	for chunk := range slices.Chunk(all, 150) {
		record(t, s, apitest.AccountA, chunk...)
	}
	for n := range 50 {
		in := randomRequest(r)
		want := in.pick(all)
		got := []string{}
		for first := true; first || in.SearchAfterCtx != ""; first = false {
			var p page
			s.Call(apitest.KeyA, "/webhook/history/list", in).Into(&p)
			if p.Total != len(want) {
				t.Fatalf("request %d %+v: total %d, want %d", n, in, p.Total, len(want))
			}
			if len(p.Items) > in.Limit || p.SearchAfterCtx != "" && len(p.Items) < in.Limit {
				t.Fatalf("request %d %+v: a page of %d, next %q", n, in, len(p.Items), p.SearchAfterCtx)
			}
			got = append(got, p.ids(t)...)
			in.SearchAfterCtx, in.Limit = p.SearchAfterCtx, 1+r.IntN(100)
		}
		if !slices.Equal(got, ids(want)) {
			t.Fatalf("request %d %+v: got %v\nwant %v", n, in, got, ids(want))
		}
	}
}

// TestWalksSurviveInserts records deliveries between the pages of a list, before and after the current page. The
// deliveries that existed at the first page come exactly once and in order; none comes twice.
func TestWalksSurviveInserts(t *testing.T) {
	t.Parallel()
	s, r := start(t), rand.New(rand.NewPCG(2, 0))
	all := random(r, 200)
	record(t, s, apitest.AccountA, all...)
	for n := range 12 {
		in := randomRequest(r)
		want, seen := in.pick(all), map[string]int{}
		got := []string{}
		for first := true; first || in.SearchAfterCtx != ""; first = false {
			in.Limit = 5 + r.IntN(20)
			var p page
			s.Call(apitest.KeyA, "/webhook/history/list", in).Into(&p)
			for _, id := range p.ids(t) {
				got = append(got, id)
				if seen[id]++; seen[id] > 1 {
					t.Fatalf("walk %d %+v: %s came twice", n, in, id)
				}
			}
			if p.Total != len(in.pick(all)) {
				t.Fatalf("walk %d %+v: total %d, want %d", n, in, p.Total, len(in.pick(all)))
			}
			in.SearchAfterCtx = p.SearchAfterCtx
			more := random(r, r.IntN(10))
			record(t, s, apitest.AccountA, more...)
			all = append(all, more...)
		}
		before := slices.DeleteFunc(got, func(id string) bool { return !slices.Contains(ids(want), id) })
		if !slices.Equal(before, ids(want)) {
			t.Fatalf("walk %d %+v: got %v\nwant %v", n, in, before, ids(want))
		}
	}
}

// TestPruneDeletesOldestAndTheirCounts deletes up to random times and compares lists and totals with the model each
// time; in the end no row is left in either table.
func TestPruneDeletesOldestAndTheirCounts(t *testing.T) {
	t.Parallel()
	s, r := start(t), rand.New(rand.NewPCG(3, 0))
	all := random(r, 300)
	record(t, s, apitest.AccountA, all...)
	record(t, s, apitest.AccountB, random(r, 50)...)
	prune := func(in request) {
		for more := true; more; {
			s.Write(func(tx *db.Tx) (err error) {
				more, err = webhook.PruneSome(tx, time.UnixMilli(in.StartTime), 70)
				return err
			})
		}
		all = slices.DeleteFunc(all, func(d webhook.Delivery) bool { return time.Time(d.EventTime).Before(time.UnixMilli(in.StartTime)) })
	}
	for n := range 5 {
		prune(randomRequest(r))
		for range 5 {
			in := randomRequest(r)
			var p page
			s.Call(apitest.KeyA, "/webhook/history/list", in).Into(&p)
			want := in.pick(all)
			if p.Total != len(want) || !slices.Equal(p.ids(t), ids(want[:min(len(want), in.Limit)])) {
				t.Fatalf("round %d %+v: total %d of %v, want %d of %v", n, in, p.Total, p.ids(t), len(want), ids(want))
			}
		}
		more := random(r, 100)
		record(t, s, apitest.AccountA, more...)
		all = append(all, more...)
	}
	prune(request{StartTime: apitest.Now.AddDate(0, 0, 1).UnixMilli()})
	for _, table := range []string{"webhook_delivery", "webhook_count", "webhook_count_day"} {
		if n := rows(t, s, table); n != 0 {
			t.Errorf("%d rows are left in %s", n, table)
		}
	}
}
