package datasource_test

import (
	"context"
	"fmt"
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/core/evaluate"
	"tocsin/internal/datasource"
	"tocsin/internal/querier"
)

// lister is a querier that lists what it is asked for.
type lister struct{ querier.Querier }

func (lister) Close() error { return nil }

func (lister) List(_ context.Context, project, text string, offset, size int64) ([]string, *evaluate.Failure) {
	if project == "broken" {
		return nil, &evaluate.Failure{Kind: evaluate.Denied, Message: "cn-hangzhou.log.aliyuncs.com answered 403"}
	}
	return []string{fmt.Sprintf("%s-%s-%d-%d", project, text, offset, size)}, nil
}

func TestSLS(t *testing.T) {
	s := apitest.Start(t, (&datasource.Service{Keyring: newKeyring(t), Open: func(context.Context, int64, datasource.Connection) (querier.Querier, *evaluate.Failure) {
		return lister{}, nil
	}}).Ops())
	s.Grant(auth.DatasourcesRead)
	s.Call(apitest.KeyA, createPath, body("sls", "cn-hangzhou.log.aliyuncs.com", `{"access_key_id": "a", "access_key_secret": "b"}`)).Into(new(any))
	s.Call(apitest.KeyA, createPath, body("mysql", "m:3306", `{}`)).Into(new(any))
	s.Scenarios(t, "/monit/datasource/sls/projects", []apitest.Scenario{
		{Name: "a page", Body: `{"id": 1, "query": "shop", "offset": 2, "size": 3}`, Golden: "monit_datasource_sls_projects", Data: `["-shop-2-3"]`},
		{Name: "to a reader", Key: apitest.KeyReader, Body: `{"id": 1, "size": 0}`, Data: `["--0-100"]`},
		{Name: "another type", Body: `{"id": 2}`, Code: "InvalidParameter", Says: []string{"id", "sls", "mysql"}},
		{Name: "unknown", Body: `{"id": 3}`, Code: "ResourceNotFound"},
		{Name: "other account", Key: apitest.KeyB, Body: `{"id": 1}`, Code: "ResourceNotFound"},
	})
	s.Scenarios(t, "/monit/datasource/sls/logstores", []apitest.Scenario{
		{Name: "a page", Body: `{"id": 1, "project": "shop"}`, Golden: "monit_datasource_sls_logstores", Data: `["shop--0-100"]`},
		{Name: "no project", Body: `{"id": 1}`, Code: "InvalidParameter", Says: []string{"project"}},
		{Name: "refused", Body: `{"id": 1, "project": "broken"}`, Code: "ServiceUnavailable", Says: []string{"answered 403"}},
	})
}
