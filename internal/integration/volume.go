package integration

import (
	"cmp"
	"time"

	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
)

// The bounds of max_bytes_per_day.
const (
	DefaultBytesPerDay = 256 << 20
	minBytesPerDay     = 1 << 20
	maxBytesPerDay     = 1 << 40
)

// How many times its bytes of a day an integration may send until its events are refused. Events that end an alert are taken
// for longer, because an incident whose end is refused stays open.
const (
	RefusedAt     = 10
	EndsRefusedAt = 2 * RefusedAt
)

// BytesPerDay returns how many bytes of events the integration may send in a day before they are shortened.
func (i *Integration) BytesPerDay() int64 {
	if i.Settings == nil {
		return DefaultBytesPerDay
	}
	return cmp.Or(i.Settings.MaxBytesPerDay, DefaultBytesPerDay)
}

// checkBytesPerDay returns fault.Invalid for a bound that the integration cannot have.
func (i *Integration) checkBytesPerDay(at configstore.RecordPath) error {
	if i.Settings == nil || i.Settings.MaxBytesPerDay == 0 {
		return nil
	}
	if n := i.Settings.MaxBytesPerDay; n < minBytesPerDay || n > maxBytesPerDay {
		return at.Invalid("max_bytes_per_day", "must be from %d to %d, got %d", int64(minBytesPerDay), int64(maxBytesPerDay), n)
	}
	if !i.IsSource() || i.IntegrationType == Heartbeat {
		return at.Invalid("max_bytes_per_day", "is for sources of alerts and changes, not for the type %s", i.IntegrationType)
	}
	return nil
}

// Volume is how many bytes of events an integration has sent today.
type Volume struct {
	Bytes int64 `json:"bytes" doc:"The bytes of its events since 0:00 UTC, to a sixteenth of the bound."`
	Most  int64 `json:"max_bytes_per_day" doc:"The bound that holds. Beyond it labels, images and description of an event are cut to 2 KB together; beyond ten times it events are refused."`
}

// volume returns the volume of a source; nil for other integrations.
func (i *Integration) volume(tx *db.Tx, account int64, now time.Time) (*Volume, error) {
	if !i.IsSource() || i.IntegrationType == Heartbeat {
		return nil, nil
	}
	n, err := EventBytes(tx, account, i.IntegrationID, now)
	return &Volume{n, i.BytesPerDay()}, err
}

// Day returns the day of a moment, as bytes are counted.
func Day(now time.Time) int64 { return now.Unix() / 86400 }

// EventBytes returns the stored bytes of an integration's events of today.
func EventBytes(tx *db.Tx, account, integration int64, now time.Time) (int64, error) {
	n, _, err := db.One(tx, db.Column[int64], `SELECT bytes FROM event_bytes WHERE account_id = $1 AND integration_id = $2 AND day = $3`,
		account, integration, Day(now))
	return n, err
}

// AddEventBytes adds bytes of an integration's events of today, and returns their sum.
func AddEventBytes(tx *db.Tx, account, integration, bytes int64, now time.Time) (int64, error) {
	err := tx.Do(`INSERT INTO event_bytes (account_id, integration_id, day, bytes) VALUES ($1, $2, $3, $4)
		ON CONFLICT (account_id, integration_id, day) DO UPDATE SET bytes = event_bytes.bytes + excluded.bytes`,
		account, integration, Day(now), bytes)
	if err != nil {
		return 0, err
	}
	return EventBytes(tx, account, integration, now)
}

// pruneBytes deletes the bytes of past days.
func pruneBytes(tx *db.Tx, now time.Time) (more bool, err error) {
	return false, tx.Do(`DELETE FROM event_bytes WHERE day < $1`, Day(now))
}
