package datasource_test

import (
	"encoding/json"
	"slices"
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/datasource"
	"tocsin/internal/platform/db"
)

type anyJSON = json.RawMessage

func TestList(t *testing.T) {
	s := start(t)
	s.Grant(auth.DatasourcesRead)
	s.Scenarios(t, "/monit/datasource/list", []apitest.Scenario{{Name: "none", Body: `{}`, Data: `[]`}})
	keyring := newKeyring(t)
	s.Write(func(tx *db.Tx) error {
		high := decodeRecord(t, itemJSON(1<<63+1, "loki", `{"basic_auth_password": "hunter2"}`))
		return datasource.Load(tx, keyring, apitest.AccountA, []datasource.Record{high, decodeRecord(t, itemJSON(7, "sls", `{}`)), decodeRecord(t, itemJSON(3, "loki", `{}`))})
	})
	ids := func(want ...uint64) func(*testing.T, *apitest.Server, apitest.Reply) {
		return func(t *testing.T, _ *apitest.Server, r apitest.Reply) {
			var items []struct {
				ID      uint64
				Payload anyJSON
			}
			r.Into(&items)
			got := []uint64{}
			for _, d := range items {
				if d.Payload != nil {
					t.Errorf("datasource %d has payload %s", d.ID, d.Payload)
				}
				got = append(got, d.ID)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%v, want %v", got, want)
			}
		}
	}
	s.Scenarios(t, "/monit/datasource/list", []apitest.Scenario{
		{Name: "all", Body: `{}`, Golden: "monit_datasource_list", Then: ids(3, 7, 1<<63+1)},
		{Name: "reader", Key: apitest.KeyReader, Body: `{}`, Then: ids(3, 7, 1<<63+1)},
		{Name: "of a type", Body: `{"type": "loki"}`, Then: ids(3, 1<<63+1)},
		{Name: "by the other name", Body: `{"type_ident": "sls"}`, Then: ids(7)},
		{Name: "by both", Body: `{"type": "sls", "type_ident": "sls"}`, Then: ids(7)},
		{Name: "of a type there is none of", Body: `{"type": "mysql"}`, Data: `[]`},
		{Name: "empty and null are absent", Body: `{"type": "", "type_ident": null}`, Then: ids(3, 7, 1<<63+1)},
		{Name: "another account", Key: apitest.KeyB, Body: `{}`, Data: `[]`},
		{Name: "denied", Key: apitest.KeyNothing, Body: `{}`, Code: "AccessDenied", Says: []string{"Datasources Read (monit)"}},
		{Name: "names that disagree", Body: `{"type": "sls", "type_ident": "loki"}`, Code: "InvalidParameter", Says: []string{"type_ident", "sls", "loki"}},
		{Name: "unknown type", Body: `{"type": "redis"}`, Code: "InvalidParameter", Says: []string{"type", "redis"}},
	})
}
