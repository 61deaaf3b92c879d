package notify

import (
	"cmp"
	"slices"
	"time"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/delivery"
)

// Found is a queue with waiting notifications.
type Found struct {
	Lane    string
	Account int64
	Due     time.Time
}

// Found returns the queues, those that are due at the same time by their names.
func (r *Service) Found(tx *db.Tx) (all []Found, err error) {
	queues, err := store{r}.Queues(tx, time.Time{})
	slices.SortStableFunc(queues, func(a, b delivery.Queue[queueKey]) int {
		return cmp.Or(a.Due.Compare(b.Due), cmp.Compare(a.Key.lane, b.Key.lane), cmp.Compare(a.Key.account, b.Key.account))
	})
	for _, q := range queues {
		all = append(all, Found{q.Key.lane, q.Key.account, q.Due})
	}
	return all, err
}

// Miss records that the attempt of a notification found no incident.
func (r *Service) Miss(tx *db.Tx, key string, now time.Time) error {
	n, _, err := db.One(tx, scanNotification, `SELECT account_id, `+columns+` FROM notice WHERE notice_key = $1`, key)
	if err != nil {
		return err
	}
	all := []ended{{&member{Notification: n}, Cancelled, "the incident was removed"}}
	return r.recordEnded(tx, &attempt{Notification: n}, all, now)
}
