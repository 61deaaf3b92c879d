package datasource_test

import (
	"fmt"
	"strings"
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
)

const updatePath = "/monit/datasource/update"

// payloadOf compares a datasource's payload as its manager reads it.
func payloadOf(t *testing.T, s *apitest.Server, id int, want string) {
	t.Helper()
	var d struct{ Payload anyJSON }
	s.Call(apitest.KeyA, infoPath, fmt.Sprintf(`{"id": %d}`, id)).Into(&d)
	if !apitest.SameJSON(d.Payload, []byte(want)) {
		t.Errorf("payload\n%s\nwant\n%s", d.Payload, want)
	}
}

func TestUpdate(t *testing.T) {
	s := start(t)
	s.Call(apitest.KeyA, createPath, `{"type_ident": "prometheus", "name": "Prometheus Prod", "note": "first", "address": "http://p:9090", "edge_cluster_name": "default",
		"payload": {"prometheus": {"basic_auth_enabled": true, "basic_auth_username": "u", "basic_auth_password": "hunter2"}}}`).Into(new(any))
	s.Grant(auth.DatasourcesRead)
	stays := func(t *testing.T, s *apitest.Server, _ apitest.Reply) {
		payloadOf(t, s, 1, `{"prometheus": {"basic_auth_enabled": true, "basic_auth_username": "u", "basic_auth_password": "hunter2"}}`)
	}
	s.Scenarios(t, updatePath, []apitest.Scenario{
		{Name: "everything but the payload", Body: `{"id": 1, "name": "Prometheus Prod v2", "note": "Updated", "enabled": false, "address": "https://p:9091", "edge_cluster_name": "edge"}`, Golden: "monit_datasource_update", Then: stays},
		{Name: "nothing", Body: `{"id": 1}`, Then: stays,
			Data: `{"id": 1, "account_id": 2451002751131, "type_ident": "prometheus", "name": "Prometheus Prod v2", "enabled": false, "note": "Updated", "address": "https://p:9091", "edge_cluster_name": "edge", "updated_at": 1776052801}`},
		{Name: "null is absent", Body: `{"id": 1, "type_ident": null, "name": null, "note": null, "enabled": null, "address": null, "edge_cluster_name": null, "payload": null}`, Then: stays},
		{Name: "enable, and clear the note", Body: `{"id": 1, "note": "", "enabled": true}`, Then: stays,
			Data: `{"id": 1, "account_id": 2451002751131, "type_ident": "prometheus", "name": "Prometheus Prod v2", "enabled": true, "note": "", "address": "https://p:9091", "edge_cluster_name": "edge", "updated_at": 1776052801}`},

		{Name: "reader is denied", Key: apitest.KeyReader, Body: `{"id": 1, "name": "x"}`, Code: "AccessDenied", Says: []string{"Datasources Manage (monit)"}},
		{Name: "other account", Key: apitest.KeyB, Body: `{"id": 1, "name": "x"}`, Code: "ResourceNotFound"},
		{Name: "unknown", Body: `{"id": 2, "name": "x"}`, Code: "ResourceNotFound", Says: []string{"datasource 2"}},
		{Name: "no id", Body: `{"name": "x"}`, Code: "InvalidParameter", Says: []string{"id", "required"}},
		{Name: "id 0", Body: `{"id": 0}`, Code: "InvalidParameter", Says: []string{"id", "at least 1"}},
		{Name: "empty name", Body: `{"id": 1, "name": ""}`, Code: "InvalidParameter", Says: []string{"name"}},
		{Name: "name of 255", Body: `{"id": 1, "name": "` + strings.Repeat("é", 255) + `"}`},
		{Name: "name of 256", Body: `{"id": 1, "name": "` + strings.Repeat("é", 256) + `"}`, Code: "InvalidParameter", Says: []string{"name", "255", "256"}},
		{Name: "note of 4097", Body: `{"id": 1, "note": "` + strings.Repeat("x", 4097) + `"}`, Code: "InvalidParameter", Says: []string{"note", "4096"}},
		{Name: "empty cluster", Body: `{"id": 1, "edge_cluster_name": ""}`, Code: "InvalidParameter", Says: []string{"edge_cluster_name"}},
		{Name: "empty address", Body: `{"id": 1, "address": ""}`, Code: "InvalidParameter", Says: []string{"address", "required"}},
		{Name: "address of another type", Body: `{"id": 1, "address": "p:9090"}`, Code: "InvalidParameter", Says: []string{"address"}},
		{Name: "unknown type", Body: `{"id": 1, "type_ident": "redis"}`, Code: "InvalidParameter", Says: []string{"type_ident", "redis"}},
		{Name: "another type without its block", Body: `{"id": 1, "type_ident": "loki"}`, Code: "InvalidParameter", Says: []string{"payload.loki", "required"}},
		{Name: "payload of another type", Body: `{"id": 1, "payload": {"loki": {}}}`, Code: "InvalidParameter", Says: []string{"payload.prometheus", "required"}},
		{Name: "bad header", Body: `{"id": 1, "payload": {"prometheus": {"headers": ["x"]}}}`, Code: "InvalidParameter", Says: []string{"payload.prometheus.headers[0]"}},
		{Name: "malformed", Body: `{"id": 1`, Code: "InvalidParameter", Then: stays},

		{Name: "to another type", Body: `{"id": 1, "type_ident": "loki", "payload": {"loki": {"tls_skip_verify": true}, "prometheus": {}}}`, Then: func(t *testing.T, s *apitest.Server, _ apitest.Reply) {
			payloadOf(t, s, 1, `{"loki": {"tls_skip_verify": true}}`)
		}},
		{Name: "and back, without the old password", Body: `{"id": 1, "type_ident": "prometheus", "payload": {"prometheus": {}}}`, Then: func(t *testing.T, s *apitest.Server, _ apitest.Reply) {
			payloadOf(t, s, 1, `{"prometheus": {}}`)
		}},
	})
}

