package story

import (
	"strings"
	"testing"
	"time"
)

// Due work is a row, not a timer: a new process continues where the old one stopped.

func TestRestartForgetsNoEscalation(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(onCall(day), window(10))+","+layer(persons(cid))))
	w.push("cpu", "Critical")
	w.pass(5 * time.Minute)
	w.restart()
	w.pass(5 * time.Minute)
	w.notified(newPage("ann"), newPage("cid"))
}

func TestRestartSendsNothingTwice(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(onCall(day), window(10))+","+layer(persons(cid))))
	w.push("cpu", "Critical")
	w.notified(newPage("ann"))
	for range 3 {
		w.restart()
		w.settle()
	}
	w.notified()
}

func TestEventThatWasTakenIsDecidedByNextProcess(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn)
	r := w.post("/event/push/alert/standard?integration_key="+shopKey, `{"title_rule": "cpu", "event_status": "Critical", "alert_key": "cpu"}`)
	if r.Error != nil {
		t.Fatal(r)
	}
	w.restart() // before anything was decided
	w.settle()
	w.notified(newPage("ann"))
}

func TestFailedNotificationIsRetriedByNextProcess(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn)
	w.fail("ann", later)
	w.push("cpu", "Critical")
	w.restart()
	w.acceptAll()
	w.pass(time.Minute)
	w.notified(newPage("ann"))
}

func TestEscalationAfterLongStandstillIsNotBurst(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(onCall(day), again(6, 1), window(10))+","+layer(persons(bob), window(10))+","+layer(persons(cid))))
	w.push("cpu", "Critical")
	w.notified(newPage("ann"))
	w.http.Close()
	w.must(w.app.Close())
	w.clock.Add(3 * time.Hour)
	w.open()
	w.settle()
	w.pass(10 * time.Second)                                   // late notifications wait a few seconds for each other
	w.notified(newPage("ann"), newPage("bob"), newPage("cid")) // each once: no process ran for three hours
	w.pass(time.Hour)
	w.notified()
}

func TestClockThatIsSetBackLosesNothing(t *testing.T) {
	t.Parallel()
	w := begin(t, escalates(layer(onCall(day), window(10))+","+layer(persons(cid))))
	w.push("cpu", "Critical")
	w.clock.Set(start.Add(-time.Hour))
	w.settle()
	w.push("mem", "Critical")
	w.notified(newPage("ann"), newPage("ann"))
	w.drift = time.Minute
	w.pass(80 * time.Minute)
	w.notified(newPage("cid"), newPage("cid"))
}

// An event that cannot be decided blocks no other, and ends with a verdict that states it.
func TestPoisonousEventIsSetAside(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn)
	event := w.push("bad", "Critical")
	w.notified(newPage("ann"))
	w.sql(`UPDATE event SET body = '{"event_id": "` + event + `", "integration_id": "not a number"}' WHERE event_id = '` + event + `'`)
	w.sql(`DELETE FROM verdict WHERE event_id = '` + event + `'`)
	w.sql(`INSERT INTO event_waiting (account_id, event_id, received_at) SELECT account_id, event_id, received_at FROM event WHERE event_id = '` + event + `'`)
	w.post("/event/push/alert/standard?integration_key="+shopKey, `{"title_rule": "good", "event_status": "Critical", "alert_key": "good"}`)
	for range 10 {
		w.clock.Add(10 * time.Second)
		_ = w.trySettle()
	}
	w.notified(newPage("ann"))
	w.outcome(event, "failed")
}

func TestRulesDecideSameAgain(t *testing.T) {
	t.Parallel()
	w := begin(t, notifyAnn, rules("silence_rules", `"filters": `+where("env", "test")+`, `+once(time.Hour)))
	w.push("cpu", "Critical", "env=test")
	first := w.whole("cpu")
	w.restart()
	if again := w.whole("cpu"); again != first {
		t.Errorf("%s\n%s", first, again)
	}
	if !strings.Contains(first, "silenced") {
		t.Error(first)
	}
}
