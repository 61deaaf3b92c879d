package datasource_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
)

// full holds a block of each type with every member set, and its form for callers who may only read.
var full = map[string][2]string{
	"prometheus":    {httpBlock, httpBlank},
	"loki":          {httpBlock, httpBlank},
	"victorialogs":  {httpBlock, httpBlank},
	"mysql":         {`{"username": "u", "password": "p", ` + pool + `, "tls_mode": "verify-full", ` + tls + `}`, `{"username": "u", "password": "", ` + pool + `, "tls_mode": "verify-full", ` + tlsBlank + `}`},
	"oracle":        {`{"username": "u", "password": "p", "options": {"SERVICE": "x", "": ""}, ` + pool + `}`, `{"username": "u", "password": "", "options": {"SERVICE": "x", "": ""}, ` + pool + `}`},
	"postgres":      {`{"username": "u", "password": "p", ` + pool + `, "ssl_mode": "require", "tls_ca": "a", "tls_cert": "c", "tls_key": "k"}`, `{"username": "u", "password": "", ` + pool + `, "ssl_mode": "require", "tls_ca": "a", "tls_cert": "c", "tls_key": ""}`},
	"clickhouse":    {`{"database": "d", "username": "u", "password": "p", ` + pool + `, "max_execution_seconds": 60, "dial_timeout_mills": 2000, "tls_enabled": true, ` + tls + `}`, `{"database": "d", "username": "u", "password": "", ` + pool + `, "max_execution_seconds": 60, "dial_timeout_mills": 2000, "tls_enabled": true, ` + tlsBlank + `}`},
	"elasticsearch": {`{"deployment": "self-managed", "timeout_mills": 1, "cloud_id": "i", "api_key": "k", "username": "u", "password": "p", "service_token": "s", "tls_ca": "a", "certificate_fingerprint": "f", "headers": ["A: b"]}`, `{"deployment": "self-managed", "timeout_mills": 1, "cloud_id": "i", "api_key": "", "username": "u", "password": "", "service_token": "", "tls_ca": "a", "certificate_fingerprint": "f", "headers": ["A: "]}`},
	"sls":           {`{"access_key_id": "i", "access_key_secret": "s", "headers": ["A: b"]}`, `{"access_key_id": "i", "access_key_secret": "", "headers": ["A: "]}`},
}

const (
	pool      = `"open_conns": 32, "idle_conns": 0, "lifetime_seconds": 600, "timeout_mills": 5000`
	tls       = `"tls_ca": "a", "tls_cert": "c", "tls_key": "k", "tls_key_pwd": "w", "tls_skip_verify": false, "tls_server_name": "", "tls_min_version": "1.2", "tls_max_version": "1.3"`
	tlsBlank  = `"tls_ca": "a", "tls_cert": "c", "tls_key": "", "tls_key_pwd": "", "tls_skip_verify": false, "tls_server_name": "", "tls_min_version": "1.2", "tls_max_version": "1.3"`
	httpBlock = `{"basic_auth_enabled": true, "basic_auth_username": "u", "basic_auth_password": "p", "headers": ["X-Scope-OrgID:  tenant: 1", "A:b", "B:"], "params": ["x=1=2", "y="], ` + tls + `}`
	httpBlank = `{"basic_auth_enabled": true, "basic_auth_username": "u", "basic_auth_password": "", "headers": ["X-Scope-OrgID:  ", "A:", "B:"], "params": ["x=", "y="], ` + tlsBlank + `}`
)

// TestInfoOfEveryType: every member that is sent is returned as it was, and the others stay unset.
func TestInfoOfEveryType(t *testing.T) {
	s := start(t)
	s.Grant(auth.DatasourcesRead)
	minimal := map[string]string{"elasticsearch": `{"deployment": "self-managed"}`}
	for _, typeIdent := range slices.Sorted(maps.Keys(full)) {
		block := full[typeIdent]
		least := minimal[typeIdent]
		if least == "" {
			least = `{}`
		}
		for _, c := range []struct{ name, sent, read string }{
			{"full", block[0], block[1]}, {"minimal", least, least},
			{"null", `{"deployment": "self-managed", "password": null, "headers": null, "tls_ca": null, "open_conns": null, "options": null}`, least},
		} {
			id := idOf(s.Call(apitest.KeyA, createPath, body(typeIdent, address[typeIdent], c.sent)))
			request := fmt.Sprintf(`{"id": %d}`, id)
			want := c.sent
			if c.name == "null" {
				want = least
			}
			s.Scenarios(t, infoPath, []apitest.Scenario{
				{Name: typeIdent + " to managers, " + c.name, Body: request, Data: itemJSON(id, typeIdent, want)},
				{Name: typeIdent + " to readers, " + c.name, Key: apitest.KeyReader, Body: request, Data: itemJSON(id, typeIdent, c.read)},
			})
		}
	}
}