// TestUpdateKeepsSecrets: a block replaces the stored one except for absent secrets.
func TestUpdateKeepsSecrets(t *testing.T) {
	s := start(t)
	id := 0
	for _, c := range []struct{ name, typeIdent, stored, sent, want string }{
		{"left out", "mysql", `{"username": "u", "password": "p", "open_conns": 3}`, `{"username": "v"}`, `{"username": "v", "password": "p"}`},
		{"null", "mysql", `{"password": "p"}`, `{"password": null}`, `{"password": "p"}`},
		{"cleared", "mysql", `{"password": "p"}`, `{"password": ""}`, `{"password": ""}`},
		{"changed", "mysql", `{"password": "p"}`, `{"password": "q"}`, `{"password": "q"}`},
		{"new", "mysql", `{}`, `{"password": "q"}`, `{"password": "q"}`},
		{"never set", "mysql", `{}`, `{"username": "u"}`, `{"username": "u"}`},
		{"a reference", "mysql", `{"password": "${env:P}"}`, `{"username": "u"}`, `{"username": "u", "password": "${env:P}"}`},
		{"lists left out", "prometheus", `{"headers": ["A: b"], "params": ["c=d"]}`, `{}`, `{"headers": ["A: b"], "params": ["c=d"]}`},
		{"lists cleared", "prometheus", `{"headers": ["A: b"], "params": ["c=d"]}`, `{"headers": [], "params": []}`, `{"headers": [], "params": []}`},
		{"a list replaced", "prometheus", `{"headers": ["A: b", "C: d"]}`, `{"headers": ["A: "]}`, `{"headers": ["A: "]}`},
		{"the key with its certificate", "prometheus", `{"tls_cert": "c", "tls_key": "k", "tls_key_pwd": "w"}`, `{"tls_cert": "d"}`, `{"tls_cert": "d", "tls_key": "k", "tls_key_pwd": "w"}`},
		{"the key goes with its certificate", "prometheus", `{"tls_cert": "c", "tls_key": "k", "tls_key_pwd": "w"}`, `{"tls_ca": "a"}`, `{"tls_ca": "a"}`},
		{"the same without the TLS set", "postgres", `{"tls_cert": "c", "tls_key": "k", "password": "p"}`, `{"tls_cert": ""}`, `{"tls_cert": "", "password": "p"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			id++
			s.Call(apitest.KeyA, createPath, body(c.typeIdent, address[c.typeIdent], c.stored)).Into(new(any))
			s.Call(apitest.KeyA, updatePath, fmt.Sprintf(`{"id": %d, "payload": {%q: %s}}`, id, c.typeIdent, c.sent)).Into(new(any))
			payloadOf(t, s, id, fmt.Sprintf(`{%q: %s}`, c.typeIdent, c.want))
		})
	}
	s.Scenarios(t, updatePath, []apitest.Scenario{
		{Name: "a certificate without a key", Body: `{"id": 4, "payload": {"mysql": {"tls_cert": "c"}}}`, Code: "InvalidParameter", Says: []string{"payload.mysql.tls_key", "required"}},
	})
}

// TestSavingReplyChangesNothing: the reply that a manager reads can be sent as an update.
func TestSavingReplyChangesNothing(t *testing.T) {
	s := start(t)
	id := 0
	for typeIdent, block := range full {
		id++
		s.Call(apitest.KeyA, createPath, body(typeIdent, address[typeIdent], block[0])).Into(new(any))
		before := s.Call(apitest.KeyA, infoPath, fmt.Sprintf(`{"id": %d}`, id)).Data
		s.Call(apitest.KeyA, updatePath, string(before)).Into(new(any))
		if after := s.Call(apitest.KeyA, infoPath, fmt.Sprintf(`{"id": %d}`, id)).Data; string(after) != string(before) {
			t.Errorf("%s: from\n%s\nto\n%s", typeIdent, before, after)
		}
	}
}
