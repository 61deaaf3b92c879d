package schedule

import (
	"github.com/go-json-experiment/json"

	"tocsin/internal/db"
	"tocsin/internal/fault"
	"tocsin/internal/seal"
)

// Reseal seals the secrets of all accounts' schedules anew, under the newest key, and counts them. A
// secret that no key opens is an error, so that its key is not dropped.
func Reseal(tx *db.Tx, box *seal.Box) (secrets int, err error) {
	type row struct {
		of     Stamps
		notify Notify
	}
	rows, err := db.All(tx, func(scan db.Scan) (r row, err error) {
		var notify string
		if err := scan(&r.of.AccountID, &r.of.ScheduleID, &notify); err != nil {
			return r, err
		}
		return r, json.Unmarshal([]byte(notify), &r.notify)
	}, `SELECT account_id, schedule_id, notify FROM schedule WHERE notify <> ''`)
	if err != nil {
		return 0, err
	}
	for _, r := range rows {
		before := secrets
		renewed, err := r.notify.withSecrets(r.of, func(sealed, place string) (string, error) {
			secrets++
			plain, err := box.Open(sealed, place)
			if err != nil {
				return "", err
			}
			return box.Seal(plain, place)
		})
		if err != nil {
			return 0, fault.Wrap(err, "seal the secrets of schedule %d anew", r.of.ScheduleID)
		}
		if secrets == before {
			continue
		}
		notify, err := json.Marshal(renewed)
		if err != nil {
			return 0, err
		}
		if _, err := tx.Exec(`UPDATE schedule SET notify = $1 WHERE account_id = $2 AND schedule_id = $3`, string(notify), r.of.AccountID, r.of.ScheduleID); err != nil {
			return 0, err
		}
	}
	return secrets, nil
}
