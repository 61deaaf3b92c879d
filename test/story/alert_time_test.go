package story

import (
	"fmt"
	"testing"
	"time"
)

// alertmanager sends an alert that has been firing since a time.
func (w *world) alertmanager(status, name string, since time.Time, labels string) {
	w.t.Helper()
	r := w.post("/event/push/alert/prometheus?integration_key="+groupKey, fmt.Sprintf(`{"alerts": [{"status": %q, "fingerprint": %q, "startsAt": %q, "endsAt": %q, "labels": {"alertname": %q, "severity": "critical"%s}}]}`,
		status, name, since.Format(time.RFC3339), w.clock.Now().Format(time.RFC3339), name, labels))
	if r.Error != nil {
		w.t.Fatal(r)
	}
	w.settle()
}

// Two Alertmanagers differ by seconds about when an alert began.
func TestAlertWithEarlierStartThanItsPredecessorIsOne(t *testing.T) {
	t.Parallel()
	w := begin(t, grouped(`"method": "n"`))
	w.alertmanager("firing", "cpu", start.Add(-3*time.Second), "")
	w.as(annKey, "/incident/resolve", `{"incident_ids": [%q]}`, w.incident())
	w.notified(newPage("ann"), over("ann"))
	w.pass(time.Minute)
	for range 3 {
		w.alertmanager("firing", "cpu", start.Add(-7*time.Second), "")
		w.pass(time.Minute)
	}
	w.notified(newPage("ann"))
	w.alertmanager("resolved", "cpu", start.Add(-7*time.Second), "")
	w.notified(over("ann"))
}

func TestClockThatIsSetBackDoesNotSplitAlerts(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn)
	w.push("cpu", "Critical")
	w.push("cpu", "Ok")
	w.notified(newPage("ann"), over("ann"))
	w.clock.Set(start.Add(-time.Hour))
	for range 3 {
		w.push("cpu", "Critical")
		w.pass(time.Minute)
	}
	w.notified(newPage("ann"))
	w.push("cpu", "Ok")
	w.notified(over("ann"))
}

// An alert that fired long before it arrived is not resolved for its age.
func TestOldAlertIsNotResolvedAtOnce(t *testing.T) {
	t.Parallel()
	w := begin(t, grouped(`"method": "n"`))
	w.do("/channel/update", `{"channel_id": 7000000000043, "auto_resolve_timeout": 3600, "auto_resolve_mode": "trigger"}`)
	w.alertmanager("firing", "cpu", start.Add(-2*time.Hour), "")
	w.drift = time.Minute
	w.pass(59 * time.Minute)
	w.notified(newPage("ann"), newPage("olga"))
	w.pass(2 * time.Minute)
	w.notified(over("ann"), over("olga"))
}

// Alerts that arrive together are grouped even if they are old.
func TestOldAlertsThatArriveTogetherAreOneIncident(t *testing.T) {
	t.Parallel()
	w := begin(t, grouped(byService+`, "time_window": 10`))
	for n := range 4 {
		w.alertmanager("firing", fmt.Sprint("pod", n), start.Add(-time.Duration(2+n)*time.Hour), `, "service": "pay"`)
	}
	w.notified(newPage("ann"))
}

func TestReopenedIncidentIsNotResolvedAtOnce(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn)
	w.do("/channel/update", `{"channel_id": %d, "auto_resolve_timeout": 3600, "auto_resolve_mode": "trigger"}`, shop)
	w.push("cpu", "Critical")
	w.drift = time.Minute
	w.pass(61 * time.Minute)
	w.notified(newPage("ann"), over("ann"))
	w.as(annKey, "/incident/reopen", `{"incident_ids": [%q]}`, w.incident())
	w.pass(59 * time.Minute)
	w.notified(newPage("ann"))
	w.pass(2 * time.Minute)
	w.notified(over("ann"))
}
