package story

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"tocsin/internal/accountfile"
)

// TestAlertWhoseIncidentIsMissingCanEnd: an account file may have an alert without its incident. It can get more severe,
// end by its source or by hand, and be merged into another incident.
func TestAlertWhoseIncidentIsMissingCanEnd(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn, fmt.Sprintf(`{"alerts": [%s, %s, %s]}`,
		imported("5a5a5a5a5a5a5a5a5a5a5a01", "one"), imported("5a5a5a5a5a5a5a5a5a5a5a02", "two"), imported("5a5a5a5a5a5a5a5a5a5a5a03", "three")))
	w.outcome(w.push("one", "Critical"), "grouped")
	w.outcome(w.push("one", "Ok"), "recovered")
	w.do("/alert/close", `{"alert_ids": ["5a5a5a5a5a5a5a5a5a5a5a02"]}`)
	w.push("four", "Critical")
	w.do("/alert/merge", `{"alert_ids": ["5a5a5a5a5a5a5a5a5a5a5a03"], "incident_id": %q}`, w.incident())
}

// imported returns an alert for an account file that lacks its incident.
func imported(id, key string) string {
	return fmt.Sprintf(`{"alert_id": %q, "channel_id": %d, "integration_id": %d, "alert_key": %q, "title": "Trouble with %s", "alert_severity": "Warning", "alert_status": "Warning",
		"start_time": %d, "event_cnt": 1, "incident": {"incident_id": "5a5a5a5a5a5a5a5a5a5a5aff"}}`, id, shop, sink, key, key, start.Add(-time.Hour).Unix())
}

// TestSilencedAlertIsNotifiedAfterImport: an alert that was silenced at the export is notified when the silence ends.
func TestSilencedAlertIsNotifiedAfterImport(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn, rules("silence_rules", `"filters": `+where("env", "test")+`, `+once(time.Hour)))
	w.push("cpu", "Critical", "env=test")
	w.notified()
	f, err := accountfile.Export(context.Background(), w.app.DB, w.app.Keyring, account, true)
	w.must(err)
	w.must(accountfile.Import(context.Background(), w.app.DB, w.app.Keyring, f, w.clock.Now(), true))
	w.pass(time.Minute)
	w.notified()
	w.pass(time.Hour)
	w.notified(newPage("ann"), "olga@example.com email silence_ends")
}

// TestImportRefusesValuesThatAPIRefuses: a misspelt severity would suppress pages all night.
func TestImportRefusesValuesThatAPIRefuses(t *testing.T) {
	t.Parallel()
	w := begin(t)
	for text, path := range map[string]string{
		`"preferences": [{"person_id": 2, "trigger_notify": {"critical": [], "warning": [], "info": []}, "quiet_hours": [{"start": "22:00", "end": "07:00", "but": ["critical"]}]}]`: "preferences[0].quiet_hours[0].but[0]",
		`"incidents": [{"incident_id": "663a1b2c3d4e5f6789abcdf0", "start_time": -1}]`:                                                                                               "incidents[0].start_time",
		`"incidents": [{"incident_id": "663a1b2c3d4e5f6789abcdf0", "snoozed_before": -1}]`:                                                                                           "incidents[0].snoozed_before",
	} {
		f, err := accountfile.Read(strings.NewReader(`{"format": "tocsin.account/1", "account": {"account_id": 1, "account_name": "a", "time_zone": "UTC", "owner_id": 2}, "persons": [{"person_id": 2, "person_name": "o"}], ` + text + `}`))
		if err == nil {
			err = accountfile.Import(context.Background(), w.app.DB, w.app.Keyring, f, w.clock.Now(), false)
		}
		if err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", path, err)
		}
	}
}
