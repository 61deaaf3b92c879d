package api_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"tocsin/internal/api"
	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/core/sentence"
	"tocsin/internal/platform/db"
)

// boxed is a request with a field that is no member of it, and a reply with what arrived.
type boxed struct {
	Size   *int64   `json:"size,omitzero" minimum:"1" doc:"Litres; absent: as it is."`
	Labels []string `json:"labels,omitzero" maxItems:"2" doc:"What is written on it; absent: as it is."`
	Secret string   `json:"-"`
}

type box struct {
	Got boxed `json:"got" doc:"The request."`
	api.Warnings
}

// kept is what the operation of boxes returns a part of.
var kept = []string{"kept"}

func boxes() []api.Op {
	return []api.Op{
		{Path: "/box/update", Effect: api.Write, Allow: []auth.Permission{auth.SchedulesManage}, Audit: "box:write:update", Doc: "Changes a box.", Example: `{}`,
			Do: api.Do(func(c *api.Call, in boxed) (box, error) {
				c.Touched("box", 1, "box")
				c.Warn("it is empty")
				return box{Got: in}, nil
			})},
		{Path: "/box/kept", Effect: api.Read, Doc: "Shows what is kept.", Example: `{}`,
			Do: api.Do(func(*api.Call, nothing) ([]string, error) { return kept, nil })},
		{Path: "/box/strange", Effect: api.Read, Doc: "Cannot be encoded.", Example: `{}`,
			Do: api.Do(func(*api.Call, nothing) (made, error) {
				return made{ID: 3, More: map[string]any{"x": make(chan int)}}, nil
			})},
	}
}

func insider(s *apitest.Server, t testing.TB, person int64) api.Inside {
	t.Helper()
	by := api.Inside{IP: "192.0.2.7"}
	s.Read(func(tx *db.Tx) (err error) {
		var found bool
		by.Who, found, err = auth.OfPerson(tx, apitest.AccountA, person)
		if !found {
			t.Fatal("there is no such person")
		}
		return err
	})
	return by
}

// TestAskHandsOverOperationsValues calls with types: what is absent stays absent, what JSON leaves out does not arrive, the reply is not copied,
// not encoded, and has the warnings.
func TestAskHandsOverOperationsValues(t *testing.T) {
	t.Parallel()
	s := withToys(apitest.Start(t, toys(), boxes()))
	ctx, owner := context.Background(), insider(s, t, apitest.OwnerA)
	reply, err := api.Ask[box](ctx, s.Frame, owner, "/box/update", boxed{Secret: "smuggled"})
	if err != nil || reply.Got.Size != nil || reply.Got.Labels != nil || reply.Got.Secret != "" || !slices.Equal(reply.Warnings.Warnings, []sentence.Words{"it is empty"}) {
		t.Errorf("an empty request: %+v, %v", reply, err)
	}
	reply, err = api.Ask[box](ctx, s.Frame, owner, "/box/update", boxed{Size: new(int64(2)), Labels: []string{}})
	if err != nil || *reply.Got.Size != 2 || reply.Got.Labels == nil {
		t.Errorf("a full request: %+v, %v", reply, err)
	}
	list, err := api.Ask[[]string](ctx, s.Frame, owner, "/box/kept", nothing{})
	if err != nil || &list[0] != &kept[0] {
		t.Errorf("the reply was copied: %v, %v", list, err)
	}
	if reply, err := api.Ask[made](ctx, s.Frame, owner, "/box/strange", nothing{}); err != nil || reply.ID != 3 {
		t.Errorf("the reply was encoded: %+v, %v", reply, err)
	}
}

