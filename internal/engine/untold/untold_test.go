package untold_test

import (
	"log/slog"
	"strings"
	"testing"

	"tocsin/internal/activity"
	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/channel"
	"tocsin/internal/core/event"
	"tocsin/internal/core/sentence"
	"tocsin/internal/engine/notify"
	"tocsin/internal/engine/untold"
	"tocsin/internal/incident"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/jobs"
)

const secretRule = "5e5e5e5e5e5e5e5e5e5e5e09"

// Each caller sees what belongs to channels that they may read, and sets a fallback of what the account has.
func TestOperations(t *testing.T) {
	t.Parallel()
	keyring := apitest.Box(t)
	notifier := notify.New(notify.Config{Keyring: keyring, Can: func(method string) bool { return method == "email" }})
	service := untold.New(untold.Service{Notify: notifier, Bus: &activity.Bus{}, Log: slog.New(slog.DiscardHandler), Wake: jobs.NewSignal()})
	s := apitest.Start(t, service.Ops())
	service.DB = s.DB
	s.Write(func(tx *db.Tx) error {
		if err := channel.Load(tx, apitest.AccountA, []channel.Channel{{ChannelID: 1001, ChannelName: "Payments"}, {ChannelID: 1002, ChannelName: "Security", TeamID: 99, IsPrivate: true}}); err != nil {
			return err
		}
		if err := channel.Escalates.Load(tx, keyring, apitest.AccountA, []channel.EscalateRule{{
			Rule:       channel.Rule{RuleID: secretRule, ChannelID: 1002, RuleName: "secret", Status: "enabled"},
			TemplateID: "000000000000000000000001", Layers: []channel.Layer{{Target: channel.Target{Emails: []string{"noc@example.org"}}}},
		}}); err != nil {
			return err
		}
		for n, ch := range []int64{1001, 1002} {
			i := incident.Incident{AccountID: apitest.AccountA, IncidentID: []string{"aaaaaaaaaaaaaaaaaaaaaaa1", "aaaaaaaaaaaaaaaaaaaaaaa2"}[n], Title: "Checkout is down", Severity: event.Critical, ChannelID: ch}
			if err := service.Add(tx, &i, sentence.New("no_rule"), s.Clock.Now()); err != nil {
				return err
			}
		}
		return service.Strays(tx, apitest.AccountA, []untold.Stray{{Why: sentence.New("no_route"),
			Event: event.Event{ID: "bbbbbbbbbbbbbbbbbbbbbbb1", Integration: 2001, AlertKey: "k", Title: "Disk is full", Status: "Warning", Severity: "Warning"}}}, s.Clock.Now())
	})
	s.Converse(t, []apitest.Turn{
		{Path: "/incident/untold/list", Body: `{}`, Golden: "incident_untold_list"},
		{Path: "/incident/untold/list", Body: `{"state": "fallback"}`, Data: `{"items": [], "total": 0, "has_next_page": false}`},
		{Path: "/incident/untold/list", Body: `{"state": "lost"}`, Code: "InvalidParameter", Says: []string{"state"}},
		{Path: "/incident/untold/list", Body: `{"without_by_choice": true, "limit": 1}`, Has: `{"total": 3, "has_next_page": true}`},
		{Path: "/incident/untold/list", Body: `{"p": 2, "limit": 2}`, Has: `{"total": 3, "has_next_page": false}`},
		{Path: "/incident/untold/list", Key: apitest.KeyNothing, Body: `{}`, Code: "AccessDenied", Says: []string{"Incidents Read"}},
		{Path: "/incident/untold/list", Key: apitest.KeyB, Body: `{}`, Has: `{"items": [], "total": 0}`},
		{Path: "/account/fallback/info", Body: `{}`, Data: `{}`},
		{Path: "/account/fallback/update", Body: `{"person_ids": [123456789]}`, Code: "InvalidParameter", Says: []string{"person_ids[0]", "123456789"}},
		{Path: "/account/fallback/update", Body: `{"person_ids": [2659460982131]}`, Golden: "account_fallback_update"},
		{Path: "/account/fallback/info", Key: apitest.KeyNothing, Body: `{}`, Golden: "account_fallback_info"},
		{Path: "/account/fallback/update", Key: apitest.KeyNothing, Body: `{}`, Code: "AccessDenied", Says: []string{"Members Manage"}},
	})
	s.Write(func(tx *db.Tx) error {
		held := incident.Incident{AccountID: apitest.AccountA, IncidentID: "aaaaaaaaaaaaaaaaaaaaaaa3", Title: "Tests fail", Severity: event.Info, ChannelID: 1001}
		if err := untold.Hold(tx, &held, "its channel is disabled", s.Clock.Now()); err != nil {
			return err
		}
		return incident.Load(tx, apitest.AccountA, []incident.Incident{{AccountID: apitest.AccountA, IncidentID: "aaaaaaaaaaaaaaaaaaaaaaa1", Title: "Checkout is down",
			Severity: event.Critical, ChannelID: 1001, Progress: incident.Triggered, SnoozedBefore: s.Clock.Now().Unix() + 60}})
	})
	s.Converse(t, []apitest.Turn{ // what is held and what is snoozed is silent by choice
		{Path: "/incident/untold/list", Body: `{}`, Has: `{"total": 4}`},
		{Path: "/incident/untold/list", Body: `{"without_by_choice": true}`, Has: `{"total": 2}`},
	})
	s.Grant(auth.IncidentsRead, auth.MembersManage)
	s.Converse(t, []apitest.Turn{
		{Path: "/incident/untold/list", Key: apitest.KeyReader, Body: `{}`, Has: `{"total": 3}`},
		{Path: "/account/fallback/update", Key: apitest.KeyReader, Body: `{"escalate_rule_id": "` + secretRule + `"}`, Code: "AccessDenied", Says: []string{"channel 1002 is private"}},
		{Path: "/account/fallback/update", Body: `{"escalate_rule_id": "` + secretRule + `"}`, Has: `{"escalate_rule_id": "` + secretRule + `"}`},
		{Path: "/account/fallback/info", Body: `{}`, Has: `{"escalate_rule_id": "` + secretRule + `"}`},
	})
	if r := s.Call(apitest.KeyReader, "/account/fallback/info", `{}`); strings.Contains(string(r.Data), secretRule) {
		t.Errorf("a rule of a private channel is shown: %s", r.Data)
	}
	if r := s.Call(apitest.KeyReader, "/account/fallback/update", `{"person_ids": [2659460982131]}`); strings.Contains(string(r.Data), secretRule) {
		t.Errorf("a rule of a private channel is shown after an update: %s", r.Data)
	}
	s.Converse(t, []apitest.Turn{ // who was not shown the rule did not remove it
		{Path: "/account/fallback/info", Body: `{}`, Has: `{"escalate_rule_id": "` + secretRule + `", "person_ids": [2659460982131]}`},
		{Path: "/account/fallback/update", Body: `{}`},
		{Path: "/account/fallback/info", Body: `{}`, Data: `{}`},
	})
}
