package alert_test

import (
	"testing"

	"tocsin/internal/alert"
	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/core/pipeline"
	"tocsin/internal/integration"
)

func TestConversationPipeline(t *testing.T) {
	s := apitest.Start(t, alert.Ops(), (&integration.Service{Keyring: apitest.Box(t)}).Ops())
	s.Grant(auth.IntegrationsRead)
	rules := `[{"kind":"title_reset","if":[[{"key":"labels.env","oper":"IN","vals":["/^prod/"]}]],"settings":{"title":"[{{.labels.env}}] {{.title}}"}},
		{"kind":"alert_inhibit","if":[],"settings":{"equals":["labels.host"],"source_filters":[[{"key":"severity","oper":"IN","vals":["Critical"]}]]}},{"kind":"alert_drop","if":[[{"key":"title","oper":"IN","vals":["x"]}]],"settings":{}}]`
	flat := `[{"kind":"alert_drop","if":[{"key":"title","oper":"IN","vals":["x"]},{"key":"labels.a","oper":"NOTIN","vals":["y"]}],"settings":{}},
		{"kind":"alert_inhibit","settings":{"equals":[],"source_filters":[{"key":"severity","oper":"IN","vals":["Critical"]}]}}]`
	whole := `{"integration_id":$i,"rules":` + rules + `,"status":"enabled","creator_id":2476123212131,"updated_by":2476123212131,"created_at":1776052801,"updated_at":1776052801}`
	s.Converse(t, []apitest.Turn{
		{Path: "/integration/create", Body: `{"integration_name":"x","integration_type":"standard"}`, Keep: map[string]string{"i": "integration_id"}},
		{Path: "/alert/pipeline/info", Body: `{"integration_id":$i}`, Code: "ResourceNotFound"},
		{Path: "/alert/pipeline/upsert", Body: `{"integration_id":7,"rules":[]}`, Code: "ResourceNotFound"},
		{Path: "/alert/pipeline/upsert", Body: `{"integration_id":$i,"rules":[{"kind":"severity_reset","settings":{}}]}`, Code: "InvalidParameter", Says: []string{"rules[0].settings.severity"}},
		{Path: "/alert/pipeline/upsert", Body: `{"integration_id":$i,"rules":[{"kind":"alert_drop","if":[[{"key":"a","oper":"IS","vals":["b"]}]],"settings":{}}]}`, Code: "InvalidParameter", Says: []string{"rules[0].if[0][0].oper"}},
		{Path: "/alert/pipeline/upsert", Body: `{"integration_id":$i,"rules":[]}`, Data: `{}`, Golden: "alert_pipeline_upsert"},
		{Path: "/alert/pipeline/upsert", Body: `{"integration_id":$i,"rules":` + rules + `}`, Data: `{}`},
		{Path: "/alert/pipeline/info", Body: `{"integration_id":$i}`, Data: whole, Golden: "alert_pipeline_info"},
		{Path: "/alert/pipeline/list", Body: `{"integration_ids":[5,$i]}`, Data: `{"items":[` + whole + `]}`, Golden: "alert_pipeline_list"},
		{Path: "/alert/pipeline/upsert", Body: `{"integration_id":$i,"rules":` + flat + `}`, Data: `{"warnings":["rules[1].settings.equals: names no field, so an active source inhibits every alert that the rule matches"]}`},
		{Path: "/alert/pipeline/info", Body: `{"integration_id":$i}`, Has: `{"rules":` + flat + `}`},
		{Path: "/alert/pipeline/upsert", Body: `{"integration_id":$i,"rules":[{"kind":"alert_drop","if":[{"key":"a","oper":"IS","vals":["b"]}],"settings":{}}]}`, Code: "InvalidParameter", Says: []string{"rules[0].if[0].oper"}},
		{Path: "/alert/pipeline/upsert", Body: `{"integration_id":$i,"rules":[{"kind":"alert_inhibit","settings":{"source_filters":[]}}]}`, Code: "InvalidParameter", Says: []string{"rules[0].settings.equals"}},
		{Path: "/alert/pipeline/upsert", Body: `{"integration_id":$i,"rules":[{"kind":"alert_drop","settings":{}},{"kind":"title_reset","settings":{"title":"[Prometheus] ${title} ${host}"}}]}`,
			Data: `{"warnings":["rules[1].settings.title: \"${host}\" stays as it is written: title, description, severity, status, alert_key and labels.NAME are replaced in ${ }"]}`},
		{Path: "/alert/pipeline/upsert", Body: `{"integration_id":$i,"rules":` + rules + `}`, Data: `{}`},
		{Path: "/alert/pipeline/info", Key: apitest.KeyB, Body: `{"integration_id":$i}`, Code: "ResourceNotFound"},
		{Path: "/alert/pipeline/upsert", Key: apitest.KeyReader, Body: `{"integration_id":$i,"rules":[]}`, Code: "AccessDenied"},
		{Path: "/integration/delete", Body: `{"integration_id":$i}`, Data: `{}`},
		{Path: "/alert/pipeline/info", Body: `{"integration_id":$i}`, Code: "ResourceNotFound"},
	})
}

func TestPipelinesOfFile(t *testing.T) {
	apitest.RoundTrip(t, alert.Pipelines, []alert.Pipeline{
		{IntegrationID: 11, Rules: []pipeline.Rule{{Kind: "alert_drop"}}, Status: "enabled", CreatedAt: 3},
	}, map[string]func(*alert.Pipeline){
		"integration_id": func(p *alert.Pipeline) { p.IntegrationID = 0 },
		"rules[0].kind":  func(p *alert.Pipeline) { p.Rules[0].Kind = "x" },
	})
}
