package lint_test

import (
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/channel"
	"tocsin/internal/engine/lint"
	"tocsin/internal/engine/notify"
	"tocsin/internal/engine/untold"
	"tocsin/internal/integration"
	"tocsin/internal/platform/db"
	"tocsin/internal/preference"
)

// Each caller sees the findings about the objects that they may read.
func TestListShowsWhatTheCallerMayRead(t *testing.T) {
	t.Parallel()
	keyring := apitest.Box(t)
	notifier := notify.New(notify.Config{Keyring: keyring, Can: func(method string) bool { return method == "email" }})
	s := apitest.Start(t, (&lint.Service{Keyring: keyring, Notify: notifier}).Ops())
	s.Write(func(tx *db.Tx) error {
		if err := channel.Load(tx, apitest.AccountA, []channel.Channel{{ChannelID: 1001, ChannelName: "Payments"}, {ChannelID: 1002, ChannelName: "Security", TeamID: 99, IsPrivate: true}}); err != nil {
			return err
		}
		if err := integration.Load(tx, keyring, apitest.AccountA, []integration.Integration{{IntegrationID: 2001, IntegrationName: "Prometheus", IntegrationType: "prometheus"}}); err != nil {
			return err
		}
		if err := untold.Kind.Put(tx, apitest.AccountA, &untold.Fallback{PersonIDs: []int64{apitest.Reader}}); err != nil {
			return err
		}
		return preference.Kind.Put(tx, apitest.AccountA, &preference.Preference{PersonID: apitest.Reader, QuietHours: []preference.Quiet{{Start: "22:00", End: "07:00", But: []string{"Info"}}}})
	})
	s.Converse(t, []apitest.Turn{
		{Path: "/lint/list", Body: `{}`, Golden: "lint_list"},
		{Path: "/lint/list", Body: `{"severity": "warning"}`, Has: `{"items": [{"code": "quiet_hours_hold_critical"}], "total": 1}`},
		{Path: "/lint/list", Body: `{"severity": "fatal"}`, Code: "InvalidParameter", Says: []string{"severity"}},
		{Path: "/lint/list", Key: apitest.KeyNothing, Body: `{}`, Code: "AccessDenied", Says: []string{"Channels Read"}},
		{Path: "/lint/list", Key: apitest.KeyB, Body: `{}`, Has: `{"items": [{"code": "fallback_not_set"}], "total": 1}`},
	})
	s.Grant(auth.ChannelsRead)
	s.Converse(t, []apitest.Turn{
		{Path: "/lint/list", Key: apitest.KeyReader, Body: `{}`, Has: `{"items": [{"code": "channel_without_rule", "object": {"name": "Payments"}}], "total": 1}`},
	})
	s.Grant(auth.ChannelsRead, auth.IntegrationsRead)
	s.Converse(t, []apitest.Turn{
		{Path: "/lint/list", Key: apitest.KeyReader, Body: `{}`, Has: `{"items": [{"code": "source_without_channel"}, {"code": "channel_without_rule"}], "total": 2}`},
	})
}
