package datasource_test

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/core/evaluate"
	"tocsin/internal/datasource"
	"tocsin/internal/platform/db"
	"tocsin/internal/querier"
	prom "tocsin/internal/querier/prometheus"
	"tocsin/internal/querier/queriertest"
)

const testPath = "/monit/datasource/test"

// still is a querier whose phases take the same time each time.
type still struct{ querier.Querier }

func (still) Close() error { return nil }

func (still) Test(context.Context) []querier.Phase {
	return []querier.Phase{
		{Name: querier.PhaseResolve, OK: true, TookMS: 1}, {Name: querier.PhaseDial, OK: true, TookMS: 2}, {Name: querier.PhaseTLS, OK: true, TookMS: 9},
		{Name: querier.PhaseSignIn, TookMS: 4, Message: "prometheus.example.com:9090 answered 401: it refused the sign-in"},
	}
}

// connect opens datasources as the program does.
func connect(open func(querier.Datasource) (querier.Querier, *evaluate.Failure)) func(context.Context, int64, datasource.Connection) (querier.Querier, *evaluate.Failure) {
	return func(_ context.Context, _ int64, d datasource.Connection) (querier.Querier, *evaluate.Failure) {
		if d.Failed != nil {
			return nil, d.Failed
		}
		return open(d.Datasource)
	}
}

func TestTest(t *testing.T) {
	asked := querier.Datasource{}
	s := apitest.Start(t, (&datasource.Service{Keyring: newKeyring(t), Open: connect(func(d querier.Datasource) (querier.Querier, *evaluate.Failure) {
		asked = d
		if d.Type == "mysql" {
			return nil, &evaluate.Failure{Kind: evaluate.Unsupported, Message: "this program was built without datasources of type mysql"}
		}
		return still{}, nil
	})}).Ops())
	s.Grant(auth.DatasourcesRead)
	s.Call(apitest.KeyA, createPath, prometheus(`{"basic_auth_password": "hunter2"}`)).Into(new(any))
	holds := func(want string) func(*testing.T, *apitest.Server, apitest.Reply) {
		return func(t *testing.T, _ *apitest.Server, r apitest.Reply) {
			if !strings.Contains(string(r.Body), want) {
				t.Errorf("no %s in %s", want, r.Body)
			}
		}
	}
	s.Scenarios(t, testPath, []apitest.Scenario{
		{Name: "stored", Body: `{"id": 1}`, Golden: "monit_datasource_test", Then: func(t *testing.T, _ *apitest.Server, _ apitest.Reply) {
			if asked.Address != "http://p:9090" || !strings.Contains(string(asked.Payload), "hunter2") {
				t.Errorf("asked %s with %s", asked.Address, asked.Payload)
			}
		}},
		{Name: "not stored", Body: prometheus(`{}`), Then: holds(`"sign_in"`)},
		{Name: "a type that cannot be asked", Body: body("mysql", "m:3306", `{}`), Then: holds(`{"name":"query","ok":false,"took_ms":0,"message":"this program was built without datasources of type mysql"}`)},
		{Name: "a stored one elsewhere", Body: `{"id": 1, "address": "http://other"}`, Code: "InvalidParameter", Says: []string{"id", "alone"}},
		{Name: "neither", Body: `{}`, Code: "InvalidParameter", Says: []string{"payload", "required"}},
		{Name: "a malformed address", Body: body("prometheus", "p:9090", `{}`), Code: "InvalidParameter", Says: []string{"address", "http"}},
		{Name: "a variable of the server", Body: prometheus(`{"basic_auth_password": "${env:TOCSIN_DB}"}`), Code: "InvalidParameter", Says: []string{"TOCSIN_"}},
		{Name: "unknown", Body: `{"id": 2}`, Code: "ResourceNotFound", Says: []string{"datasource 2"}},
		{Name: "other account", Key: apitest.KeyB, Body: `{"id": 1}`, Code: "ResourceNotFound"},
		{Name: "to a reader", Key: apitest.KeyReader, Body: `{"id": 1}`, Code: "AccessDenied", Says: []string{"Datasources Manage (monit)"}},
	})
	s.Exec(`UPDATE datasource SET payload = '{"prometheus":{"basic_auth_password":"s1.0000000000000000.AAAA"}}'`)
	s.Scenarios(t, testPath, []apitest.Scenario{{Name: "secrets of a lost key", Body: `{"id": 1}`, Then: holds("enter them again")}})
}

