package schedule

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/jobs"
)

const coverColumns = `account_id, request_id, schedule_id, person_id, role_id, start_at, end_at, reason, asked, declined, status, taken_by,
	override_id, expire_at, create_at, update_at`

func scanCover(scan db.Scan) (q CoverRequest, err error) {
	var asked, declined string
	var status int64
	err = scan(&q.account, &q.RequestID, &q.ScheduleID, &q.PersonID, &q.RoleID, &q.Start, &q.End, &q.Reason, &asked, &declined, &status,
		&q.TakenBy, &q.OverrideID, &q.ExpireAt, &q.CreateAt, &q.UpdateAt)
	if err == nil {
		q.AskedIDs = idsOf(asked)
		q.Declined = idsOf(declined)
		q.Status = coverStatuses[max(0, min(status, int64(len(coverStatuses)-1)))]
	}
	return q, err
}

// idsOf returns the identifiers of a text of db.List.
func idsOf(list string) []int64 {
	ids := []int64{}
	for part := range strings.SplitSeq(strings.Trim(list, ","), ",") {
		if id, err := strconv.ParseInt(part, 10, 64); err == nil {
			ids = append(ids, id)
		}
	}
	return ids
}

// status returns the number of the request's status, and when it is due to expire; 0: it is not open.
func (q *CoverRequest) status() (status, due int64) {
	if q.Status == CoverOpen {
		due = q.ExpireAt
	}
	return int64(slices.Index(coverStatuses, q.Status)), due
}

// insert stores a new request; it returns false when the id is taken.
func (q *CoverRequest) insert(tx *db.Tx) (bool, error) {
	status, due := q.status()
	n, err := tx.Exec(`INSERT INTO cover_request (`+coverColumns+`, due_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17) ON CONFLICT DO NOTHING`,
		q.account, q.RequestID, q.ScheduleID, q.PersonID, q.RoleID, q.Start, q.End, q.Reason, db.List(q.AskedIDs), db.List(q.Declined), status,
		q.TakenBy, q.OverrideID, q.ExpireAt, q.CreateAt, q.UpdateAt, due)
	return n == 1, err
}

// PutCover stores a request for cover under its id, and notifies no one: a past that is made up.
func PutCover(tx *db.Tx, account int64, q CoverRequest) error {
	q.account = account
	if fresh, err := q.insert(tx); err != nil || fresh {
		return err
	}
	return fault.New(fault.Conflict, "the request %d for cover is stored already", q.RequestID)
}

// update stores the answers to a request.
func (q *CoverRequest) update(tx *db.Tx) error {
	status, due := q.status()
	return tx.Do(`UPDATE cover_request SET declined = $1, status = $2, taken_by = $3, override_id = $4, due_at = $5, update_at = $6
		WHERE account_id = $7 AND request_id = $8`,
		db.List(q.Declined), status, q.TakenBy, q.OverrideID, due, q.UpdateAt, q.account, q.RequestID)
}

// eraseCovers deletes the requests for cover of a schedule.
func eraseCovers(tx *db.Tx, account, schedule int64) error {
	return tx.Do(`DELETE FROM cover_request WHERE account_id = $1 AND schedule_id = $2`, account, schedule)
}

// keptCovers is how long requests for cover are kept after the end of their shift.
const keptCovers = 30 * 24 * time.Hour

// pruneCovers deletes the requests for cover of shifts that ended long ago, a batch at a time.
func pruneCovers(tx *db.Tx, account int64, now time.Time) (more bool, err error) {
	const batch = 500
	old, err := db.All(tx, scanCover, `SELECT `+coverColumns+` FROM cover_request
		WHERE account_id = $1 AND end_at < $2 ORDER BY end_at LIMIT $3 + 0`, account, now.Add(-keptCovers).Unix(), batch)
	for i := range old {
		if err == nil {
			err = tx.Do(`DELETE FROM cover_request WHERE account_id = $1 AND request_id = $2`, old[i].account, old[i].RequestID)
		}
	}
	return len(old) == batch, err
}

// Overdue returns how many requests for cover have expired and are still open.
func Overdue(tx *db.Tx, now time.Time) (jobs.Overdue, error) {
	return jobs.CountOverdue(tx, "end of requests for cover", time.Second,
		`SELECT count(*), coalesce(min(due_at), 0) FROM cover_request WHERE due_at > 0 AND due_at <= $1`, now.Unix())
}

// NextExpiry returns when the next request for cover expires, Unix seconds; 0: none is open.
func NextExpiry(tx *db.Tx) (int64, error) {
	next, _, err := db.One(tx, db.Column[int64], `SELECT coalesce(min(due_at), 0) FROM cover_request WHERE due_at > 0`)
	return next, err
}

// ExpiringCovers returns some of the accounts with requests for cover that no one accepted in time.
func ExpiringCovers(tx *db.Tx, now time.Time) (accounts []int64, err error) {
	accounts, err = db.All(tx, db.Column[int64], `SELECT account_id FROM cover_request WHERE due_at > 0 AND due_at <= $1
		ORDER BY due_at LIMIT $2 + 0`, now.Unix(), expiredOnce)
	slices.Sort(accounts)
	return slices.Compact(accounts), err
}

// expiredOnce is how many requests expire in one transaction at most.
const expiredOnce = 50

// ExpireCovers closes a batch of an account's requests for cover that no one accepted in time. An event notifies the person who asked,
// if that person is still on call in the time of the request.
func ExpireCovers(tx *db.Tx, account int64, now time.Time) (events []CoverEvent, err error) {
	due, err := db.All(tx, scanCover, `SELECT `+coverColumns+` FROM cover_request
		WHERE account_id = $1 AND due_at > 0 AND due_at <= $2 ORDER BY due_at LIMIT $3 + 0`,
		account, now.Unix(), expiredOnce)
	if err != nil {
		return nil, err
	}
	for i := range due {
		q := &due[i]
		q.Status, q.UpdateAt = CoverExpired, now.Unix()
		if err := q.update(tx); err != nil {
			return nil, err
		}
		if serves, err := q.serves(tx, now); serves || err != nil { // who cannot be computed is notified rather than not
			events = append(events, CoverEvent{Account: q.account, Request: *q, To: []int64{q.PersonID}})
		}
	}
	return events, nil
}

// serves reports whether the person who asked is still on call in the time of the request that is left.
func (q *CoverRequest) serves(tx *db.Tx, now time.Time) (bool, error) {
	zone, err := person.Zone(tx, q.account)
	if err != nil {
		return false, err
	}
	s, err := find(tx, q.account, q.ScheduleID)
	if err != nil || s == nil || s.Status != 0 {
		return false, err
	}
	if q.End <= now.Unix() {
		return false, nil
	}
	_, found, err := q.left(&api.Call{Tx: tx, Now: now, Who: auth.Principal{AccountID: q.account, Zone: zone}}, s)
	return found, err
}
