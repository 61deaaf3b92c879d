package silencewarning_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"tocsin/internal/activity"
	"tocsin/internal/api/apitest"
	"tocsin/internal/channel"
	"tocsin/internal/configstore"
	"tocsin/internal/core/filter"
	"tocsin/internal/engine/notify"
	"tocsin/internal/engine/silencewarning"
	"tocsin/internal/engine/triage"
	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/db"
)

// More silences than one run checks are about to end while the configuration changes before every run: all of them are
// checked. A silence whose end moves is checked for the new end.
func TestEachSilenceIsCheckedWhileConfigurationChanges(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t)
	now := time.Unix(apitest.Now.Unix(), 0)
	var critical filter.Filter
	if err := json.Unmarshal([]byte(`[[{"key": "severity", "oper": "IN", "vals": ["Critical"]}]]`), &critical); err != nil {
		t.Fatal(err)
	}
	silences := make([]channel.SilenceRule, 35)
	end := now.Unix() + 600
	for i := range silences {
		silences[i] = channel.SilenceRule{Filters: critical}
		silences[i].RuleID = fmt.Sprintf("5e5e5e5e5e5e5e5e5e5e5e%02x", i)
		silences[i].RuleName = "s"
		silences[i].ChannelID = 1001
		silences[i].Status, silences[i].TimeFilter = "enabled", &channel.OnceTimeFilter{StartTime: now.Unix() - 3600, EndTime: end}
	}
	s.Write(func(tx *db.Tx) error {
		if err := channel.Load(tx, apitest.AccountA, []channel.Channel{{ChannelID: 1001, ChannelName: "Payments", Status: "enabled"}}); err != nil {
			return err
		}
		return channel.Silences.Load(tx, apitest.Box(t), apitest.AccountA, silences)
	})
	notifier := notify.New(notify.Config{DB: s.DB, Bus: &activity.Bus{}, Keyring: apitest.Box(t), Clock: clock.At(now), Log: slog.New(slog.DiscardHandler)})
	warner := &silencewarning.Service{DB: s.DB, Log: slog.New(slog.DiscardHandler), Notify: notifier, Configs: triage.NewConfigs(s.DB)}
	unchecked := func() (n int64) {
		s.Read(func(tx *db.Tx) (err error) {
			n, _, err = db.One(tx, db.Column[int64], `SELECT count(*) FROM silence_end WHERE due_at <= $1`, now.Unix())
			return err
		})
		return n
	}
	for range 4 {
		if _, err := warner.Job().Run(context.Background(), now); err != nil {
			t.Fatal(err)
		}
		s.Write(func(tx *db.Tx) error { return configstore.BumpRevision(tx, apitest.AccountA) })
	}
	if n := unchecked(); n != 0 {
		t.Errorf("%d silences were not checked", n)
	}
	s.Exec(fmt.Sprintf(`UPDATE object SET body = replace(body, '"end_time":%d', '"end_time":%d') WHERE kind = 'silence_rule'`, end, end+100))
	s.Write(func(tx *db.Tx) error { return configstore.BumpRevision(tx, apitest.AccountA) })
	if _, err := warner.Job().Run(context.Background(), now); err != nil {
		t.Fatal(err)
	}
	if n := unchecked(); n != 25 {
		t.Errorf("%d of the moved ends are to be checked, want 25", n)
	}
}