// rights is a querier whose role may do what its test has.
type rights struct{ querier.Querier }

func (rights) Close() error { return nil }

func (rights) Test(context.Context) []querier.Phase {
	return []querier.Phase{{Name: querier.PhaseQuery, OK: true}, {Name: querier.PhaseRights, Message: "this role is a superuser"}}
}

// What the role of a stored datasource may do is known until the datasource is changed.
func TestTestStoresWhatRoleMayDo(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, (&datasource.Service{Keyring: newKeyring(t), Open: connect(func(querier.Datasource) (querier.Querier, *evaluate.Failure) {
		return rights{}, nil
	})}).Ops())
	s.Call(apitest.KeyA, createPath, prometheus(`{}`)).Into(new(any))
	stores := func(path, body, want string) {
		t.Helper()
		s.Call(apitest.KeyA, path, body).Into(new(any))
		s.Read(func(tx *db.Tx) error {
			found, err := datasource.CanWrite(tx, apitest.AccountA)
			if got := found[1]; got != want || len(found) > 1 {
				t.Errorf("%s %s: %v, want %q", path, body, found, want)
			}
			return err
		})
	}
	stores(testPath, prometheus(`{}`), "")
	stores(testPath, `{"id": 1}`, "this role is a superuser")
	stores("/monit/datasource/update", strings.Replace(prometheus(`{}`), "{", `{"id": 1, `, 1), "")
}

// A server that repeats what it received learns nothing to others: neither the reply nor the audit log has a secret.
func TestTestShowsNoSecret(t *testing.T) {
	var seen string
	echo := httptest.NewServer(queriertest.Echo(400, &seen))
	t.Cleanup(echo.Close)
	registry := querier.Registry{Types: querier.Types{"prometheus": prom.Open}, Out: queriertest.Out()}
	s := apitest.Start(t, (&datasource.Service{Keyring: newKeyring(t), Open: connect(registry.Open)}).Ops())
	r := s.Call(apitest.KeyA, testPath, body("prometheus", echo.URL, `{"basic_auth_enabled": true, "basic_auth_username": "tocsin",
		"basic_auth_password": "hunter2-password", "headers": ["Authorization: Bearer hunter2-token", "X-Key: hunter2-key"], "params": ["k=hunter2-param"]}`))
	if r.Code != "" || !strings.Contains(string(r.Body), `"name":"query","ok":false`) || strings.Contains(string(r.Body), "hunter2") {
		t.Errorf("%s", r.Body)
	}
	if !strings.Contains(seen, "hunter2-key") {
		t.Errorf("the server received %s", seen)
	}
	s.Read(func(tx *db.Tx) error {
		n, _, err := db.One(tx, db.Column[int64], `SELECT count(*) FROM audit_log WHERE account_id = $1 AND body LIKE '%hunter2%'`, apitest.AccountA)
		if n != 0 {
			t.Errorf("%d entries of the audit log have a secret", n)
		}
		return err
	})
}

// A datasource whose secrets cannot be opened is not missing: its rules would seem to have none.
func TestConnections(t *testing.T) {
	s := start(t)
	for _, name := range []string{"a", "b", "c"} {
		s.Call(apitest.KeyA, createPath, prometheus(`{"headers": ["X: `+name+`-secret"]}`)).Into(new(any))
	}
	s.Exec(`UPDATE datasource SET payload = '{"prometheus":{"basic_auth_password":"s1.0000000000000000.AAAA"}}' WHERE datasource_id = 2`)
	s.Exec(`UPDATE datasource SET enabled = FALSE WHERE datasource_id = 3`)
	reports := 0
	s.Read(func(tx *db.Tx) error {
		list, err := datasource.Connections(tx, newKeyring(t), apitest.AccountA, func(error) { reports++ })
		if err != nil || len(list) != 2 || list[0].Failed == nil || list[1].Failed == nil || list[1].Address != "http://p:9090" {
			t.Errorf("with other keys: %+v %v", list, err)
		}
		other, err := datasource.Connections(tx, newKeyring(t), apitest.AccountB, func(error) { reports++ })
		if len(other) != 0 {
			t.Errorf("of the other account: %+v", other)
		}
		return err
	})
	if reports != 2 {
		t.Errorf("%d reports, want 2", reports)
	}
}
