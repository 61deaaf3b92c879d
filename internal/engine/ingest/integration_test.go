package ingest_test

import (
	"log/slog"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/channel"
	"tocsin/internal/engine/ingest"
	"tocsin/internal/integration"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/ratelimit"
)

func TestIntegrationTest(t *testing.T) {
	t.Parallel()
	keyring := apitest.Box(t)
	r := ingest.New(ingest.Config{Log: slog.New(slog.DiscardHandler), Rate: ratelimit.Rate{PerSecond: 10, PerMinute: 100}, Metrics: prometheus.NewRegistry()})
	s := apitest.Start(t, r.Ops())
	r.DB = s.DB
	s.Grant(auth.IntegrationsManage)
	s.Write(func(tx *db.Tx) error {
		if err := channel.Load(tx, apitest.AccountA, []channel.Channel{{ChannelID: 1, ChannelName: "Shop"}, {ChannelID: 2, ChannelName: "Security", IsPrivate: true, TeamID: 99}}); err != nil {
			return err
		}
		return integration.Load(tx, keyring, apitest.AccountA, []integration.Integration{
			{IntegrationID: mine, IntegrationName: "mine", IntegrationType: "standard", IntegrationKey: keyMine},
			{IntegrationID: theirs, IntegrationName: "private", IntegrationType: "standard", IntegrationKey: keyTheirs, ChannelID: 2},
			{IntegrationID: hook, IntegrationName: "hook", IntegrationType: "webhook_incident", Settings: &integration.Settings{Endpoint: "https://example.com"}},
			{IntegrationID: beats, IntegrationName: "off", IntegrationType: "grafana", IntegrationKey: keyBeats, ChannelID: 1, Status: "disabled"},
		})
	})
	const path = "/integration/test"
	s.Converse(t, []apitest.Turn{
		{Path: path, Body: `{"integration_id": 7000000000051, "event_status": "Warning", "labels": {"service": "checkout", "test": "x"}}`,
			Keep: map[string]string{"event": "event_id"}, Has: `{"alert_key": "test:7000000000051"}`, Golden: "integration_test"},
		{Path: path, Body: `{"integration_id": 7000000000051, "event_status": "Ok"}`},
		{Path: path, Body: `{"integration_id": 7000000000053}`, Code: "InvalidParameter", Says: []string{"must be a source of alerts, got webhook_incident"}},
		{Path: path, Body: `{"integration_id": 7000000000054}`, Code: "InvalidParameter", Says: []string{"must be enabled"}},
		{Path: path, Body: `{"integration_id": 9}`, Code: "ResourceNotFound"},
		{Path: path, Key: apitest.KeyReader, Body: `{"integration_id": 7000000000052}`, Code: "AccessDenied"},
		{Path: path, Key: apitest.KeyNothing, Body: `{"integration_id": 7000000000051}`, Code: "AccessDenied"},
		{Path: path, Key: apitest.KeyB, Body: `{"integration_id": 7000000000051}`, Code: "ResourceNotFound"},
		{Path: path, Body: `{"integration_id": 7000000000051, "event_status": "Fatal"}`, Code: "InvalidParameter", Says: []string{"event_status"}},
	})
	s.Read(func(tx *db.Tx) error {
		waiting, _, err := db.One(tx, db.Column[int64], `SELECT count(*) FROM event WHERE account_id = $1`, apitest.AccountA)
		if waiting != 2 {
			t.Errorf("%d events wait, want 2", waiting)
		}
		return err
	})
}
