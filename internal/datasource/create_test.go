package datasource_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"tocsin/internal/api/apitest"
	"tocsin/internal/datasource"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/secret"
)

const (
	createPath = "/monit/datasource/create"
	infoPath   = "/monit/datasource/info"
)

func newKeyring(t testing.TB) *secret.Keyring {
	t.Helper()
	keyring, err := secret.Open(filepath.Join(t.TempDir(), "keys"), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	return keyring
}

func start(t testing.TB) *apitest.Server {
	return apitest.Start(t, (&datasource.Service{Keyring: newKeyring(t)}).Ops())
}

// body returns a request of this type with this address ("-": none) and block.
func body(typeIdent, address, block string) string {
	if address != "-" {
		address = fmt.Sprintf(`"address": %q,`, address)
	} else {
		address = ""
	}
	return fmt.Sprintf(`{"type_ident": %q, "name": "Metrics", %s "edge_cluster_name": "default", "payload": {%q: %s}}`, typeIdent, address, typeIdent, block)
}

func prometheus(block string) string { return body("prometheus", "http://p:9090", block) }

func TestCreate(t *testing.T) {
	s := start(t)
	s.Scenarios(t, createPath, []apitest.Scenario{
		{Name: "full item without payload", Golden: "monit_datasource_create", Body: `{"type_ident": "prometheus", "name": "Prometheus Prod", "note": "production, Frankfurt",
			"address": "http://prometheus.example.com:9090", "edge_cluster_name": "default", "payload": {"prometheus": {"basic_auth_enabled": false}}}`},
		{Name: "ids count on", Body: body("sls", "cn-hangzhou.log.aliyuncs.com", `{}`),
			Data: `{"id": 2, "account_id": 2451002751131, "type_ident": "sls", "name": "Metrics", "enabled": true, "note": "", "address": "cn-hangzhou.log.aliyuncs.com", "edge_cluster_name": "default", "updated_at": 1776052800}`},
		{Name: "each account counts for itself", Key: apitest.KeyB, Body: prometheus(`{}`), Then: func(t *testing.T, s *apitest.Server, r apitest.Reply) {
			if id := idOf(r); id != 1 {
				t.Errorf("id %d", id)
			}
		}},
		{Name: "an equal name is allowed", Body: prometheus(`{}`)},
		{Name: "id 0 and null are no id", Body: `{"id": 0, "note": null, "type_ident": "prometheus", "name": "n", "address": "http://p", "edge_cluster_name": "e", "payload": {"prometheus": {}, "loki": null}}`},
		{Name: "unknown members are ignored", Body: `{"type_ident": "prometheus", "name": "n", "address": "http://p", "edge_cluster_name": "e", "alerting_enabled": true, "payload": {"prometheus": {"colour": "red"}, "redis": {}}}`},

		{Name: "needs Manage", Key: apitest.KeyNothing, Body: prometheus(`{}`), Code: "AccessDenied", Says: []string{"Datasources Manage (monit)"}},
		{Name: "an id means update", Body: `{"id": 7, "type_ident": "prometheus", "name": "n", "address": "http://p", "edge_cluster_name": "e", "payload": {"prometheus": {}}}`, Code: "InvalidParameter", Says: []string{"id", "left out", "got 7"}},
		{Name: "malformed", Body: `{"type_ident": `, Code: "InvalidParameter"},
		{Name: "empty", Body: `{}`, Code: "InvalidParameter", Says: []string{"is required"}},
		{Name: "unknown type", Body: body("redis", "r:6379", `{}`), Code: "InvalidParameter", Says: []string{"type_ident", "redis", "victorialogs"}},
		{Name: "type in the wrong case", Body: body("Prometheus", "http://p", `{}`), Code: "InvalidParameter", Says: []string{"type_ident"}},
		{Name: "payload without the type's block", Body: `{"type_ident": "mysql", "name": "n", "address": "m:3306", "edge_cluster_name": "e", "payload": {"postgres": {}}}`, Code: "InvalidParameter", Says: []string{"payload.mysql", "required"}},
		{Name: "the type's block is null", Body: body("mysql", "m:3306", `null`), Code: "InvalidParameter", Says: []string{"payload.mysql"}},
		{Name: "the type's block is a list", Body: body("mysql", "m:3306", `[]`), Code: "InvalidParameter", Says: []string{"payload.mysql", "object"}},
		{Name: "no payload", Body: `{"type_ident": "mysql", "name": "n", "address": "m:3306", "edge_cluster_name": "e"}`, Code: "InvalidParameter", Says: []string{"payload", "required"}},
		{Name: "no name", Body: `{"type_ident": "mysql", "address": "m:3306", "edge_cluster_name": "e", "payload": {"mysql": {}}}`, Code: "InvalidParameter", Says: []string{"name", "required"}},
		{Name: "no cluster", Body: `{"type_ident": "mysql", "name": "n", "address": "m:3306", "payload": {"mysql": {}}}`, Code: "InvalidParameter", Says: []string{"edge_cluster_name", "required"}},
	})
	for _, bound := range []struct {
		field      string
		least, max int
	}{{"name", 1, 255}, {"note", 0, 4096}, {"edge_cluster_name", 1, 255}, {"address", 1, 4096}} {
		with := func(n int) string {
			m := map[string]any{"type_ident": "prometheus", "name": "n", "address": "http://p", "edge_cluster_name": "e", "payload": map[string]any{"prometheus": map[string]any{}}}
			m[bound.field] = strings.Repeat("é", n)
			if bound.field == "address" && n > 9 {
				m[bound.field] = "http://p/" + strings.Repeat("a", n-9)
			}
			b, _ := json.Marshal(m)
			return string(b)
		}
		s.Scenarios(t, createPath, []apitest.Scenario{
			{Name: bound.field + " at its bound", Body: with(bound.max)},
			{Name: bound.field + " beyond its bound", Body: with(bound.max + 1), Code: "InvalidParameter", Says: []string{bound.field, fmt.Sprint(bound.max)}},
		})
		if bound.least > 0 {
			s.Scenarios(t, createPath, []apitest.Scenario{{Name: "empty " + bound.field, Body: with(0), Code: "InvalidParameter", Says: []string{bound.field}}})
		}
	}
}

func idOf(r apitest.Reply) uint64 {
	var d struct{ ID uint64 }
	r.Into(&d)
	return d.ID
}

func TestCreateAddress(t *testing.T) {
	s := start(t)
	blocks := map[string]string{"elasticsearch": `{"deployment": "self-managed"}`}
	for _, c := range []struct {
		types     string
		good, bad []string
	}{
		{"prometheus loki victorialogs",
			[]string{"http://p", "https://p.example.com:9090/select/0/prometheus", "HTTP://P:1", "http://[::1]:65535", "http://10.0.0.1", "http://métriques.example", "http://p:9090/?x=y"},
			[]string{"-", "", "p:9090", "p", "ftp://p", "http://", "http://:9090", "http:///x", "http://p:0", "http://p:65536", "http://p:", "http://p:x", "http://a b", " http://p", "http://::1:9090", "http://[::1", "http://[x]:1", "http://300.1.1.1", "//p:9090", "http:p:9090"}},
		{"mysql oracle postgres clickhouse",
			[]string{"db:1", "db.example.com:65535", "10.0.0.7:3306", "[::1]:5432", "[fe80::1%eth0]:5432", "my_db-1:3306"},
			[]string{"-", "", "db", "db:", ":3306", "db:0", "db:65536", "db:-1", "db:+1", "db:mysql", "::1:5432", "[::1]", "[::1:5432", "[db]:5432", "[10.0.0.7]:5432", "10.0.0.777:3306", "http://db:3306", "db:3306/x", "a b:1", "db:3306 ", "a:1,b:2", "a:b:1"}},
		{"sls",
			[]string{"cn-hangzhou.log.aliyuncs.com", "cn-hangzhou-intranet.log.aliyuncs.com:443", "10.0.0.1", "[::1]:80"},
			[]string{"-", "", "http://cn-hangzhou.log.aliyuncs.com", "https://cn-hangzhou.log.aliyuncs.com", "HTTPS://x", "ftp://x", "http:x", "a b", "x/y", "x:0"}},
		{"elasticsearch",
			[]string{"http://es:9200", "es:9200", "https://a:9200,https://b:9200", "http://a:9200, b:9200", "[::1]:9200"},
			[]string{"-", "", ",", "http://a:9200,", "es", "ftp://es:1", "http://a:9200,b", "a:9200;b:9200"}},
	} {
		for _, typeIdent := range strings.Fields(c.types) {
			block := blocks[typeIdent]
			if block == "" {
				block = `{}`
			}
			for _, address := range c.good {
				s.Scenarios(t, createPath, []apitest.Scenario{{Name: typeIdent + " at " + address, Body: body(typeIdent, address, block), Then: func(t *testing.T, s *apitest.Server, r apitest.Reply) {
					var d datasource.Item
					if r.Into(&d); d.Address != address {
						t.Errorf("%q became %q", address, d.Address)
					}
				}}})
			}
			for _, address := range c.bad {
				s.Scenarios(t, createPath, []apitest.Scenario{{Name: typeIdent + " not at " + address, Body: body(typeIdent, address, block), Code: "InvalidParameter", Says: []string{"address"}}})
			}
		}
	}
	s.Scenarios(t, createPath, []apitest.Scenario{
		{Name: "elasticsearch in the cloud needs no address", Body: body("elasticsearch", "-", `{"deployment": "cloud", "cloud_id": "x", "api_key": "y"}`)},
		{Name: "elasticsearch in the cloud may have one", Body: body("elasticsearch", "https://x.es.example.com", `{"deployment": "cloud"}`)},
		{Name: "which must be one", Body: body("elasticsearch", "user:hunter2@e:1", `{"deployment": "cloud"}`), Code: "InvalidParameter", Says: []string{"address"}, Then: silent("hunter2")},
		{Name: "credentials in a URL", Body: body("prometheus", "http://user:hunter2@p:9090", `{}`), Code: "InvalidParameter", Says: []string{"address", "credentials"}, Then: silent("hunter2")},
		{Name: "credentials in a broken URL", Body: body("prometheus", "http://user:hunter2@p:x", `{}`), Code: "InvalidParameter", Says: []string{"address"}, Then: silent("hunter2")},
		{Name: "credentials before a host", Body: body("mysql", "user:hunter2@m:3306", `{}`), Code: "InvalidParameter", Says: []string{"address"}, Then: silent("hunter2")},
		{Name: "credentials before a node", Body: body("elasticsearch", "http://e:1,http://user:hunter2@e", `{"deployment": "self-managed"}`), Code: "InvalidParameter", Says: []string{"address"}, Then: silent("hunter2")},
	})
}

// silent checks that the reply does not repeat a secret.
func silent(secret string) func(*testing.T, *apitest.Server, apitest.Reply) {
	return func(t *testing.T, s *apitest.Server, r apitest.Reply) {
		if strings.Contains(string(r.Body), secret) {
			t.Errorf("the reply holds the secret: %s", r.Body)
		}
	}
}

func TestCreateBlocks(t *testing.T) {
	s := start(t)
	ok := func(typeIdent, block string) apitest.Scenario {
		return apitest.Scenario{Name: typeIdent + " " + block, Body: body(typeIdent, address[typeIdent], block)}
	}
	bad := func(typeIdent, block, field string, says ...string) apitest.Scenario {
		return apitest.Scenario{Name: typeIdent + " not " + block, Body: body(typeIdent, address[typeIdent], block), Code: "InvalidParameter", Says: append(says, "payload."+typeIdent+"."+field)}
	}
	list := []apitest.Scenario{
		bad("elasticsearch", `{}`, "deployment", "required"),
		bad("elasticsearch", `{"deployment": ""}`, "deployment", "cloud"),
		bad("elasticsearch", `{"deployment": "hosted"}`, "deployment", "hosted"),
		bad("elasticsearch", `{"deployment": "cloud", "timeout_mills": -1}`, "timeout_mills", "-1"),
		ok("elasticsearch", `{"deployment": "cloud", "timeout_mills": 0}`),
		bad("sls", `{"headers": ["nocolon"]}`, "headers[0]"),
		bad("mysql", `{"tls_mode": "verify-ca"}`, "tls_mode", "verify-ca"),
		bad("postgres", `{"ssl_mode": "prefer"}`, "ssl_mode", "prefer"),
		bad("postgres", `{"tls_cert": "PEM"}`, "tls_key", "required"),
		bad("oracle", `{"options": {"a": 1}}`, "options.a", "string"),
		bad("oracle", `{"options": []}`, "options", "object"),
	}
	for _, mode := range []string{"", "disable", "require", "verify-full"} {
		list = append(list, ok("mysql", fmt.Sprintf(`{"tls_mode": %q}`, mode)), ok("postgres", fmt.Sprintf(`{"ssl_mode": %q}`, mode)))
	}
	list = append(list, ok("postgres", `{"ssl_mode": "verify-ca"}`))
	for _, typeIdent := range []string{"mysql", "oracle", "postgres", "clickhouse"} {
		for _, field := range []string{"open_conns", "idle_conns", "lifetime_seconds", "timeout_mills"} {
			list = append(list, ok(typeIdent, fmt.Sprintf(`{%q: 0}`, field)), ok(typeIdent, fmt.Sprintf(`{%q: 9223372036854775807}`, field)), ok(typeIdent, fmt.Sprintf(`{%q: null}`, field)),
				bad(typeIdent, fmt.Sprintf(`{%q: -1}`, field), field, "at least 0", "-1"),
				bad(typeIdent, fmt.Sprintf(`{%q: 1.5}`, field), field), bad(typeIdent, fmt.Sprintf(`{%q: "1"}`, field), field, "integer"),
				bad(typeIdent, fmt.Sprintf(`{%q: 9223372036854775808}`, field), field))
		}
	}
	for _, field := range []string{"max_execution_seconds", "dial_timeout_mills"} {
		list = append(list, ok("clickhouse", fmt.Sprintf(`{%q: 0}`, field)), bad("clickhouse", fmt.Sprintf(`{%q: -1}`, field), field, "-1"))
	}
	for _, typeIdent := range []string{"prometheus", "loki", "victorialogs", "mysql", "clickhouse"} {
		list = append(list,
			ok(typeIdent, `{"tls_cert": "PEM", "tls_key": "PEM"}`), ok(typeIdent, `{"tls_cert": "", "tls_key": ""}`),
			bad(typeIdent, `{"tls_cert": "PEM"}`, "tls_key", "required"), bad(typeIdent, `{"tls_key": "PEM", "tls_cert": ""}`, "tls_cert", "required"),
			ok(typeIdent, `{"tls_min_version": "1.0", "tls_max_version": "1.0"}`), ok(typeIdent, `{"tls_min_version": "1.3"}`), ok(typeIdent, `{"tls_max_version": "1.1", "tls_min_version": ""}`),
			bad(typeIdent, `{"tls_min_version": "1.4"}`, "tls_min_version", "1.4"), bad(typeIdent, `{"tls_max_version": "TLS1.2"}`, "tls_max_version"), bad(typeIdent, `{"tls_min_version": "1"}`, "tls_min_version"),
			bad(typeIdent, `{"tls_min_version": "1.3", "tls_max_version": "1.2"}`, "tls_max_version", "1.3", "1.2"),
			bad(typeIdent, `{"tls_skip_verify": "yes"}`, "tls_skip_verify", "true or false"))
	}
	for _, typeIdent := range []string{"prometheus", "loki", "victorialogs"} {
		list = append(list, ok(typeIdent, `{"headers": [], "params": []}`), ok(typeIdent, `{"headers": ["X-Scope-OrgID: a:b"], "params": ["x=1=2", "y="]}`),
			bad(typeIdent, `{"headers": ["A: b", "nocolon"]}`, "headers[1]"), bad(typeIdent, `{"headers": [": b"]}`, "headers[0]"), bad(typeIdent, `{"headers": ["A b: c"]}`, "headers[0]"), bad(typeIdent, `{"headers": ["A: b\r\nC: d"]}`, "headers[0]"),
			bad(typeIdent, `{"params": ["novalue"]}`, "params[0]"), bad(typeIdent, `{"params": ["=1"]}`, "params[0]"),
			bad(typeIdent, `{"headers": "A: b"}`, "headers", "array"), bad(typeIdent, `{"headers": [1]}`, "headers[0]", "string"))
	}
	s.Scenarios(t, createPath, list)
}

var address = map[string]string{
	"prometheus": "http://p:9090", "loki": "http://l:3100", "victorialogs": "http://v:9428", "mysql": "m:3306", "oracle": "o:1521",
	"postgres": "p:5432", "clickhouse": "c:9000", "elasticsearch": "http://e:9200", "sls": "cn-hangzhou.log.aliyuncs.com",
}

// TestCreateAfterLoad: ids of a file are skipped by the counter, and no others.
func TestCreateAfterLoad(t *testing.T) {
	s := start(t)
	item := func(id uint64) datasource.Record {
		return datasource.Record{Item: datasource.Item{ID: id, TypeIdent: "loki", Name: "n", Address: "http://l", EdgeClusterName: "e", Payload: &datasource.Payload{Loki: &datasource.HTTP{}}}}
	}
	load := func(ids ...uint64) {
		var records []datasource.Record
		for _, id := range ids {
			records = append(records, item(id))
		}
		s.Write(func(tx *db.Tx) error { return datasource.Load(tx, newKeyring(t), apitest.AccountA, records) })
	}
	created := func() uint64 { return idOf(s.Call(apitest.KeyA, createPath, prometheus(`{}`))) }
	load(18446744073709551615, 9223372036854775808, 9007199254740992)
	if id := created(); id != 1 {
		t.Errorf("the first id is %d", id)
	}
	load(9007199254740990)
	for _, want := range []uint64{9007199254740991, 9007199254740993} {
		if id := created(); id != want {
			t.Errorf("id %d, want %d", id, want)
		}
	}
	s.Exec(`DELETE FROM datasource WHERE account_id = $1`, apitest.AccountA)
	if id := created(); id != 9007199254740994 {
		t.Errorf("an id came back: %d", id)
	}
}

// TestCreateKeepsSecrets: neither the database file nor the audit log contains a secret.
func TestCreateKeepsSecrets(t *testing.T) {
	s := start(t)
	s.Call(apitest.KeyA, createPath, prometheus(`{"basic_auth_password": "hunter2", "headers": ["Authorization: Bearer hunter2"], "params": ["token=hunter2"], "tls_cert": "c", "tls_key": "hunter2", "tls_key_pwd": "hunter2", "basic_auth_username": "${env:USER_NAME}"}`)).Into(new(any))
	s.Call(apitest.KeyA, createPath, body("mysql", "m", `{"password": "hunter2"}`))
	texts, err := dump(s, `SELECT payload FROM datasource UNION ALL SELECT body FROM audit_log UNION ALL SELECT operation || outcome FROM audit_log`)
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Join(texts, "\n")
	if strings.Contains(all, "hunter2") {
		t.Errorf("a secret in clear: %s", all)
	}
	for _, want := range []string{"Authorization: s1.", "token=s1.", "${env:USER_NAME}", "datasource:write:create", "datasource:write:createInvalidParameter"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is missing in %s", want, all)
		}
	}
}

func dump(s *apitest.Server, query string) (texts []string, err error) {
	s.Write(func(tx *db.Tx) error {
		texts, err = db.All(tx, db.Column[string], query)
		return err
	})
	return texts, err
}
