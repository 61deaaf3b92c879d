package webhook_test

import (
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/channel"
	"tocsin/internal/integration"
	"tocsin/internal/platform/db"
)

// TestEndpointList lists the webhooks that failed last, and not one of a private channel that the caller may not read.
func TestEndpointList(t *testing.T) {
	t.Parallel()
	s := start(t)
	s.Grant(auth.IntegrationsRead)
	put := `INSERT INTO webhook_endpoint (account_id, integration_id, number, failures, held_until) VALUES ($1, $2, 9, $3, $4)`
	s.Exec(put, apitest.AccountA, 5321026051131, 3, 0)
	s.Exec(put, apitest.AccountA, 7, 12, 1776052830000)
	s.Exec(put, apitest.AccountA, 8, 0, 0)
	s.Exec(put, apitest.AccountB, 9, 1, 0)
	s.Write(func(tx *db.Tx) error {
		if err := channel.Load(tx, apitest.AccountA, []channel.Channel{{ChannelID: 1002, ChannelName: "Security", IsPrivate: true, Status: "enabled"}}); err != nil {
			return err
		}
		return integration.Load(tx, apitest.Box(t), apitest.AccountA, []integration.Integration{{IntegrationID: 7, IntegrationName: "Secret ones",
			IntegrationType: "webhook_alert", Settings: &integration.Settings{Endpoint: "https://example.com/x", ChannelIDs: []int64{1002}}}})
	})
	s.Converse(t, []apitest.Turn{
		{Path: "/webhook/endpoint/list", Body: `{}`, Golden: "webhook_endpoint_list"},
		{Path: "/webhook/endpoint/list", Body: `{"limit": 1, "p": 2}`, Has: `{"items": [{"integration_id": 5321026051131, "failures": 3, "held_until": 0, "waiting": 0}], "total": 2, "has_next_page": false}`},
		{Path: "/webhook/endpoint/list", Key: apitest.KeyReader, Body: `{}`, Has: `{"items": [{"integration_id": 5321026051131}], "total": 1}`},
		{Path: "/webhook/endpoint/list", Key: apitest.KeyNothing, Body: `{}`, Code: "AccessDenied", Says: []string{"Integrations Read (on-call)"}},
		{Path: "/webhook/endpoint/list", Key: apitest.KeyB, Body: `{}`, Has: `{"total": 1, "items": [{"integration_id": 9}]}`},
		{Path: "/webhook/endpoint/list", Body: `{"limit": 101}`, Code: "InvalidParameter", Says: []string{"limit"}},
	})
}
