package notify_test

import (
	"fmt"
	"testing"
	"time"

	"tocsin/internal/api/apitest"
	"tocsin/internal/engine/notify"
	"tocsin/internal/platform/db"
)

// Thousands of notifications wait for two recipients of one account, and one of another account for the same mail server.
// No transaction changes more of them than share a message, the other account's is sent before they are, and every one is
// sent in a bundle in the end.
func TestLongQueueIsClaimedInParts(t *testing.T) {
	t.Parallel()
	const each, most = 5000, 1000
	r := newFixture(t)
	for _, to := range []string{"a", "b"} {
		r.put(apitest.AccountA, to, "email", notify.Address{To: to})
	}
	r.write(func(tx *db.Tx) error {
		if _, err := tx.Exec(`WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < $1)
			INSERT INTO notice (account_id, notice_id, notice_key, incident_id, schedule_id, event, cause, person_id, way, lane, target, reason, detail,
				status, attempts, due_at, created_at, settled_at, outcome, recipient, urgency, late)
			SELECT account_id, notice_id || substr(CAST(10000 + i AS TEXT), 2), notice_key || '/' || i, incident_id, 0, event, cause, person_id, way, lane, target, reason, detail,
				status, attempts, due_at, created_at, settled_at, outcome, recipient, urgency, late FROM notice, n`, each); err != nil {
			return err
		}
		for n := range 10 {
			if err := tx.Do(`INSERT INTO notice_send (account_id, recipient, sent_at, message)
				SELECT DISTINCT account_id, recipient, $1, $2 FROM notice`, r.clock.Now().UnixMilli(), fmt.Sprint(n)); err != nil {
				return err
			}
		}
		return nil
	})
	r.put(apitest.AccountB, "other", "email", notify.Address{To: "other"})
	const changed = `SELECT count(*) FROM notice WHERE late = 1 OR attempts > 0`
	before := int64(0)
	for before < 2*each+1 {
		r.settle()
		now := r.count(changed)
		if d := now - before; d == 0 || d > most+1 {
			t.Fatalf("a claim changed %d notifications", d)
		}
		before = now
		if now > 2*most && r.taken() != 1 {
			t.Fatalf("the other account's notification is not sent after %d", now)
		}
	}
	r.clock.Add(time.Minute)
	for n := 0; r.count(`SELECT count(*) FROM notice WHERE settled_at = 0`) > 0; n++ {
		r.settle()
		if n > 2*each/most+2 {
			t.Fatal("the notifications are not sent")
		}
	}
	if n := r.taken(); n > 1+2*each/most+1 {
		t.Errorf("%d messages", n)
	}
	if n := r.count(fmt.Sprintf(`SELECT count(*) FROM (SELECT 1 FROM notice WHERE bundle <> '' GROUP BY bundle HAVING count(*) > %d) AS x`, most)); n != 0 {
		t.Errorf("%d bundles are too large", n)
	}
}
