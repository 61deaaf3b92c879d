package browser

import (
	"testing"
	"time"

	"tocsin/test/browser/page"
	"tocsin/test/browser/world"
)

// An open page follows what happens without being loaded again, and keeps what its reader types meanwhile.
func TestPagesFollowWhatHappens(t *testing.T) {
	t.Parallel()
	w := begin(t)
	p := signedIn(t, w)
	p.Open("/")
	page.Eval[bool](p, "window.same = true")
	incident := anIncident(t, w)
	began := time.Now()
	p.See("Payments are slow")
	t.Logf("shown %v after it was stored", time.Since(began))
	p.Follow("Payments are slow")
	p.At("/incidents/" + incident)
	p.Type("#note", "The database is full")
	page.Eval[bool](p, "window.same = true")
	w.Do(t, "/incident/ack", map[string]any{"incident_ids": []string{incident}}, nil)
	p.See("Anna Schäfer")
	if got := page.Eval[string](p, "document.getElementById('note').value + '|' + document.activeElement.id"); got != "The database is full|note" {
		t.Errorf("after a change the note and the focus are %q", got)
	}
	if !page.Eval[bool](p, "window.same === true") {
		t.Error("the page was loaded again")
	}
	w.Do(t, "/incident/resolve", map[string]any{"incident_ids": []string{incident}}, nil)
	p.See("Closed")
}

// What the API changes is shown by every page that is open on it. The log has the times.
func TestOpenPagesShowWhatAPIChanges(t *testing.T) {
	t.Parallel()
	w := begin(t)
	incident := anIncident(t, w)
	p := signedIn(t, w)
	for _, c := range []struct {
		page   string
		change func()
		shows  string
	}{
		{"/", func() {
			w.Push(t, "disk", "The disk is full", "Critical", map[string]string{"service": "payment-api", "check": "disk"})
		}, "The disk is full"},
		{"/incidents", func() {
			w.Do(t, "/incident/reset", map[string]any{"incident_id": incident, "title": "Payments hang"}, nil)
		}, "Payments hang"},
		{"/incidents/" + incident, func() { w.Do(t, "/incident/ack", map[string]any{"incident_ids": []string{incident}}, nil) }, "Anna Schäfer"},
		{"/incidents/" + incident, func() {
			w.Do(t, "/incident/comment", map[string]any{"incident_ids": []string{incident}, "comment": "I restart the queue"}, nil)
		}, "I restart the queue"},
		{"/alerts", func() {
			w.Push(t, "queue", "The queue grows", "Warning", map[string]string{"service": "payment-api", "check": "queue"})
		}, "The queue grows"},
		{"/schedules", func() { w.Do(t, "/schedule/create", map[string]any{"schedule_name": "Night watch"}, nil) }, "Night watch"},
	} {
		p.Open(c.page)
		page.Eval[bool](p, `window.same = true`)
		began := time.Now()
		c.change()
		p.See(c.shows)
		t.Logf("%s: %d ms from the call of the operation until %q is shown", world.Shape(c.page), time.Since(began).Milliseconds(), c.shows)
		if !page.Eval[bool](p, "window.same === true") {
			t.Errorf("%s was loaded again", c.page)
		}
	}
}

// When the network is cut, the page shows since when it is old and keeps what it shows; when it is back, the page follows
// again. Nothing that was typed or pressed meanwhile is lost.
func TestNetworkCutAndBack(t *testing.T) {
	t.Parallel()
	w := begin(t)
	incident := anIncident(t, w)
	p := signedIn(t, w)
	p.Open("/incidents/" + incident)
	p.Type("#note", "Half a thought")
	p.Offline(true)
	w.Cut()
	p.Has("#stale")
	p.See("Payments are slow")
	p.Click("Acknowledge")
	p.See("Payments are slow")
	if got := page.Eval[string](p, "document.getElementById('note').value"); got != "Half a thought" {
		t.Errorf("the note is %q", got)
	}
	o := once(t)
	o.note(p.Axe(), "cut off")
	w.Do(t, "/incident/resolve", map[string]any{"incident_ids": []string{incident}}, nil)
	p.Offline(false)
	p.See("Closed")
	p.Gone("#stale")
	p.Messages() // the browser notes every failed attempt to connect
}

// The stream ends with the session: a page of someone who has signed out elsewhere shows nothing new.
func TestStreamEndsWithSession(t *testing.T) {
	t.Parallel()
	w := begin(t)
	p := signedIn(t, w)
	p.Open("/incidents")
	other := p.Tab()
	defer other.Close()
	other.Open("/")
	other.Follow("Sign out")
	anIncident(t, w)
	p.At("/sign-in")
	p.Messages()
}
