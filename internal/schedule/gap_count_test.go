package schedule_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"tocsin/internal/accountfile"
	"tocsin/internal/configstore"
	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/db/dbtest"
	"tocsin/internal/platform/secret"
	"tocsin/internal/schedule"
)

// TestGapsAreRemembered counts the gaps every ten minutes for four days, as the job does and without what is stored. A
// schedule with gaps that begin soon, one without, and one in which no one is ever on call must be counted alike; the
// configuration changes on the way.
func TestGapsAreRemembered(t *testing.T) {
	t.Parallel()
	keyring, err := secret.Open(t.TempDir()+"/seal.key", clock.System.Now)
	if err != nil {
		t.Fatal(err)
	}
	d, err := db.Open(t.Context(), dbtest.Migrated(t))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	monday := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	layer := func(mask string) string {
		return fmt.Sprintf(`{"layer_name": "L", "layer_start": %d, "rotation_unit": "week", "rotation_value": 1%s,
			"groups": [{"group_name": "G", "members": [{"role_id": 0, "person_ids": [11]}]}]}`, monday.Unix(), mask)
	}
	text := fmt.Sprintf(`{"format": "tocsin.account/1", "account": {"account_id": 1, "account_name": "A", "time_zone": "UTC", "owner_id": 11},
		"persons": [{"person_id": 11, "person_name": "O", "email": "o@example.com"}], "teams": [{"team_id": 21, "team_name": "T", "person_ids": [11]}],
		"schedules": [
			{"schedule_id": 31, "schedule_name": "always", "team_id": 21, "layers": [%s]},
			{"schedule_id": 32, "schedule_name": "three days", "team_id": 21, "layers": [%s]},
			{"schedule_id": 33, "schedule_name": "never", "team_id": 21, "layers": []}]}`,
		layer(""), layer(`, "day_mask": {"repeat": [1, 2, 4]}`))
	file, err := accountfile.Read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := accountfile.Import(t.Context(), d, keyring, file, monday, false); err != nil {
		t.Fatal(err)
	}
	seen := map[schedule.Gaps]bool{}
	for now := monday; now.Before(monday.AddDate(0, 0, 4)); now = now.Add(10 * time.Minute) {
		if now.Equal(monday.AddDate(0, 0, 3)) {
			if err := d.WriteOf(t.Context(), 1, func(tx *db.Tx) error {
				if err := tx.Do(`UPDATE schedule SET status = 1 WHERE account_id = 1 AND schedule_id = 33`); err != nil {
					return err
				}
				return configstore.BumpRevision(tx, 1)
			}); err != nil {
				t.Fatal(err)
			}
		}
		if err := schedule.CountGaps(t.Context(), d, nil, now); err != nil {
			t.Fatal(err)
		}
		_, want, err := schedule.GapsOf(t.Context(), d, nil, 1, now.Unix())
		if err != nil {
			t.Fatal(err)
		}
		var stored schedule.Gaps
		if err := d.Read(t.Context(), func(tx *db.Tx) (err error) {
			stored, err = schedule.AllGaps(tx)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if stored.Now != want.Now || stored.Day != want.Day {
			t.Fatalf("%s: %d now, %d within a day; want %d and %d", now, stored.Now, stored.Day, want.Now, want.Day)
		}
		seen[stored] = true
	}
	if len(seen) < 4 {
		t.Errorf("only the counts %v were seen", seen)
	}
}
