package schedule

import (
	"time"

	"tocsin/internal/core/oncall"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/secret"
)

// Shifts is a schedule as the notifications about its shifts need it.
type Shifts struct {
	Name     string
	Disabled bool             // no notifications are sent
	Timeline *oncall.Schedule // its Zone is the schedule's, or the account's
	Notify   Notify           // secrets sealed; use Chats

	stamps Stamps
}

// FindShifts reads a schedule; nil when the account has none of this id. zone is the account's.
func FindShifts(tx *db.Tx, account, schedule int64, zone *time.Location) (*Shifts, error) {
	s, err := find(tx, account, schedule)
	if err != nil || s == nil {
		return nil, err
	}
	e, err := s.engine(zone)
	if err != nil {
		return nil, err
	}
	t := &Shifts{Name: s.Name, Disabled: s.Status != 0, Timeline: e, stamps: s.Stamps}
	if s.Notify != nil {
		t.Notify = *s.Notify
	}
	return t, nil
}

// Chats returns the chats that are notified of shifts, with their secrets in clear.
func (t *Shifts) Chats(keyring *secret.Keyring) ([]Webhook, error) {
	n, err := t.Notify.opened(keyring.Open, t.stamps)
	if err != nil || n.Webhooks == nil {
		return nil, err
	}
	return *n.Webhooks, nil
}

// Notifying lists the schedules of an account with settings for notifications about shifts.
func Notifying(tx *db.Tx, account int64) ([]int64, error) {
	return db.All(tx, db.Column[int64], `SELECT schedule_id FROM schedule WHERE account_id = $1 AND notify <> '' ORDER BY schedule_id`,
		account)
}
