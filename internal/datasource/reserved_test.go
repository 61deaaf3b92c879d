package datasource_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/datasource"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// The variables of the server itself hold its keys and passwords: no datasource may name them, wherever it does.
func TestReferencesToServersVariablesAreRefused(t *testing.T) {
	s := start(t)
	s.Call(apitest.KeyA, createPath, body("mysql", "m:3306", `{"username": "${env:DB_USER}", "password": "${env:MY_TOCSIN_PASSWORD}"}`)).Into(new(any))
	payloadOf(t, s, 1, `{"mysql": {"username": "${env:DB_USER}", "password": "${env:MY_TOCSIN_PASSWORD}"}}`)
	for _, c := range []struct{ typeIdent, block, member string }{
		{"mysql", `{"password": "${env:TOCSIN_SMTP_PASSWORD}"}`, "payload.mysql.password"},
		{"mysql", `{"username": "${env:TOCSIN_}"}`, "payload.mysql.username"},
		{"prometheus", `{"headers": ["X: y", "Authorization: Bearer ${env:TOCSIN_SEAL_KEY}"]}`, "payload.prometheus.headers[1]"},
		{"prometheus", `{"params": ["a=x${env:TOCSIN_SEAL_KEY}y"]}`, "payload.prometheus.params[0]"},
		{"postgres", `{"tls_ca": "${env:TOCSIN_DB}"}`, "payload.postgres.tls_ca"},
		{"oracle", `{"options": {"a": "", "b": "${env:TOCSIN_DB}"}}`, "payload.oracle.options.b"},
	} {
		says := []string{c.member, "TOCSIN_", "got ${env:TOCSIN_"}
		s.Scenarios(t, createPath, []apitest.Scenario{{Name: "create " + c.member, Body: body(c.typeIdent, address[c.typeIdent], c.block), Code: "InvalidParameter", Says: says}})
		s.Scenarios(t, updatePath, []apitest.Scenario{{
			Name: "update " + c.member, Code: "InvalidParameter", Says: says,
			Body: fmt.Sprintf(`{"id": 1, "type_ident": %q, "address": %q, "payload": {%q: %s}}`, c.typeIdent, address[c.typeIdent], c.typeIdent, c.block),
		}})
	}
	s.Scenarios(t, updatePath, []apitest.Scenario{
		{Name: "address", Body: `{"id": 1, "type_ident": "loki", "address": "http://l/${env:TOCSIN_DB}", "payload": {"loki": {}}}`, Code: "InvalidParameter", Says: []string{"address", "${env:TOCSIN_DB}"}},
	})
	text := "${env:TOCSIN_DB}"
	record := datasource.Record{Item: datasource.Item{ID: 7, TypeIdent: "mysql", Name: "n", Address: "m:1", EdgeClusterName: "e",
		Payload: &datasource.Payload{MySQL: &datasource.MySQL{Login: datasource.Login{Password: &text}}}}}
	var found *fault.Error
	refused := errors.New("rolled back")
	err := s.DB.Write(t.Context(), func(tx *db.Tx) error {
		if err := datasource.Load(tx, newKeyring(t), apitest.AccountA, []datasource.Record{record}); err != nil {
			return err
		}
		return refused
	})
	if !errors.As(err, &found) || !strings.Contains(fmt.Sprint(found), "datasources[0].payload.mysql.password") || !strings.Contains(fmt.Sprint(found), text) {
		t.Errorf("a file with it: %v", err)
	}
}

// TestStoredReferencesToServersVariablesAreFound: a version before the names were refused may have stored one.
func TestStoredReferencesToServersVariablesAreFound(t *testing.T) {
	s := start(t)
	for range 2 {
		s.Call(apitest.KeyA, createPath, body("mysql", "m:3306", `{"password": "p"}`)).Into(new(any))
	}
	s.Exec(`UPDATE datasource SET payload = '{"mysql": {"password": "${env:TOCSIN_DB}"}}' WHERE account_id = $1 AND datasource_id = 2`, apitest.AccountA)
	s.Read(func(tx *db.Tx) error {
		got, err := datasource.Reserved(tx, newKeyring(t), apitest.AccountA)
		if want := []datasource.Refers{{ID: 2, Name: got[0].Name, Member: "payload.mysql.password", Reference: "${env:TOCSIN_DB}"}}; fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%v, want %v", got, want)
		}
		return err
	})
	s.Scenarios(t, updatePath, []apitest.Scenario{
		{Name: "the name is changed nevertheless", Body: `{"id": 2, "name": "other"}`},
		{Name: "the reference is replaced", Body: `{"id": 2, "payload": {"mysql": {"password": "${env:DB_PASSWORD}"}}}`},
	})
}
