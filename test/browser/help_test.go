package browser

import (
	"fmt"
	"strings"
	"testing"

	"tocsin/test/browser/world"
)

// anIncident starts an incident that pages the owner's team, and returns its id.
func anIncident(t *testing.T, w *world.World) string {
	t.Helper()
	w.Push(t, "latency", "Payments are slow", "Critical", map[string]string{"service": "payment-api", "check": "latency_p99", "region": "eu-1"})
	w.Pass(t, 60e9)
	var reply struct {
		Items []struct {
			ID    string `json:"incident_id"`
			Title string `json:"title"`
		} `json:"items"`
	}
	now := w.Clock.Now().Unix()
	w.Do(t, "/incident/list", map[string]any{"start_time": now - 600, "end_time": now + 1, "progress": "Triggered"}, &reply)
	for _, i := range reply.Items {
		if i.Title == "Payments are slow" {
			return i.ID
		}
	}
	t.Fatalf("no incident was started: %+v", reply)
	return ""
}

// progress returns the state of an incident.
func progress(t *testing.T, w *world.World, incident string) string {
	t.Helper()
	var reply struct{ Progress string }
	w.Do(t, "/incident/info", map[string]any{"incident_id": incident}, &reply)
	return reply.Progress
}

// problems collects what is wrong with many pages, so that what is wrong with all is reported once.
type problems struct {
	where map[string][]string
}

// once returns an empty collection, which is reported at the end of the test.
func once(t *testing.T) *problems {
	o := &problems{map[string][]string{}}
	t.Cleanup(func() { o.report(t) })
	return o
}

// report fails a test by what was noted.
func (o *problems) report(t *testing.T) {
	t.Helper()
	for what, where := range o.where {
		more := ""
		if n := len(where) - 1; n > 0 {
			more = fmt.Sprintf(" (and %d more)", n)
		}
		t.Errorf("%s%s: %s", where[0], more, what)
	}
}

// note notes problems of a page.
func (o *problems) note(found []string, where ...string) {
	for _, f := range found {
		o.where[f] = append(o.where[f], strings.Join(where, " "))
	}
}
