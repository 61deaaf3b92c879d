package webhook_test

import (
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
)

func TestMessageInfo(t *testing.T) {
	s := withExchange(t)
	s.Grant(auth.IntegrationsRead, auth.IntegrationsManage)
	s.Scenarios(t, "/webhook/message/info", []apitest.Scenario{
		{Name: "no permission", Key: apitest.KeyNothing, Body: again, Code: "AccessDenied"},
		{Name: "another account", Key: apitest.KeyB, Body: again, Code: "ResourceNotFound"},
		{Name: "private channel", Key: apitest.KeyReader, Body: again, Code: "AccessDenied", Says: []string{"private"}},
		{Name: "of an account file", Body: `{"event_id":"bare"}`, Code: "ResourceNotFound"},
		{Name: "golden", Body: again, Golden: "webhook_message_info"},
	})
	s.Converse(t, []apitest.Turn{
		{Path: "/webhook/history/list", Body: `{"limit":100,` + days + `}`, Has: `{"items":[{"message_id":"d789d65951c0532ea9b6a1d99b707054"},{"event_id":"bare"}],"total":2}`},
		{Path: replay, Body: again},
		{Path: "/webhook/message/info", Body: again, Has: `{"status":"waiting","origin":"replay","settled_at":0,"next_at":1}`},
	})
}

func TestEndpointInfo(t *testing.T) {
	s := withExchange(t)
	s.Grant(auth.IntegrationsRead, auth.IntegrationsManage)
	const hook = `{"integration_id":5321026051131}`
	s.Scenarios(t, "/webhook/endpoint/info", []apitest.Scenario{
		{Name: "no permission", Key: apitest.KeyNothing, Body: hook, Code: "AccessDenied"},
		{Name: "another account", Key: apitest.KeyB, Body: hook, Code: "ResourceNotFound"},
		{Name: "unknown", Body: `{"integration_id":7}`, Code: "ResourceNotFound"},
		{Name: "closed", Body: hook, Data: `{"state":"closed","failures":0,"failing_since":0,"held_until":0,"last_error":"","waiting":0}`},
	})
	s.Exec(`UPDATE webhook_endpoint SET failures = 3, failing_since = 1776052800000, held_until = 1776053000000`)
	s.Converse(t, []apitest.Turn{
		{Path: "/webhook/endpoint/info", Body: hook, Has: `{"state":"open","failures":3,"last_error":"it answered 400 Bad Request"}`, Golden: "webhook_endpoint_info"},
		{Path: replay, Body: again},
		{Path: "/webhook/endpoint/info", Body: hook, Has: `{"state":"half-open","waiting":1}`},
	})
}