func itemJSON(id uint64, typeIdent, block string) string {
	return fmt.Sprintf(`{"id": %d, "account_id": 2451002751131, "type_ident": %q, "name": "Metrics", "enabled": true, "note": "", "address": %q,
		"payload": {%q: %s}, "edge_cluster_name": "default", "updated_at": %d}`, id, typeIdent, address[typeIdent], typeIdent, block, apitest.Now.Unix()+1) // Grant moved the clock
}

func TestInfo(t *testing.T) {
	s := start(t)
	s.Grant(auth.DatasourcesRead)
	s.Call(apitest.KeyA, createPath, `{"type_ident": "prometheus", "name": "Prometheus Prod", "note": "生产环境", "address": "http://prometheus.example.com:9090", "edge_cluster_name": "default",
		"payload": {"prometheus": {"basic_auth_enabled": true, "basic_auth_username": "scrape", "basic_auth_password": "hunter2", "headers": ["X-Scope-OrgID: ${env:TENANT}"], "tls_skip_verify": false}, "loki": {"tls_ca": "x"}}}`)
	s.Call(apitest.KeyB, createPath, prometheus(`{}`)).Into(new(any))
	s.Call(apitest.KeyB, createPath, prometheus(`{}`)).Into(new(any))
	s.Scenarios(t, infoPath, []apitest.Scenario{
		{Name: "to a manager", Body: `{"id": 1}`, Golden: "monit_datasource_info"},
		{Name: "to a reader", Key: apitest.KeyReader, Body: `{"id": 1}`, Then: func(t *testing.T, s *apitest.Server, r apitest.Reply) {
			for _, want := range []string{`"basic_auth_password":""`, `"X-Scope-OrgID: ${env:TENANT}"`} {
				if !strings.Contains(string(r.Body), want) {
					t.Errorf("no %s in %s", want, r.Body)
				}
			}
		}},
		{Name: "denied", Key: apitest.KeyNothing, Body: `{"id": 1}`, Code: "AccessDenied", Says: []string{"Datasources Read (monit)"}},
		{Name: "unknown", Body: `{"id": 2}`, Code: "ResourceNotFound", Says: []string{"datasource 2"}},
		{Name: "unknown, the largest", Body: `{"id": 18446744073709551615}`, Code: "ResourceNotFound"},
		{Name: "other account", Key: apitest.KeyB, Body: `{"id": 3}`, Code: "ResourceNotFound"},
		{Name: "beyond the largest", Body: `{"id": 18446744073709551616}`, Code: "InvalidParameter", Says: []string{"id"}},
		{Name: "zero", Body: `{"id": 0}`, Code: "InvalidParameter", Says: []string{"id", "at least 1"}},
		{Name: "negative", Body: `{"id": -1}`, Code: "InvalidParameter", Says: []string{"id"}},
		{Name: "text", Body: `{"id": "1"}`, Code: "InvalidParameter", Says: []string{"id", "integer"}},
		{Name: "empty", Body: `{}`, Code: "InvalidParameter", Says: []string{"id", "required"}},
		{Name: "malformed", Body: `{"id": 1`, Code: "InvalidParameter"},
	})
}

// TestInfoOfMovedSecret: a sealed secret that was moved to another datasource does not open there.
func TestInfoOfMovedSecret(t *testing.T) {
	s := start(t)
	for range 2 {
		s.Call(apitest.KeyA, createPath, prometheus(`{"basic_auth_password": "hunter2"}`)).Into(new(any))
	}
	s.Exec(`UPDATE datasource SET payload = (SELECT payload FROM datasource WHERE datasource_id = 1) WHERE datasource_id = 2`)
	if r := s.Call(apitest.KeyA, infoPath, `{"id": 2}`); r.Code != "" || !strings.Contains(string(r.Body), `"basic_auth_password":""`) {
		t.Errorf("%s", r.Body)
	}
}
