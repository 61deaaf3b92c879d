package api_test

import (
	"strings"
	"testing"

	"tocsin/internal/api"
	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

const drop = "/toy/delete"

type dropToy struct {
	ID int64 `json:"id" minimum:"1" doc:"The toy's identifier."`
	api.DryRun
}

func dropping() []api.Op {
	return []api.Op{{Path: drop, Errors: api.Referenced, Effect: api.Write, Allow: []auth.Permission{auth.SchedulesManage}, Audit: "toy:write:delete", Danger: true,
		Doc: "Throws a toy away.", Example: `{"id":1}`,
		Do: api.Do(func(c *api.Call, in dropToy) (api.Removal, error) {
			name, found, err := db.One(c.Tx, db.Column[string], `DELETE FROM toy WHERE account_id = $1 AND toy_id = $2 RETURNING toy_name`, c.Who.AccountID, in.ID)
			switch {
			case err != nil:
				return api.Removal{}, err
			case !found:
				return api.Removal{}, fault.Missing("toy", in.ID)
			case name == "worn":
				return api.Removal{}, fault.New(fault.Conflict, "it must be repaired first")
			}
			c.Removed("toy", in.ID, name)
			return api.Removal{}, configstore.RefuseReferenced(c.Tx, c.Who.AccountID, "toy", in.ID)
		})}}
}

func TestDryRun(t *testing.T) {
	t.Parallel()
	s := withToys(apitest.Start(t, dropping()))
	for id, name := range []string{1: "ball", 2: "bear", 3: "worn"} {
		s.Exec(`INSERT INTO toy (account_id, toy_id, toy_name) VALUES ($1, $2, $3)`, apitest.AccountA, id, name)
	}
	s.Write(func(tx *tx) error {
		return configstore.SetReferences(tx, apitest.AccountA, configstore.RefFrom("box", "b1", "Attic"), configstore.RefTo("toy", 2))
	})
	before := strings.Join(toyNames(s), " ")
	s.Scenarios(t, drop, []apitest.Scenario{
		{Name: "would do it", Body: `{"id":1,"dry_run":true}`, Data: `{"dry_run":true,"allowed":true,"removes":[{"kind":"toy","id":"1","name":"ball"}]}`},
		{Name: "is referred to", Body: `{"id":2,"dry_run":true}`, Data: `{"dry_run":true,"allowed":false,"refs":[{"kind":"box","id":"b1","name":"Attic"}],
			"error":{"code":"ReferenceExist","message":"The resource is still referenced: toy 2 is used by box b1 (Attic)."}}`},
		{Name: "is in the wrong state", Body: `{"id":3,"dry_run":true}`, Data: `{"dry_run":true,"allowed":false,
			"error":{"code":"BadRequest","message":"The request does not fit the present state: it must be repaired first."}}`},
		{Name: "is not there", Body: `{"id":4,"dry_run":true}`, Code: "ResourceNotFound"},
		{Name: "is malformed", Body: `{"id":0,"dry_run":true}`, Code: "InvalidParameter"},
		{Name: "may not", Key: apitest.KeyNothing, Body: `{"id":1,"dry_run":true}`, Code: "AccessDenied"},
	})
	if after := strings.Join(toyNames(s), " "); after != before {
		t.Errorf("dry runs changed %q to %q", before, after)
	}
	for _, e := range auditLog(s) {
		if e.code != "AccessDenied" && e.code != "InvalidParameter" { // refused before the request was decoded
			t.Errorf("a dry run is recorded: %+v", e)
		}
	}
}

// slowReply is a reply that is completed when others may write again.
type slowReply struct {
	Completed int `json:"completed" doc:"How often it was completed."`
	complete  func()
}

func (r *slowReply) Completion() func(*api.Call) error {
	return func(*api.Call) error {
		r.Completed++
		r.complete()
		return nil
	}
}

func TestReplyIsCompletedAfterItsTransaction(t *testing.T) {
	t.Parallel()
	var s *apitest.Server
	s = withToys(apitest.Start(t, []api.Op{{Path: drop, Effect: api.Write, Audit: "toy:write:delete", Doc: "Counts toys.", Example: `{"id":1}`,
		Do: api.Do(func(c *api.Call, in dropToy) (slowReply, error) {
			c.Touched("toy", in.ID, "ball")
			return slowReply{complete: func() {
				s.Exec(`INSERT INTO toy (account_id, toy_id, toy_name) VALUES ($1, $2, $3)`, apitest.AccountA, in.ID, "ball")
			}}, nil
		})}}))
	s.Scenarios(t, drop, []apitest.Scenario{
		{Name: "dry run", Body: `{"id":1,"dry_run":true}`, Data: `{"completed":1}`},
		{Name: "write", Body: `{"id":2}`, Data: `{"completed":1}`},
	})
	if names := toyNames(s); len(names) != 2 {
		t.Error(names)
	}
}

func TestReferenceExist(t *testing.T) {
	t.Parallel()
	s := withToys(apitest.Start(t, dropping()))
	s.Exec(`INSERT INTO toy (account_id, toy_id, toy_name) VALUES ($1, 1, 'ball')`, apitest.AccountA)
	s.Write(func(tx *tx) error {
		for _, name := range []string{"Attic", "Cellar"} {
			if err := configstore.SetReferences(tx, apitest.AccountA, configstore.RefFrom("box", name[:1], name), configstore.RefTo("toy", 1)); err != nil {
				return err
			}
		}
		return configstore.SetReferences(tx, apitest.AccountB, configstore.RefFrom("box", "X", "Not yours"), configstore.RefTo("toy", 1))
	})
	r := s.Call(apitest.KeyA, drop, `{"id":1}`)
	if want := `{"refs":[{"kind":"box","id":"A","name":"Attic"},{"kind":"box","id":"C","name":"Cellar"}]}`; r.Status != 400 || r.Code != "ReferenceExist" || string(r.Data) != want {
		t.Errorf("%d %s\n%s\nwant %s", r.Status, r.Code, r.Body, want)
	}
	s.Write(func(tx *tx) error {
		if err := configstore.ClearReferences(tx, apitest.AccountA, "box", "A"); err != nil {
			return err
		}
		return configstore.SetReferences(tx, apitest.AccountA, configstore.RefFrom("box", "C", "Cellar"))
	})
	if r := s.Call(apitest.KeyA, drop, `{"id":1}`); string(r.Data) != `{}` {
		t.Errorf("%s", r.Body)
	}
	if r := s.Call(apitest.KeyA, drop, `{"id":1}`); r.Code != "ResourceNotFound" {
		t.Errorf("%s", r.Body)
	}
	s.Read(func(tx *tx) error {
		touched, err := allOf[string](tx, `SELECT kind || ' ' || object_id || ' ' || object_name FROM audit_touched WHERE account_id = $1`, apitest.AccountA)
		if len(touched) != 1 || touched[0] != "toy 1 ball" {
			t.Errorf("touched %q", touched)
		}
		return err
	})
}
