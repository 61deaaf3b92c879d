package webhook_test

import (
	"strings"
	"testing"
	"time"

	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/channel"
	"tocsin/internal/engine/webhook"
	"tocsin/internal/integration"
	"tocsin/internal/platform/db"
)

const (
	detail = "/webhook/history/detail"
	replay = "/webhook/history/replay"
)

// withExchange starts a server with an attempt "said" which failed, in a private channel of account A, and one "bare" of an account
// file.
func withExchange(t *testing.T) *apitest.Server {
	s, keyring := start(t), apitest.Box(t)
	d := delivery("20260413mGsxP3drpFfs4ZCQd2pSDp", 357472*time.Microsecond)
	d.Status, d.StatusCode = "failed", 400
	bare := delivery("bare", 0)
	bare.ChannelID = 0
	record(t, s, apitest.AccountA, bare)
	s.Write(func(tx *db.Tx) error {
		if err := channel.Load(tx, apitest.AccountA, []channel.Channel{{ChannelID: d.ChannelID, ChannelName: "Production Alerts", IsPrivate: true, Status: "enabled"}}); err != nil {
			return err
		}
		err := integration.Load(tx, keyring, apitest.AccountA, []integration.Integration{{IntegrationID: d.IntegrationID, IntegrationName: "a", IntegrationType: "webhook_alert",
			Settings: &integration.Settings{Endpoint: d.Endpoint}}})
		if err != nil {
			return err
		}
		return webhook.RecordExchange(tx, apitest.AccountA, d, "d789d65951c0532ea9b6a1d99b707054", `{"event_type":"a_update","event_id":"d789d65951c0532ea9b6a1d99b707054"}`)
	})
	return s
}

const (
	one   = `{"event_id":"20260413mGsxP3drpFfs4ZCQd2pSDp","integration_id":5321026051131}`
	again = `{"event_id":"20260413mGsxP3drpFfs4ZCQd2pSDp"}`
)

func TestHistoryDetail(t *testing.T) {
	t.Parallel()
	s := withExchange(t)
	s.Grant(auth.IntegrationsRead)
	s.Scenarios(t, detail, []apitest.Scenario{
		{Name: "golden", Body: one, Golden: "webhook_history_detail"},
		{Name: "of an account file", Key: apitest.KeyReader, Body: `{"event_id":"bare","integration_id":5321026051131}`, Then: func(t *testing.T, _ *apitest.Server, r apitest.Reply) {
			if !strings.Contains(string(r.Data), `"request_body":""`) {
				t.Error(string(r.Data))
			}
		}},
		{Name: "private channel", Key: apitest.KeyReader, Body: one, Code: "AccessDenied", Says: []string{"2551105804131", "private"}},
		{Name: "no permission", Key: apitest.KeyNothing, Body: one, Code: "AccessDenied", Says: []string{"Integrations Read (on-call)"}},
		{Name: "another account", Key: apitest.KeyB, Body: one, Code: "ResourceNotFound"},
		{Name: "another integration", Body: `{"event_id":"bare","integration_id":1}`, Code: "ResourceNotFound", Says: []string{"bare"}},
		{Name: "no event_id", Body: `{"integration_id":1}`, Code: "InvalidParameter", Says: []string{"event_id", "required"}},
		{Name: "event_id too long", Body: `{"event_id":"` + strings.Repeat("x", 129) + `","integration_id":1}`, Code: "InvalidParameter", Says: []string{"event_id", "128", "129"}},
		{Name: "integration_id 0", Body: `{"event_id":"bare","integration_id":0}`, Code: "InvalidParameter", Says: []string{"integration_id", "1", "0"}},
	})
}

func TestHistoryReplay(t *testing.T) {
	t.Parallel()
	s := withExchange(t)
	s.Grant(auth.IntegrationsManage)
	var first string
	s.Scenarios(t, replay, []apitest.Scenario{
		{Name: "private channel", Key: apitest.KeyReader, Body: again, Code: "AccessDenied", Says: []string{"2551105804131", "private"}},
		{Name: "no permission", Key: apitest.KeyNothing, Body: again, Code: "AccessDenied", Says: []string{"Integrations Manage (on-call)"}},
		{Name: "another account", Key: apitest.KeyB, Body: again, Code: "ResourceNotFound"},
		{Name: "of an account file", Body: `{"event_id":"bare"}`, Code: "ResourceNotFound", Says: []string{"bare"}},
		{Name: "no event_id", Body: `{}`, Code: "InvalidParameter", Says: []string{"event_id", "required"}},
		{Name: "good", Body: again, Then: func(_ *testing.T, _ *apitest.Server, r apitest.Reply) { first = string(r.Data) }},
		{Name: "twice is once", Body: again, Then: func(t *testing.T, _ *apitest.Server, r apitest.Reply) {
			if string(r.Data) != first || !strings.HasPrefix(first, `{"event_id":"20260413`) {
				t.Errorf("%s, then %s", first, r.Data)
			}
		}},
	})
	s.Exec(`UPDATE webhook_message SET attempt_id = '20260413Xatt9hrXsgmFkBR78WF655'`)
	s.Scenarios(t, replay, []apitest.Scenario{{Name: "golden", Body: again, Golden: "webhook_history_replay"}})
	s.Exec(`UPDATE webhook_message SET status = 'sending'`)
	s.Scenarios(t, replay, []apitest.Scenario{{Name: "under way", Body: again, Code: "BadRequest", Says: []string{"just now"}}})
	s.Exec(`DELETE FROM object`)
	s.Scenarios(t, replay, []apitest.Scenario{{Name: "its webhook is gone", Body: again, Code: "ResourceNotFound", Says: []string{"integration"}}})
}

// Pruning deletes the exchange and the message with their delivery. Messages that wait stay.
func TestPruneDeletesExchanges(t *testing.T) {
	t.Parallel()
	s := withExchange(t)
	s.Call(apitest.KeyA, replay, again)
	for _, settle := range []bool{false, true} {
		if settle {
			s.Exec(`UPDATE webhook_message SET settled_at = 1`)
		}
		s.Write(func(tx *db.Tx) error { _, err := webhook.Prune(tx, apitest.Now.Add(time.Hour)); return err })
		if exchanges, messages := rows(t, s, "webhook_exchange"), rows(t, s, "webhook_message"); exchanges != 0 || messages == 0 != settle {
			t.Errorf("%d exchanges and %d messages are left", exchanges, messages)
		}
	}
}
