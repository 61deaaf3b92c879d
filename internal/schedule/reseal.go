package schedule

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/secret"
)

// Reseal replaces the secrets of all accounts' schedules by renew and returns how many there are. It stops at the first
// error.
func Reseal(tx *db.Tx, renew secret.Renew) (secrets int, err error) {
	return rewrite(tx, func(count *int) transform {
		return transform{
			text: func(sealed, context string) (string, error) {
				*count++
				return renew(sealed, context)
			},
			other: func(value jsontext.Value, context string) (jsontext.Value, error) {
				if !isSealed(value) { // see Complete
					return value, nil
				}
				*count++
				sealed, err := renew(plain(value), context)
				if err != nil {
					return nil, err
				}
				return json.Marshal(sealed)
			},
		}
	})
}

// Complete seals the unknown members that an older version stored in clear. It is called when the program starts.
func Complete(tx *db.Tx, keyring *secret.Keyring) error {
	_, err := rewrite(tx, func(count *int) transform {
		return transform{
			text: func(sealed, _ string) (string, error) { return sealed, nil },
			other: func(value jsontext.Value, context string) (jsontext.Value, error) {
				if isSealed(value) {
					return value, nil
				}
				*count++
				return sealOther(keyring, value, context)
			},
		}
	})
	return err
}

// rewrite transforms the secrets of all schedules, and stores the schedules for which the transform counted a change.
func rewrite(tx *db.Tx, newTransform func(count *int) transform) (changed int, err error) {
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
		renewed, err := r.notify.transformSecrets(newTransform(&changed), r.of)
		if err != nil {
			return 0, fault.Wrap(err, "seal the secrets of schedule %d again", r.of.ScheduleID)
		}
		if changed == before {
			continue
		}
		notify, err := json.Marshal(renewed)
		if err != nil {
			return 0, err
		}
		if err := tx.Do(`UPDATE schedule SET notify = $1 WHERE account_id = $2 AND schedule_id = $3`, string(notify), r.of.AccountID,
			r.of.ScheduleID); err != nil {
			return 0, err
		}
		if err := configstore.BumpRevision(tx, r.of.AccountID); err != nil {
			return 0, err
		}
	}
	return changed, nil
}
