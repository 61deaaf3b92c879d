package alert

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"tocsin/internal/db"
)

// What every event asks is found by an index, and none of the account's other alerts is read for it.
func TestPlans(t *testing.T) {
	d, err := db.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "tocsin.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for query, want := range map[string]string{
		latest:     "SEARCH alert USING INDEX alert_by_key (account_id=? AND channel_id=? AND alert_key=?)",
		ofIncident: "SEARCH alert USING INDEX alert_of_incident (account_id=? AND incident_id=?)",
		uninhibit:  "SEARCH alert USING INDEX alert_muted_by (account_id=? AND muted_by=?)",
	} {
		var steps []string
		err := d.Read(context.Background(), func(tx *db.Tx) (err error) {
			steps, err = db.All(tx, func(scan db.Scan) (step string, err error) {
				var id, parent, unused int
				return step, scan(&id, &parent, &unused, &step)
			}, "EXPLAIN QUERY PLAN "+query, make([]any, 9)...)
			return err
		})
		if got := strings.Join(steps, "; "); err != nil || got != want {
			t.Errorf("%s\n  is %s %v\nwant %s", query, got, err, want)
		}
	}
}
