package api_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"tocsin/internal/api"
	"tocsin/internal/api/apitest"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// orderToy is an operation that stores a toy, calls another system and then names the toy. outside stands for the call
// to the other system.
func orderToy(outside func(c *api.Call) error) []api.Op {
	before := func(c *api.Call, in newToy) (newToy, error) {
		err := c.Write(func() error {
			_, err := c.Tx.Exec(`INSERT INTO toy (account_id, toy_id, toy_name) VALUES ($1, 1, 'ordered')`, c.Who.AccountID)
			return err
		})
		if err == nil {
			err = outside(c)
		}
		return in, err
	}
	do := func(c *api.Call, in newToy) (made, error) {
		if _, err := c.Tx.Exec(`UPDATE toy SET toy_name = $2 WHERE account_id = $1`, c.Who.AccountID, in.Name); err != nil {
			return made{}, err
		}
		c.Touched("toy", 1, in.Name)
		if in.Then == "refuse" {
			return made{}, fault.New(fault.Conflict, "the toy does not want to")
		}
		return made{ID: 1}, nil
	}
	return []api.Op{{Path: "/toy/order", Effect: api.Write, Audit: "toy:write:order", Doc: "Orders a toy.", Example: `{"name":"ball"}`, Do: api.DoAfter(before, do)}}
}

// TestDoAfterHoldsNoTransaction: other writes proceed during the call; the write is recorded once, also when it is refused.
func TestDoAfterHoldsNoTransaction(t *testing.T) {
	t.Parallel()
	var s *apitest.Server
	var fails error
	s = withToys(apitest.Start(t, toys(), orderToy(func(c *api.Call) error {
		if c.Tx != nil {
			t.Error("there is a transaction")
		}
		if r := s.Call(apitest.KeyB, create, `{"name":"other"}`); r.Code != "" {
			t.Errorf("another write meanwhile: %s", r.Body)
		}
		return fails
	})))
	for _, c := range []struct {
		body  string
		fails error
		code  string
		toys  string
	}{
		{`{"name":"ball"}`, nil, "", "ball other"},
		{`{"name":"ball"}`, fault.New(fault.Unavailable, "it does not answer"), "ServiceUnavailable", "ordered other"},
		{`{"name":"ball","then":"refuse"}`, nil, "BadRequest", "ordered other"},
	} {
		s.Exec(`DELETE FROM toy`)
		s.Exec(`DELETE FROM audit_log`)
		fails = c.fails
		r := s.Call(apitest.KeyA, "/toy/order", c.body)
		var mine []audited
		for _, e := range auditLog(s) {
			if e.account == apitest.AccountA {
				mine = append(mine, e)
			}
		}
		if got := strings.Join(toyNames(s), " "); r.Code != c.code || got != c.toys || len(mine) != 1 || mine[0].code != c.code {
			t.Errorf("%s: %s, toys %s, log %+v", c.body, r.Body, got, mine)
		}
	}
}

// TestDoAfterCompletesWithoutCaller: the result of the call to the other system is stored although the caller left.
func TestDoAfterCompletesWithoutCaller(t *testing.T) {
	t.Parallel()
	ctx, leave := context.WithCancel(context.Background())
	gone, done := make(chan struct{}), make(chan error, 1)
	s := withToys(apitest.Start(t, toys(), orderToy(func(c *api.Call) error {
		leave()
		<-gone
		done <- c.Ctx.Err()
		return nil
	})))
	r := s.Request("POST", "/toy/order?app_key="+apitest.KeyA, `{"name":"ball"}`)
	r.Header.Set("Content-Type", "application/json")
	if _, err := http.DefaultClient.Do(r.WithContext(ctx)); err == nil {
		t.Error("the caller waited")
	}
	close(gone)
	if err := <-done; err != nil {
		t.Error(err)
	}
	s.Close() // waits for calls in flight
	if got := toyNames(s); len(got) != 1 || got[0] != "ball" {
		t.Errorf("%q", got)
	}
}

