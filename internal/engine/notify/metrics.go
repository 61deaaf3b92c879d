package notify

import (
	"time"

	"tocsin/internal/module"
	"tocsin/internal/platform/db"
)

// retries counts the notifications that failed and are tried again.
var retries = module.Gauge{
	Name: "tocsin_notification_retries_waiting", Help: "Notifications that failed and wait for another attempt.",
	Read: func(tx *db.Tx, _ time.Time) ([]module.Sample, error) {
		n, _, err := db.One(tx, db.Column[int64], `SELECT count(*) FROM notice WHERE settled_at = 0 AND status = 'waiting' AND attempts > 0`)
		return []module.Sample{{Value: float64(n)}}, err
	},
}
