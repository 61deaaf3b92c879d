package notify_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"tocsin/internal/api/apitest"
	"tocsin/internal/engine/notify"
	"tocsin/internal/platform/db"
)

// The statement that steps along the index finds the same queues as one that reads every row.
func TestQueues(t *testing.T) {
	t.Parallel()
	r, random := newFixture(t), rand.New(rand.NewPCG(1, 2))
	r.put(apitest.AccountA, "first", "email", notify.Address{To: "first"})
	accounts := []int64{apitest.AccountA, apitest.AccountB}
	const rows, naive = 60, `SELECT lane, account_id, min(due_at) FROM notice WHERE settled_at = 0 GROUP BY lane, account_id ORDER BY 3, 1, 2`
	for round := range 30 {
		r.write(func(tx *db.Tx) error {
			err := tx.Do(`DELETE FROM notice WHERE notice_key <> 'first'`)
			for n := range random.IntN(rows) {
				if err != nil {
					return err
				}
				settled := max(0, random.Int64N(6)-4)
				err = tx.Do(`INSERT INTO notice (account_id, notice_id, notice_key, incident_id, schedule_id, event, cause, person_id, way, lane, target,
						reason, detail, status, attempts, due_at, created_at, settled_at, outcome, urgency)
					SELECT $1, $2, $3, incident_id, schedule_id, event, cause, person_id, way, $4, target, reason, detail, status, attempts, $5, created_at,
						$6, outcome, $7 FROM notice WHERE notice_key = 'first'`,
					accounts[random.IntN(2)], fmt.Sprintf("%024d", n), fmt.Sprint(n), fmt.Sprint("host", random.IntN(3)), start.UnixMilli()+random.Int64N(1e6),
					settled, random.IntN(6))
			}
			return err
		})
		var got, want []notify.Found
		err := r.DB.Read(t.Context(), func(tx *db.Tx) (err error) {
			got, err = r.Found(tx)
			if err != nil {
				return err
			}
			want, err = db.All(tx, func(scan db.Scan) (f notify.Found, err error) {
				var due int64
				err = scan(&f.Lane, &f.Account, &due)
				f.Due = time.UnixMilli(due)
				return f, err
			}, naive)
			return err
		})
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("round %d: %v, %v\nwant %v", round, err, got, want)
		}
	}
}
