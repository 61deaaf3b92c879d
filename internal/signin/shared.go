package signin

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/ratelimit"
)

// limit is how often something may be tried in a minute.
type limit struct {
	of   digest
	rate ratelimit.Rate
}

// shared counts attempts on all nodes that serve one database, in a table. Counting comes before trying, and in a commit of
// its own: the last of several attempts at the same moment finds all of them, so that no more pass than the limit. One that
// is refused is taken off again. The rows name what they count by a keyed hash.
//
// Counts of a minute are a window of the time of the database, which nodes follow.
type shared struct{ config *Config }

// maxLimits is how many limits one attempt has at most.
const maxLimits = 3

// allow reports whether an attempt is within its limits, and counts it. Where one process serves the database it always is: the
// counts of the process are all there are.
func (s *shared) allow(ctx context.Context, now time.Time, limits ...limit) (bool, error) {
	if s.config.DB == nil || !s.config.DB.Shared() {
		return true, nil
	}
	subjects, err := s.subjects(limits)
	if err != nil {
		return false, err
	}
	if err := s.count(ctx, subjects, 1, now); err != nil {
		return false, err
	}
	var counts map[string]int64
	err = s.config.DB.Read(ctx, func(tx *db.Tx) (err error) {
		counts, err = countsOf(tx, subjects, now.Add(-window))
		return err
	})
	if err != nil {
		return false, err
	}
	for i, l := range limits {
		if counts[subjects[i]] > int64(l.rate.PerMinute) {
			return false, s.count(ctx, subjects, -1, now)
		}
	}
	return true, nil
}

// window is the time in which attempts are counted.
const window = time.Minute

// subjects returns what the rows of some limits name.
func (s *shared) subjects(limits []limit) (all []string, err error) {
	key, err := s.config.Keyring.DeriveKey("sign-in/attempts")
	if err != nil {
		return nil, err
	}
	for _, l := range limits {
		h := hmac.New(sha256.New, key)
		h.Write(l.of[:])
		all = append(all, hex.EncodeToString(h.Sum(nil)))
	}
	return all, nil
}

// count adds rows in a transaction that no other waits for: a caller may hold one of its account.
func (s *shared) count(ctx context.Context, subjects []string, n int64, now time.Time) error {
	rows := db.Rows{Table: "sign_in_attempt", Columns: []string{"subject", "counted", "attempted_at"}}
	for _, subject := range subjects {
		rows.Values = append(rows.Values, []any{subject, n, now.UnixNano()})
	}
	return s.config.DB.Append(ctx, rows)
}

// countsOf returns how many attempts of each subject there were after a time.
func countsOf(tx *db.Tx, subjects []string, after time.Time) (map[string]int64, error) {
	var of [maxLimits]string // what is not set is no subject
	copy(of[:], subjects)
	counts := map[string]int64{}
	_, err := db.All(tx, func(scan db.Scan) (struct{}, error) {
		var subject string
		var n int64
		err := scan(&subject, &n)
		counts[subject] = n
		return struct{}{}, err
	}, `SELECT subject, CAST(sum(counted) AS BIGINT) FROM sign_in_attempt
		WHERE subject IN ($1, $2, $3) AND attempted_at > $4 GROUP BY subject`, of[0], of[1], of[2], after.UnixNano())
	return counts, err
}

// sweep deletes the rows that no window has any more, on any node.
func (s *shared) sweep(ctx context.Context, now time.Time) error {
	if !s.config.DB.Shared() {
		return nil
	}
	return s.config.DB.WriteOf(ctx, db.NoAccount, func(tx *db.Tx) error {
		return tx.Do(`DELETE FROM sign_in_attempt WHERE attempted_at <= $1`, now.Add(-2*window).UnixNano())
	})
}