// TestAskRefusesAsAPIDoes compares the refusals and the audit log of calls with types and of calls with a key.
func TestAskRefusesAsAPIDoes(t *testing.T) {
	t.Parallel()
	s := withToys(apitest.Start(t, toys(), boxes()))
	ctx, owner := context.Background(), insider(s, t, apitest.OwnerA)
	for _, c := range []struct {
		name, path, body string
		key              string
		by               api.Inside
		ask              func(by api.Inside) error
	}{
		{"a bound", "/box/update", `{"size":0}`, apitest.KeyA, owner, func(by api.Inside) error {
			_, err := api.Ask[box](ctx, s.Frame, by, "/box/update", boxed{Size: new(int64(0))})
			return err
		}},
		{"a permission", "/box/update", `{}`, apitest.KeyNothing, insider(s, t, apitest.Stranger), func(by api.Inside) error {
			_, err := api.Ask[box](ctx, s.Frame, by, "/box/update", boxed{})
			return err
		}},
		{"a conflict", create, `{"name":"ball","password":"hidden","then":"refuse"}`, apitest.KeyA, owner, func(by api.Inside) error {
			_, err := api.Ask[made](ctx, s.Frame, by, create, newToy{Name: "ball", Password: "hidden", Then: "refuse"})
			return err
		}},
		{"a failure", create, `{"name":"ball","then":"panic"}`, apitest.KeyA, owner, func(by api.Inside) error {
			_, err := api.Ask[made](ctx, s.Frame, by, create, newToy{Name: "ball", Then: "panic"})
			return err
		}},
		{"a rule between fields", echo, `{"name":"a","count":1,"maybe":null,"from":3}`, apitest.KeyA, owner, func(by api.Inside) error {
			_, err := api.Ask[Toys](ctx, s.Frame, by, echo, Toys{Name: "a", Count: 1, From: 3})
			return err
		}},
	} {
		s.Exec(`DELETE FROM audit_log`)
		reply := s.Call(c.key, c.path, c.body)
		logged := recorded(s)
		s.Exec(`DELETE FROM audit_log`)
		refusal := api.RefusalOf(c.ask(c.by))
		switch {
		case refusal == nil:
			t.Errorf("%s is not refused", c.name)
		case refusal.Code != reply.Code || refusal.Message != reply.Message || refusal.Status != reply.Status:
			t.Errorf("%s: %d %s %q, with a key %d %s %q", c.name, refusal.Status, refusal.Code, refusal.Message, reply.Status, reply.Code, reply.Message)
		}
		if inside := recorded(s); inside != logged {
			t.Errorf("%s: the audit log has %s, with a key %s", c.name, inside, logged)
		}
	}
}

// recorded returns what the audit log has of the calls.
func recorded(s *apitest.Server) string {
	var all []string
	s.Read(func(tx *db.Tx) (err error) {
		all, err = db.All(tx, db.Column[string], `SELECT operation || ' ' || outcome || ' ' || body || ' ' || person_name FROM audit_log ORDER BY audit_id`)
		return err
	})
	return strings.Join(all, "; ")
}

// TestAskWithOtherTypes calls with types that the operation does not have: nothing is done.
func TestAskWithOtherTypes(t *testing.T) {
	t.Parallel()
	s := withToys(apitest.Start(t, toys(), boxes()))
	ctx, owner := context.Background(), insider(s, t, apitest.OwnerA)
	_, other := api.Ask[toy](ctx, s.Frame, owner, "/box/update", boxed{})
	_, asked := api.Ask[box](ctx, s.Frame, owner, "/box/update", nothing{})
	for _, err := range []error{other, asked} {
		if err == nil || errors.As(err, new(*api.Refusal)) || !strings.Contains(err.Error(), "/box/update takes api_test.boxed and answers api_test.box") {
			t.Errorf("other types: %v", err)
		}
	}
	if n := recorded(s); n != "" {
		t.Errorf("the operation was called: %s", n)
	}
	if _, err := api.Ask[box](ctx, s.Frame, owner, "/box/none", boxed{}); api.RefusalOf(err) == nil || api.RefusalOf(err).Code != "RouteNotFound" {
		t.Errorf("no operation: %v", err)
	}
}

// BenchmarkInside calls a list of 100 toys within the program.
func BenchmarkInside(b *testing.B) {
	s := withToys(apitest.StartConfig(b, func(*api.Config) {}, toys()))
	for id := range 100 {
		s.Exec(`INSERT INTO toy (account_id, toy_id, toy_name) VALUES ($1, $2, 'a toy of some length')`, apitest.AccountA, id+1)
	}
	ctx, owner := context.Background(), insider(s, b, apitest.OwnerA)
	for b.Loop() {
		if reply, err := api.Ask[api.Items[toy]](ctx, s.Frame, owner, list, nothing{}); err != nil || len(reply.Items) != 100 {
			b.Fatal(err)
		}
	}
}
