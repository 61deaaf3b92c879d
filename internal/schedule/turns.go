package schedule

import (
	"time"

	"tocsin/internal/db"
	"tocsin/internal/seal"
	"tocsin/internal/timeline"
)

// Turns is a schedule as those see it who tell people of its turns.
type Turns struct {
	Name     string
	Disabled bool               // nobody is told
	Timeline *timeline.Schedule // its Zone is the schedule's, or the account's
	Notify   Notify             // secrets sealed; use Chats

	stamps Stamps
}

// FindTurns reads a schedule; nil when the account has none of this id. zone is the account's.
func FindTurns(tx *db.Tx, account, schedule int64, zone *time.Location) (*Turns, error) {
	s, err := find(tx, account, schedule, false)
	if err != nil || s == nil {
		return nil, err
	}
	e, err := s.engine(zone)
	if err != nil {
		return nil, err
	}
	t := &Turns{Name: s.Name, Disabled: s.Status != 0, Timeline: e, stamps: s.Stamps}
	if s.Notify != nil {
		t.Notify = *s.Notify
	}
	return t, nil
}

// Chats are the chats that are told of turns, secrets in clear.
func (t *Turns) Chats(box *seal.Box) ([]Webhook, error) {
	n, err := t.Notify.opened(box.Open, t.stamps)
	if err != nil || n.Webhooks == nil {
		return nil, err
	}
	return *n.Webhooks, nil
}

// Notifying lists the schedules of an account in which anything is said about telling people of turns.
func Notifying(tx *db.Tx, account int64) ([]int64, error) {
	return db.All(tx, db.Column[int64], `SELECT schedule_id FROM schedule WHERE account_id = $1 AND notify <> '' ORDER BY schedule_id`, account)
}
