package shiftnotice

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"tocsin/internal/api/apitest"
	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
	"tocsin/internal/schedule"
)

// TestChangesOfConfigurationStarveNoSchedule changes the configuration before every run, with more schedules than a
// run processes. No run asks for another at once when nothing is left for it, and every schedule has its turn.
func TestChangesOfConfigurationStarveNoSchedule(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t)
	const schedules = batch
	records := make([]schedule.Record, schedules)
	for i := range records {
		if err := json.Unmarshal([]byte(`{"schedule_name": "s", "notify": {"advance_in_time": 0}}`), &records[i]); err != nil {
			t.Fatal(err)
		}
		records[i].ScheduleID = int64(i + 1)
	}
	s.Write(func(tx *db.Tx) error { return schedule.Load(tx, nil, apitest.AccountA, records) })
	log := &strings.Builder{}
	r := &Service{DB: s.DB, Log: slog.New(slog.NewTextHandler(log, nil))}
	processed := map[row]bool{} // by schedule and kind
	left := func() (n int) {
		s.Read(func(tx *db.Tx) error {
			rows, err := db.All(tx, scanRow, `SELECT `+columns+` FROM handover`)
			for _, w := range rows {
				if w.due > 0 && w.due <= s.Clock.Now().Unix() {
					n++
					continue
				}
				processed[row{schedule: w.schedule, kind: w.kind}] = true
			}
			return err
		})
		return n
	}
	for n := range 6 {
		s.Clock.Add(time.Second)
		if n < 4 {
			s.Write(func(tx *db.Tx) error { return configstore.BumpRevision(tx, apitest.AccountA) })
		}
		again, err := r.due(t.Context(), s.Clock.Now())
		if err != nil {
			t.Fatal(err)
		}
		if atOnce := !again.IsZero() && !again.After(s.Clock.Now()); atOnce != (left() > 0) {
			t.Errorf("run %d: %d rows are left, asks to run again at once: %t", n, left(), atOnce)
		}
		if n == 3 && len(processed) != 2*schedules {
			t.Errorf("%d of %d rows were processed", len(processed), 2*schedules)
		}
	}
	if log.Len() > 0 {
		t.Error(log)
	}
}
