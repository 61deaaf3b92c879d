package api_test

import (
	"strings"
	"testing"
	"time"

	"tocsin/internal/api"
	"tocsin/internal/api/apitest"
	"tocsin/internal/platform/fair"
)

// TestLargeBodiesAreDecodedInTurn: of writes with large bodies one is decoded at a time, over all accounts; small ones go on
// meanwhile.
func TestLargeBodiesAreDecodedInTurn(t *testing.T) {
	t.Parallel()
	pace := fair.NewQueue(fair.Rare, nil)
	s := withToys(apitest.StartConfig(t, func(c *api.Config) { c.Pace = pace }, toys()))
	large := `{"name":"ball","padding":"` + strings.Repeat("x", 100_000) + `"}`
	another, err := pace.Enter(t.Context(), fair.Flow{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	replies := make(chan apitest.Reply, 3)
	for n, key := range []string{apitest.KeyA, apitest.KeyB, apitest.KeyA} {
		go func() { replies <- s.Call(key, create, large) }()
		for pace.Waiting() != n+1 {
			time.Sleep(time.Millisecond)
		}
	}
	if r := s.Call(apitest.KeyA, create, `{"name":"small"}`); r.Status != 200 {
		t.Errorf("a small body: %d %s", r.Status, r.Body)
	}
	if len(replies) > 0 {
		t.Error("a large body is decoded beside another")
	}
	another()
	for range 3 {
		if r := <-replies; r.Status != 200 {
			t.Errorf("%d %s", r.Status, r.Body)
		}
	}
}
