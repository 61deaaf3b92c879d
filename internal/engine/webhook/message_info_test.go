package webhook_test

import (
	"testing"
	"time"

	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/engine/webhook"
)

func TestMessageInfo(t *testing.T) {
	t.Parallel()
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
	t.Parallel()
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

// TestEndpointDays counts attempts by the days of the account's zone, also days without any.
func TestEndpointDays(t *testing.T) {
	t.Parallel()
	s := withExchange(t)
	s.Grant(auth.IntegrationsRead)
	of := func(id, status string, back time.Duration) webhook.Delivery {
		return webhook.Delivery{IntegrationID: 5321026051131, EventID: id, WebhookType: "alert", EventType: "a_new", Endpoint: "https://example.com", Attempt: 1, Status: status,
			EventTime: webhook.Moment(apitest.Now.Add(-back))}
	}
	record(t, s, apitest.AccountA, of("a", "failed", 48*time.Hour), of("b", "failed", 48*time.Hour), of("c", "success", 48*time.Hour), of("d", "failed", 40*24*time.Hour))
	s.Converse(t, []apitest.Turn{
		{Path: "/webhook/endpoint/days", Body: `{"integration_id":5321026051131,"days":3}`, Has: `{"items":[{"succeeded":1,"failed":2},{"succeeded":0,"failed":0},{}]}`, Golden: "webhook_endpoint_days"},
		{Path: "/webhook/endpoint/days", Key: apitest.KeyNothing, Body: `{"integration_id":5321026051131}`, Code: "AccessDenied"},
		{Path: "/webhook/endpoint/days", Key: apitest.KeyB, Body: `{"integration_id":5321026051131}`, Code: "ResourceNotFound"},
		{Path: "/webhook/endpoint/days", Body: `{"integration_id":7}`, Code: "ResourceNotFound"},
		{Path: "/webhook/endpoint/days", Body: `{"integration_id":5321026051131,"days":32}`, Code: "InvalidParameter", Says: []string{"days"}},
	})
}
