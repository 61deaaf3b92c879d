package integration_test

import (
	"strings"
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/integration"
)

// TestTypeListHasEachTypeThatCanBeCreated compares the list with the types that /integration/create takes, and their paths.
func TestTypeListHasEachTypeThatCanBeCreated(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, (&integration.Service{Keyring: apitest.Box(t)}).Ops())
	s.Grant(auth.IntegrationsRead)
	s.Scenarios(t, "/integration/type/list", []apitest.Scenario{
		{Name: "golden", Key: apitest.KeyReader, Body: `{}`, Golden: "integration_type_list"},
		{Name: "without permission", Key: apitest.KeyNothing, Body: `{}`, Code: "AccessDenied"},
	})
	var list struct{ Items []integration.Type }
	s.Call(apitest.KeyA, "/integration/type/list", `{}`).Into(&list)
	for _, kind := range list.Items {
		r := s.Call(apitest.KeyA, "/integration/create", `{"integration_name":"x","integration_type":"`+kind.Type+`"}`)
		var made struct {
			PushURL string `json:"push_url"`
		}
		if r.Code == "" {
			r.Into(&made)
		}
		path, _, _ := strings.Cut(made.PushURL, "?")
		if kind.Name == "" || r.Code == "" && path != kind.PushPath || strings.Contains(r.Message, "integration_type") {
			t.Errorf("%+v: created with %q: %s", kind, path, r.Body)
		}
	}
}
