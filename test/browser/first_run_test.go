package browser

import (
	"testing"

	"tocsin/test/browser/world"
)

// On an empty server the first page names what is missing until alerts reach people; Now comes when a
// schedule, a channel and a source exist.
func TestFirstPageOfEmptyServer(t *testing.T) {
	t.Parallel()
	w := ended(t, world.BeginEmpty(t, t.TempDir()))
	p := signedIn(t, w)
	o := once(t)
	p.See("Nobody can be paged yet")
	p.Lacks("Am I on call?")
	o.note(p.Axe(), "first run")
	p.Follow("Show Now")
	p.See("No schedule yet: nobody is on call.")
	p.Open("/")
	w.Do(t, "/schedule/create", map[string]any{"schedule_name": "Day"}, nil)
	p.Open("/")
	w.Do(t, "/channel/create", map[string]any{"channel_name": "Alerts", "team_id": 0}, nil)
	p.See("Connect a source")
	w.Do(t, "/integration/create", map[string]any{"integration_name": "Alertmanager", "integration_type": "prometheus"}, nil)
	p.See("Am I on call?")
}
