package notify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"time"

	"github.com/go-json-experiment/json"

	"tocsin/internal/db"
	"tocsin/internal/news"
	"tocsin/internal/sender"
)

const (
	maxFlying   = 64               // notices on their way at once, but for the first of each lane
	maxLane     = 8                // of them in one lane, so that one that hangs leaves room for others
	maxFirst    = 4 * maxFlying    // notices on their way at once, whatever their lanes
	patience    = 15 * time.Second // for one attempt
	lease       = 2 * time.Minute  // after which an attempt is taken for lost, with the process that made it
	maxAttempts = 10               // then it has failed for good
)

// pause is how long to wait after an attempt that failed: longer each time, up to ten minutes, and not the
// same for all.
func pause(attempts int64) time.Duration {
	wait := min(2*time.Second<<min(attempts, 10), 10*time.Minute)
	return wait*3/4 + rand.N(wait/2)
}

// flight is a notice on its way.
type flight struct {
	Notice
	message sender.Message
}

// send takes the notices that are due and sends them, each on a goroutine of its own.
func (r *Room) send(ctx context.Context, now time.Time) (again time.Time, err error) {
	var flights []flight
	var next int64
	full := false
	err = r.DB.Read(ctx, func(tx *db.Tx) (err error) {
		next, _, err = db.One(tx, db.Column[int64], `SELECT coalesce(min(due_at), 0) FROM notice WHERE settled_at = 0`)
		return err
	})
	switch {
	case err != nil || next == 0:
		return again, err
	case next > now.UnixMilli(): // those who write do not wait for nothing
		return time.UnixMilli(next), nil
	}
	err = r.DB.Write(ctx, func(tx *db.Tx) (err error) {
		flights, full, next, err = r.take(tx, now)
		return err
	})
	if err != nil {
		return again, err
	}
	for i := range flights {
		f := &flights[i]
		r.enter(f.Lane)
		r.flights.Go(func() { r.fly(f) })
	}
	if full { // what was left behind is taken when a lane is free, see leave
		return now.Add(time.Second), nil
	}
	if next > 0 {
		again = time.UnixMilli(next)
	}
	return again, nil
}

func (r *Room) enter(lane string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lanes[lane]++
	r.flying++
}

func (r *Room) leave(lane string) {
	r.mu.Lock()
	if r.lanes[lane]--; r.lanes[lane] == 0 {
		delete(r.lanes, lane)
	}
	r.flying--
	r.mu.Unlock()
	r.wake()
}

// take marks the notices that are due and have a lane to go as being sent, and makes their messages. full
// tells that some were left behind; next is when the next one is due (Unix milliseconds), 0: none is.
func (r *Room) take(tx *db.Tx, now time.Time) (flights []flight, full bool, next int64, err error) {
	type row struct {
		Notice
		target, detail string
	}
	flying, lanes, busy := r.traffic()
	due, err := db.All(tx, func(scan db.Scan) (w row, err error) {
		w.Notice, w.target, w.detail, err = scanStored(scan)
		return w, err
	}, `SELECT account_id, `+columns+` FROM notice WHERE settled_at = 0 AND due_at <= $1 AND replace($2, ',' || lane || ',', '') = $2 ORDER BY due_at LIMIT $3 + 0`, now.UnixMilli(), db.List(busy), reads)
	if err != nil {
		return nil, false, 0, err
	}
	for i := range due {
		n := &due[i].Notice
		if flying >= maxFirst || !hasRoom(flying, lanes[n.Lane]) {
			full = true
			continue
		}
		if n.Attempts >= maxAttempts { // the last one was lost, with the process that made it
			if err := r.settle(tx, n, Failed, fmt.Sprintf("nothing came of %d attempts", n.Attempts), now); err != nil {
				return nil, false, 0, err
			}
			continue
		}
		var m sender.Message
		var overtaken string
		failed, err := tx.Try(func() (err error) {
			if err = json.Unmarshal([]byte(due[i].detail), &n.Detail); err == nil {
				m, overtaken, err = r.message(tx, n, now)
			}
			return err
		})
		if err != nil {
			return nil, false, 0, err
		}
		if failed != nil {
			if err := r.unmade(tx, n, failed, now); err != nil {
				return nil, false, 0, err
			}
			continue
		}
		if overtaken == "" {
			if err := r.opened(n, due[i].target); err != nil {
				overtaken = Closed(err)
			}
		}
		if overtaken != "" {
			if err := r.settle(tx, n, Cancelled, overtaken, now); err != nil {
				return nil, false, 0, err
			}
			continue
		}
		n.Attempts++
		if _, err := tx.Exec(`UPDATE notice SET status = 'sending', attempts = $3, due_at = $4 WHERE account_id = $1 AND notice_id = $2`, n.Account, n.ID, n.Attempts, now.Add(lease).UnixMilli()); err != nil {
			return nil, false, 0, err
		}
		flights = append(flights, flight{*n, m})
		flying++
		lanes[n.Lane]++
	}
	next, _, err = db.One(tx, db.Column[int64], `SELECT coalesce(min(due_at), 0) FROM notice WHERE settled_at = 0 AND due_at > $1`, now.UnixMilli())
	return flights, full || len(busy) > 0 || len(due) == reads, next, err
}

