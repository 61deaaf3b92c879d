package enrichment_test

import (
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/core/pipeline"
	"tocsin/internal/enrichment"
	"tocsin/internal/integration"
)

func TestConversationEnrichment(t *testing.T) {
	s := apitest.Start(t, enrichment.Ops(), (&integration.Service{Keyring: apitest.Box(t)}).Ops())
	s.Grant(auth.ChannelsRead)
	rules := `[{"kind":"extraction","if":[{"key":"labels.env","oper":"NOTIN","vals":["test"]}],"settings":{"source_field":"title","result_label":"service","pattern":"^(?P<result>[a-z]+):","override":true}},
		{"kind":"drop","if":[],"settings":{"drop_labels":["b","a"]}}]`
	whole := `{"integration_id":$i,"rules":` + rules + `,"status":"enabled","creator_id":2476123212131,"updated_by":2476123212131,"created_at":1776052801,"updated_at":1776052801}`
	s.Converse(t, []apitest.Turn{
		{Path: "/integration/create", Body: `{"integration_name":"x","integration_type":"standard"}`, Keep: map[string]string{"i": "integration_id"}},
		{Path: "/enrichment/info", Body: `{"integration_id":$i}`, Code: "ResourceNotFound"},
		{Path: "/enrichment/upsert", Body: `{"integration_id":7,"rules":[]}`, Code: "ResourceNotFound"},
		{Path: "/enrichment/upsert", Body: `{"integration_id":$i,"rules":[{"kind":"mapping","settings":{}}]}`, Code: "InvalidParameter", Says: []string{"rules[0].kind", "mapping tables"}},
		{Path: "/enrichment/upsert", Body: `{"integration_id":$i,"rules":[{"kind":"extraction","settings":{"source_field":"title","result_label":"a","pattern":"("}}]}`, Code: "InvalidParameter", Says: []string{"rules[0].settings.pattern"}},
		{Path: "/enrichment/upsert", Body: `{"integration_id":$i,"rules":[]}`, Data: `{}`, Golden: "enrichment_upsert"},
		{Path: "/enrichment/upsert", Body: `{"integration_id":$i,"rules":` + rules + `}`, Data: `{}`},
		{Path: "/enrichment/info", Body: `{"integration_id":$i}`, Data: whole, Golden: "enrichment_info"},
		{Path: "/enrichment/info", Key: apitest.KeyReader, Body: `{"integration_id":$i}`, Data: whole},
		{Path: "/enrichment/list", Body: `{"integration_ids":[$i,5,$i]}`, Data: `{"items":[` + whole + `]}`, Golden: "enrichment_list"},
		{Path: "/enrichment/info", Key: apitest.KeyB, Body: `{"integration_id":$i}`, Code: "ResourceNotFound"},
		{Path: "/enrichment/upsert", Key: apitest.KeyReader, Body: `{"integration_id":$i,"rules":[]}`, Code: "AccessDenied"},
		{Path: "/integration/delete", Body: `{"integration_id":$i}`, Data: `{}`},
		{Path: "/enrichment/info", Body: `{"integration_id":$i}`, Code: "ResourceNotFound"},
	})
}

func TestEnrichmentsOfFile(t *testing.T) {
	apitest.RoundTrip(t, enrichment.Kind, []enrichment.Rules{
		{IntegrationID: 11, Rules: []pipeline.Enrichment{{Kind: "drop", Settings: pipeline.EnrichmentSettings{DropLabels: []string{"a"}}}}, Status: "enabled"},
	}, map[string]func(*enrichment.Rules){
		"integration_id": func(r *enrichment.Rules) { r.IntegrationID = 0 },
		"rules[0].kind":  func(r *enrichment.Rules) { r.Rules[0].Kind = "x" },
	})
}
