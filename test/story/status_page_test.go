package story

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"tocsin/internal/app"
)

// active reads the open changes as clients do, with GET.
func (w *world) active() string {
	w.t.Helper()
	answer, err := http.Get(w.http.URL + "/status-page/change/active/list?app_key=" + ownKey)
	w.must(err)
	defer answer.Body.Close()
	var read struct {
		Data struct {
			Items []struct{ Title, Status string }
			Total int
		}
	}
	w.must(json.NewDecoder(answer.Body).Decode(&read))
	if read.Data.Total != len(read.Data.Items) {
		w.t.Errorf("%d of %d", len(read.Data.Items), read.Data.Total)
	}
	list := []string{}
	for _, i := range read.Data.Items {
		list = append(list, i.Title+" "+i.Status)
	}
	return strings.Join(list, ", ")
}

// A status page shows an incident of people and a maintenance of the clock, whatever restarts in between. No person is
// notified of it. What is over is deleted after its time, and what is open never.
func TestStatusPage(t *testing.T) {
	t.Parallel()
	w := beginWith(t, func(c *app.Config) { c.IncidentDays = 365 }, notifyAnn)
	page := w.do("/status-page/create", `{"name": "Acme", "url_name": "acme", "components": [{"component_id": "api", "name": "API"}]}`).get("page_id")
	now := w.clock.Now().Unix()
	w.do("/status-page/change/create", `{"page_id": %s, "type": "maintenance", "title": "Upgrade", "status": "scheduled", "auto_update_by_schedule": true,
		"start_at_seconds": %d, "close_at_seconds": %d, "updates": [{"description": "d", "component_changes": [{"component_id": "api", "status": "under_maintenance"}]}]}`,
		page, now+3600, now+7200)
	incident := w.do("/status-page/change/create", `{"page_id": %s, "type": "incident", "title": "Slow", "status": "investigating",
		"updates": [{"description": "<script>", "component_changes": [{"component_id": "api", "status": "degraded"}]}]}`, page).get("change_id")
	for _, step := range []struct {
		after time.Duration
		want  string
	}{
		{0, "Slow investigating, Upgrade scheduled"},
		{time.Hour, "Upgrade ongoing, Slow investigating"},
		{time.Hour, "Slow investigating"},
	} {
		w.clock.Add(step.after)
		w.restart()
		if got := w.active(); got != step.want {
			t.Errorf("after %s: %q, want %q", step.after, got, step.want)
		}
	}
	one := fmt.Sprintf(`"page_id": %s, "change_id": %s`, page, incident)
	w.do("/status-page/change/timeline/create", `{%s, "status": "monitoring", "description": "m"}`, one)
	w.clock.Add(366 * 24 * time.Hour)
	w.settle()
	if got := w.do("/status-page/change/list", `{"page_id": %s}`, page); got.get("total") != "1" || got.get("items.0.title") != "Slow" {
		t.Errorf("after a year: %s", got)
	}
	w.do("/status-page/change/timeline/create",
		`{%s, "status": "resolved", "description": "r", "component_changes": [{"component_id": "api", "status": "operational"}]}`, one)
	if got := w.active(); got != "" {
		t.Errorf("resolved: %q", got)
	}
	w.clock.Add(367 * 24 * time.Hour)
	w.settle()
	if got := w.do("/status-page/change/list", `{"page_id": %s}`, page); got.get("total") != "0" {
		t.Errorf("a year after its end: %s", got)
	}
	w.notified()
}
