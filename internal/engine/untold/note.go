package untold

import (
	"fmt"

	"tocsin/internal/core/event"
	"tocsin/internal/engine/notify"
	"tocsin/internal/platform/db"
)

// Notified returns the fallback's notifications of the last message about events of an alert key that no channel took. It
// returns none before the first message, or when the events are not listed any more.
func Notified(tx *db.Tx, account, integration int64, alertKey string) ([]notify.Notification, error) {
	s := Stray{Event: event.Event{Integration: integration, AlertKey: alertKey}}
	for _, ref := range []string{s.ref(), s.others()} {
		w, found, err := db.One(tx, scanRow, `SELECT `+columns+` FROM untold WHERE account_id = $1 AND ref_id = $2`, account, ref)
		if err != nil {
			return nil, err
		}
		if found && w.at > 0 {
			return notify.WithKey(tx, account, messageKey(w.at))
		}
		if found {
			return nil, nil
		}
	}
	return nil, nil
}

// messageKey returns the common beginning of the keys of a message's notifications. at is when the message was made, Unix
// seconds.
func messageKey(at int64) string {
	const minute = 60
	return fmt.Sprintf("untold/%d", at/minute*minute)
}
