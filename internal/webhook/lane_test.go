package webhook

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/db"
)

// TestLanesFollowTheirIndexes asks the engine itself how it would run each statement: along the index that
// was made for it and without sorting. It must be so on an empty database without statistics, because
// that is what every installation starts with.
func TestLanesFollowTheirIndexes(t *testing.T) {
	d := apitest.OpenDB(t)
	for index, l := range map[string]lane{
		"delivery_by_status": laneStatus, "delivery_by_integration": laneIntegration, "delivery_by_type": laneType,
		"delivery_by_both": laneBoth, "delivery_by_ref": laneRef,
	} {
		for name, query := range map[string]string{"up": l.up, "down": l.down, "count": l.count} {
			plan := explain(t, d, query)
			if !strings.Contains(plan, " "+index+" ") || !strings.Contains(plan, "event_time>") && !strings.Contains(plan, "event_time,event_id)>") || !strings.Contains(plan, "<") || strings.Contains(plan, "TEMP") {
				t.Errorf("%s %s: %s", index, name, plan)
			}
			t.Log(index, name, plan)
		}
	}
}

func explain(t *testing.T, d *db.DB, query string) string {
	t.Helper()
	args := make([]any, strings.Count(query, "$"))
	for i := range args {
		args[i] = 0
	}
	var lines []string
	err := d.Read(context.Background(), func(tx *db.Tx) (err error) {
		lines, err = db.All(tx, func(scan db.Scan) (line string, err error) {
			var id, parent, unused int
			return line, scan(&id, &parent, &unused, &line)
		}, "EXPLAIN QUERY PLAN "+query, args...)
		return err
	})
	if err != nil {
		t.Fatal(fmt.Errorf("%s: %w", query, err))
	}
	return strings.Join(lines, "; ")
}
