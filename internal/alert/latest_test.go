package alert_test

import (
	"context"
	"testing"
	"time"

	"tocsin/internal/alert"
	"tocsin/internal/api/apitest"
	"tocsin/internal/core/decide"
	"tocsin/internal/platform/db"
)

// Of alerts of one key that began in the same second, an active one is the newest: each process makes ids of its own, so
// that the later alert of another process may have the lower one.
func TestActiveAlertOfSecondIsLatest(t *testing.T) {
	s := start(t)
	now := time.Unix(1_776_052_800, 0)
	err := s.DB.Write(context.Background(), func(tx *db.Tx) error {
		for id, end := range map[string]int64{"69dd0b80bbbbbbbbbb000001": now.Unix(), "69dd0b80aaaaaaaaaa000001": 0} {
			row, err := alert.RowOf(&decide.Alert{ID: id, Channel: 41, Key: "same", Status: "Critical", Severity: "Critical", Start: now.Unix(), End: end})
			if err != nil {
				return err
			}
			if err := row.Insert(tx, apitest.AccountA, alert.Origin{}, now); err != nil {
				return err
			}
		}
		latest, found, err := alert.Latest(tx, apitest.AccountA, 41, "same")
		if !found || latest.End != 0 {
			t.Errorf("the newest alert is %s, which ended at %d", latest.ID, latest.End)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