// unmade counts an attempt for which the message could not be made: that holds up no other.
func (r *Room) unmade(tx *db.Tx, n *Notice, cause error, now time.Time) error {
	r.Log.Error("the message of a notice cannot be made", "notice_id", n.ID, "account_id", n.Account, "incident_id", n.Incident, "error", cause)
	const why = "its message cannot be made; the server's log says why"
	if n.Attempts++; n.Attempts >= maxAttempts {
		_, err := tx.Exec(`UPDATE notice SET attempts = $3 WHERE account_id = $1 AND notice_id = $2`, n.Account, n.ID, n.Attempts)
		return errors.Join(err, r.settle(tx, n, Failed, why, now))
	}
	_, err := tx.Exec(`UPDATE notice SET status = 'waiting', attempts = $3, due_at = $4, outcome = $5 WHERE account_id = $1 AND notice_id = $2`, n.Account, n.ID, n.Attempts, now.Add(pause(n.Attempts)).UnixMilli(), why)
	return err
}

// reads is how many due notices are looked at in one go.
const reads = 4 * maxFlying

// hasRoom tells whether another notice may go in a lane. One in which none is on its way has room for one even when
// those that hang have taken all: else they would hold up everybody.
func hasRoom(flying, inLane int) bool { return inLane == 0 || flying < maxFlying && inLane < maxLane }

// traffic is how many notices are on their way, altogether and in each lane, and which lanes have no room:
// what waits for those must not hide what waits for others.
func (r *Room) traffic() (flying int, lanes map[string]int, busy []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	lanes = map[string]int{}
	for lane, n := range r.lanes {
		if lanes[lane] = n; !hasRoom(r.flying, n) {
			busy = append(busy, lane)
		}
	}
	return r.flying, lanes, busy
}

// fly makes one attempt and notes down what came of it.
func (r *Room) fly(f *flight) {
	defer r.leave(f.Lane)
	receipt, err := r.attempt(f)
	now := r.Clock.Now()
	log := r.Log.With("notice_id", f.ID, "way", f.Way, "attempt", f.Attempts, "incident_id", f.Incident, "person_id", f.Person)
	stored := r.DB.Write(context.Background(), func(tx *db.Tx) error {
		if err == nil {
			return r.settle(tx, &f.Notice, Sent, cmp.Or(receipt.ID, receipt.Reply), now)
		}
		var failure *sender.Error
		if !errors.As(err, &failure) {
			failure = &sender.Error{Retry: true, Message: err.Error()}
		}
		if !failure.Retry || f.Attempts >= maxAttempts {
			return r.settle(tx, &f.Notice, Failed, failure.Message, now)
		}
		due := now.Add(max(pause(f.Attempts), failure.After))
		_, err := tx.Exec(`UPDATE notice SET status = 'waiting', due_at = $3, outcome = $4 WHERE account_id = $1 AND notice_id = $2 AND settled_at = 0`, f.Account, f.ID, due.UnixMilli(), failure.Message)
		return err
	})
	switch {
	case stored != nil: // the lease ends, and it is sent again with the same key
		log.Error("what came of a notice could not be stored", "error", stored)
	case err != nil:
		log.Warn("notice not taken", "error", err)
	default:
		r.waited.Observe(now.Sub(time.UnixMilli(f.Created)).Seconds())
		log.Info("notice taken")
	}
}

func (r *Room) attempt(f *flight) (receipt sender.Receipt, err error) {
	defer func() {
		if p := recover(); p != nil {
			r.Log.Error("a sender panicked", "way", f.Way, "panic", p, "stack", string(debug.Stack()))
			err = &sender.Error{Retry: true, Message: "the sender failed; the server's log says why"}
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	return r.Deliver(ctx, f.Way, f.Address, f.message)
}

// settle ends a notice and says so in the incident's feed.
func (r *Room) settle(tx *db.Tx, n *Notice, status, outcome string, now time.Time) error {
	changed, err := tx.Exec(`UPDATE notice SET status = $3, settled_at = $4, outcome = $5 WHERE account_id = $1 AND notice_id = $2 AND settled_at = 0`,
		n.Account, n.ID, status, now.UnixMilli(), outcome)
	if err != nil || changed == 0 {
		return err
	}
	r.settled.WithLabelValues(kindOf(n.Way), status).Inc()
	if n.Incident == "" || status == Cancelled {
		return nil
	}
	failed := ""
	if status == Failed {
		failed = outcome
	}
	e := news.Notified{RID: n.ID, By: n.Way, LayerIdx: int64(n.Detail.Layer), EscalateRuleID: n.Detail.Rule, EscalateRuleName: n.Detail.RuleName, FireType: "fire"}
	if n.Detail.Repeat > 0 {
		e.FireType = "refire"
	}
	if n.Person != 0 {
		e.Persons = []news.Fired{{PersonID: n.Person, FailedReason: failed}}
	} else {
		e.Robots = []news.Fired{{Alias: n.alias(), FailedReason: failed}}
	}
	return r.Bus.Tell(tx, news.Item{Account: n.Account, ID: n.Incident, At: now, Event: e})
}

// alias names the chat or address of a notice without telling its secrets.
func (n *Notice) alias() string {
	switch c := n.Address.Chat; {
	case c != nil && c.Alias != "":
		return n.Way + " " + c.Alias
	case n.Way == "email":
		return n.Address.To
	}
	return n.Lane
}
