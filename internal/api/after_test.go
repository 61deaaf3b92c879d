package api_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"tocsin/internal/api"
	"tocsin/internal/api/apitest"
	"tocsin/internal/fault"
)

// far is an operation that leaves a toy behind, asks somebody outside and gives the toy its name; outside is
// that somebody.
func far(outside func(c *api.Call) error) []api.Op {
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

// TestAWriteThatAsksOutside: while it asks others may write; it is recorded once, and refused as any write.
func TestAWriteThatAsksOutside(t *testing.T) {
	var s *apitest.Server
	var fails error
	s = withToys(apitest.Start(t, toys(), far(func(c *api.Call) error {
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

// TestItIsFinishedWithoutTheCaller: what was done outside is not lost because the caller did not wait.
func TestItIsFinishedWithoutTheCaller(t *testing.T) {
	ctx, leave := context.WithCancel(context.Background())
	gone, done := make(chan struct{}), make(chan error, 1)
	s := withToys(apitest.Start(t, toys(), far(func(c *api.Call) error {
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
	s.Close() // waits for what is in flight
	if got := toyNames(s); len(got) != 1 || got[0] != "ball" {
		t.Errorf("%q", got)
	}
}

func TestOnlyAWriteAsksOutside(t *testing.T) {
	for what, op := range map[string]api.Op{
		"a read":       {Path: "/a", Effect: api.Read, Do: far(nil)[0].Do},
		"a rehearsal":  {Path: "/a", Effect: api.Write, Do: api.DoAfter(func(c *api.Call, in rehearsed) (rehearsed, error) { return in, nil }, func(*api.Call, rehearsed) (api.Empty, error) { return api.Empty{}, nil })},
		"what is fine": {Path: "/a", Effect: api.Write, Do: far(nil)[0].Do},
	} {
		func() {
			defer func() {
				if refused := recover() != nil; refused != (what != "what is fine") {
					t.Errorf("%s: refused %v", what, refused)
				}
			}()
			apitest.Start(t, []api.Op{op})
		}()
	}
}

type rehearsed struct{ api.DryRun }
