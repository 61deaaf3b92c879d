package schedule

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/secret"
)

// Reseal passes the secrets of all accounts' schedules through renew and counts them. An error of renew ends it.
func Reseal(tx *db.Tx, renew secret.Renew) (secrets int, err error) {
	return rewrite(tx, func(count *int) passage {
		return passage{
			text: func(sealed, place string) (string, error) {
				*count++
				return renew(sealed, place)
			},
			other: func(value jsontext.Value, place string) (jsontext.Value, error) {
				if !isSealed(value) { // see Complete
					return value, nil
				}
				*count++
				sealed, err := renew(plain(value), place)
				if err != nil {
					return nil, err
				}
				return json.Marshal(sealed)
			},
		}
	})
}

// Complete seals what an older version stored in clear. It is called when the program starts.
func Complete(tx *db.Tx, keyring *secret.Keyring) error {
	_, err := rewrite(tx, func(count *int) passage {
		return passage{
			text: func(sealed, _ string) (string, error) { return sealed, nil },
			other: func(value jsontext.Value, place string) (jsontext.Value, error) {
				if isSealed(value) {
					return value, nil
				}
				*count++
				return sealOther(keyring, value, place)
			},
		}
	})
	return err
}

// rewrite puts the secrets of all schedules through a passage, which counts those that it changes, and
// writes the schedules that have some.
func rewrite(tx *db.Tx, through func(count *int) passage) (changed int, err error) {
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
		before := changed
		renewed, err := r.notify.through(through(&changed), r.of)
		if err != nil {
			return 0, fault.Wrap(err, "seal the secrets of schedule %d anew", r.of.ScheduleID)
		}
		if changed == before {
			continue
		}
		notify, err := json.Marshal(renewed)
		if err != nil {
			return 0, err
		}
		if _, err := tx.Exec(`UPDATE schedule SET notify = $1 WHERE account_id = $2 AND schedule_id = $3`, string(notify), r.of.AccountID,
			r.of.ScheduleID); err != nil {
			return 0, err
		}
		if err := configstore.BumpRevision(tx, r.of.AccountID); err != nil {
			return 0, err
		}
	}
	return changed, nil
}
