package phone

import (
	"context"
	"time"

	"tocsin/internal/platform/db"
)

// answered reports whether a digit of a call or text message was acted on before.
func (s *Service) answered(ctx context.Context, account int64, sid, digit string) (done bool, err error) {
	if sid == "" {
		return false, nil
	}
	err = s.DB.Read(ctx, func(tx *db.Tx) (err error) {
		done, err = recorded(tx, account, sid, digit)
		return err
	})
	return done, err
}

func recorded(tx *db.Tx, account int64, sid, digit string) (bool, error) {
	_, found, err := db.One(tx, db.Column[int64], `SELECT 1 FROM phone_answer
		WHERE account_id = $1 AND sid = $2 AND digit = $3`, account, sid, digit)
	return found, err
}

// record stores that a digit was acted on. That follows the action, so that one that failed can be asked for again; two
// at the same moment do no harm, because each action changes nothing the second time.
func (s *Service) record(ctx context.Context, account int64, sid, digit string, now time.Time) error {
	if sid == "" {
		return nil
	}
	return s.DB.WriteOf(ctx, account, func(tx *db.Tx) error {
		return tx.Do(`INSERT INTO phone_answer (account_id, sid, digit, answered_at) VALUES ($1, $2, $3, $4)
			ON CONFLICT DO NOTHING`, account, sid, digit, now.UnixMilli())
	})
}

// prune deletes a batch of answers from before a moment. more reports whether there may be others.
func prune(tx *db.Tx, before time.Time) (more bool, err error) {
	const batch = 2000
	n, err := tx.Exec(`DELETE FROM phone_answer WHERE (account_id, sid, digit) IN (
		SELECT account_id, sid, digit FROM phone_answer WHERE answered_at < $1 LIMIT $2 + 0)`, before.UnixMilli(), batch)
	return n == batch, err
}
