package webhook

import (
	"time"

	"tocsin/internal/module"
	"tocsin/internal/platform/db"
)

// retries counts the messages that failed and are tried again.
var retries = module.Gauge{
	Name: "tocsin_webhook_retries_waiting", Help: "Messages to webhooks that failed and wait for another attempt.",
	Read: func(tx *db.Tx, _ time.Time) ([]module.Sample, error) {
		n, _, err := db.One(tx, db.Column[int64], `SELECT count(*) FROM webhook_message
			WHERE settled_at = 0 AND status = 'waiting' AND attempts > 0`)
		return []module.Sample{{Value: float64(n)}}, err
	},
}
