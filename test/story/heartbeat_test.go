package story

import (
	"net/http"
	"testing"
	"time"

	"tocsin/internal/platform/db/dbtest"
)

// heartbeatStatus sends a heartbeat and returns the HTTP status.
func (w *world) heartbeatStatus() int {
	w.t.Helper()
	answer, err := http.Get(w.http.URL + "/event/push/heartbeat?integration_key=" + beatKey)
	w.must(err)
	answer.Body.Close()
	return answer.StatusCode
}

// A heartbeat that could not be stored whole is not stored in part.
func TestHeartbeatIsStoredWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn, heartbeats())
	w.beat()
	w.pass(6 * time.Minute)
	w.notified(newPage("ann"))
	full := dbtest.Trigger{Name: "disk_full", At: "BEFORE INSERT ON event"}
	w.must(w.app.DB.Write(t.Context(), full.Make))
	if status := w.heartbeatStatus(); status < 500 {
		t.Errorf("answered %d", status)
	}
	w.must(w.app.DB.Write(t.Context(), full.Drop))
	w.beat()
	w.notified(over("ann"))
}

func TestEnabledHeartbeatHasItsFullInterval(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn, heartbeats())
	w.beat()
	w.do("/integration/disable", `{"integration_id": 7000000000054}`)
	w.drift = time.Minute
	w.pass(24 * time.Hour)
	w.do("/integration/enable", `{"integration_id": 7000000000054}`)
	w.pass(5 * time.Minute)
	w.notified()
	w.pass(2 * time.Minute)
	w.notified(newPage("ann"))
}

// Heartbeats that could not reach a server that was down do not count as missed.
func TestServerThatWasDownWaitsForHeartbeats(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn, heartbeats())
	w.beat()
	w.standstill(24 * time.Hour)
	w.pass(4 * time.Minute)
	w.beat()
	w.pass(4 * time.Minute)
	w.notified()
	w.standstill(24 * time.Hour)
	w.pass(6 * time.Minute)
	w.notified(newPage("ann"))
}