func TestDoAfterIsNotForReads(t *testing.T) {
	t.Parallel()
	for what, op := range map[string]api.Op{
		"a read":     {Path: "/a", Effect: api.Read, Do: orderToy(nil)[0].Do},
		"a snapshot": {Path: "/a", Effect: api.Snapshot, Do: orderToy(nil)[0].Do},
		"a write":    {Path: "/a", Effect: api.Write, Do: orderToy(nil)[0].Do},
	} {
		func() {
			defer func() {
				if refused := recover() != nil; refused != (what == "a read") {
					t.Errorf("%s: refused %v", what, refused)
				}
			}()
			apitest.Start(t, []api.Op{op})
		}()
	}
}

// outsideRequest is a request of an operation that calls another system and supports dry runs.
type outsideRequest struct {
	Name string `json:"name" doc:"Its name."`
	api.DryRun
}

// TestDryRunDoesNotCallOutside: a dry run calls no other system, and changes and records nothing.
func TestDryRunDoesNotCallOutside(t *testing.T) {
	t.Parallel()
	asked := 0
	do := api.DoAfter(func(c *api.Call, in outsideRequest) (outsideRequest, error) {
		if in.DryRun.Only {
			return in, nil
		}
		asked++
		return in, c.Write(func() error { return nil })
	}, func(c *api.Call, in outsideRequest) (api.Removal, error) {
		c.Removed("toy", 1, in.Name)
		_, err := c.Tx.Exec(`DELETE FROM toy WHERE account_id = $1`, c.Who.AccountID)
		return api.Removal{Warnings: api.Warn([]string{"it lies in the garden"})}, err
	})
	s := withToys(apitest.Start(t, toys(), []api.Op{{Path: "/toy/bury", Effect: api.Write, Audit: "toy:write:bury", Doc: "Buries toys.", Example: `{"name":"ball"}`, Do: do}}))
	s.Exec(`INSERT INTO toy (account_id, toy_id, toy_name) VALUES ($1, 1, 'ball')`, apitest.AccountA)
	s.Converse(t, []apitest.Turn{{Path: "/toy/bury", Body: `{"name":"ball","dry_run":true}`, Data: `{"dry_run":true,"allowed":true,"removes":[{"kind":"toy","id":"1","name":"ball"}]}`}})
	if n := len(auditLog(s)); asked != 0 || n != 0 || len(toyNames(s)) != 1 {
		t.Errorf("a dry run called %d times, recorded %d, left %v", asked, n, toyNames(s))
	}
	s.Converse(t, []apitest.Turn{{Path: "/toy/bury", Body: `{"name":"ball"}`, Data: `{"warnings":["it lies in the garden"]}`}})
	if asked != 1 || len(auditLog(s)) != 1 || len(toyNames(s)) != 0 {
		t.Errorf("it called %d times, left %v", asked, toyNames(s))
	}
}

// TestSnapshotWithDoAfter reads which system to call, and calls it without a transaction.
func TestSnapshotWithDoAfter(t *testing.T) {
	t.Parallel()
	do := api.DoAfter(func(c *api.Call, in newToy) (made, error) {
		n := int64(0)
		err := c.Read(func() (err error) {
			n, _, err = db.One(c.Tx, db.Column[int64], `SELECT count(*) FROM toy WHERE account_id = $1`, c.Who.AccountID)
			return err
		})
		if c.Tx != nil {
			t.Error("there is a transaction")
		}
		return made{ID: n + 7}, err
	}, func(_ *api.Call, m made) (made, error) { return m, nil })
	s := withToys(apitest.Start(t, toys(), []api.Op{{Path: "/toy/look", Effect: api.Snapshot, Doc: "Looks at a toy.", Example: `{"name":"ball"}`, Do: do}}))
	s.Converse(t, []apitest.Turn{{Path: "/toy/look", Body: `{"name":"ball"}`, Has: `{"id":7}`}})
}
