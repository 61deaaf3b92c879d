package story

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"tocsin/internal/app"
	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/copydb"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/db/dbtest"
)

// beside starts a program on another database, which has another account and the same keys of secrets.
func (w *world) beside(dsn string) *world {
	w.t.Helper()
	o := &world{t: w.t, clock: clock.At(start), dir: w.t.TempDir(), dsn: dsn, drift: 10 * time.Second}
	o.change = func(c *app.Config) { c.SealKeyFile = filepath.Join(w.dir, "tocsin.db.key") }
	o.acceptAll()
	o.receivers()
	o.open()
	o.must(o.app.DB.Write(context.Background(), func(tx *db.Tx) error {
		_, err := tx.Exec(`INSERT INTO account (account_id, account_name, time_zone, owner_id, created_at) VALUES (1, 'Other', 'UTC', 1, 1)`)
		return err
	}))
	w.t.Cleanup(func() { o.http.Close(); o.app.Close() })
	return o
}

// move moves the world's account to another.
func (w *world) move(to *world, change func(*copydb.Move)) error {
	m := copydb.Move{
		From: w.dsn, To: to.dsn, Account: account, Archive: filepath.Join(w.dir, "archive.db"), Address: "https://new.example.com",
		Now: start, Step: func(string) {},
	}
	change(&m)
	_, err := m.Run(context.Background())
	return err
}

// rows counts the rows of the world's account in a table.
func (w *world) rows(table string) (n int64) {
	w.t.Helper()
	w.must(w.app.DB.Read(context.Background(), func(tx *db.Tx) (err error) {
		n, _, err = db.One(tx, db.Column[int64], "SELECT count(*) FROM "+table+" WHERE account_id = $1", account)
		return err
	}))
	return n
}

// sender sends events, each until a server takes it, and turns to the other server when one does not.
type sender struct {
	at   [2]string
	mu   sync.Mutex
	took map[string]int // accepted events, and which server took each
}

// send sends an event and returns when it is accepted.
func (s *sender) send(n int) {
	body, _ := json.Marshal(map[string]any{"title_rule": fmt.Sprintf("Trouble %d", n), "event_status": "Critical", "alert_key": fmt.Sprint("key", n)})
	for try := 0; ; try++ {
		answer, err := http.Post(s.at[try%2]+"/event/push/alert/standard?integration_key="+shopKey, "application/json", strings.NewReader(string(body)))
		if err != nil {
			continue
		}
		var reply struct {
			Data struct {
				Events []struct {
					EventID string `json:"event_id"`
				}
			}
		}
		err = json.NewDecoder(answer.Body).Decode(&reply)
		answer.Body.Close()
		if answer.StatusCode == http.StatusOK && err == nil && len(reply.Data.Events) == 1 {
			s.mu.Lock()
			s.took[reply.Data.Events[0].EventID] = try % 2
			s.mu.Unlock()
			return
		}
		time.Sleep(time.Millisecond) // as senders do, only sooner
	}
}

// An account moves to another server while events arrive: each event that was accepted is in the target alone, is decided
// once, and its notifications are sent by one of the two servers.
func TestMoveAccountWhileEventsArrive(t *testing.T) {
	t.Parallel()
	from := begin(t)
	to := from.beside(dbtest.Migrated(t))
	s := &sender{at: [2]string{from.http.URL, to.http.URL}, took: map[string]int{}}
	const senders, before, after = 4, 10, 10 // events of each sender before and after the move
	var begun, sending, settling sync.WaitGroup
	begun.Add(senders)
	moved, stop := make(chan struct{}), make(chan struct{})
	for i := range senders {
		sending.Go(func() {
			rest := after
			for n := 0; rest > 0; n++ {
				s.send(senders*n + i)
				time.Sleep(10 * time.Millisecond) // a sender has a rate; it goes on while the account moves
				if n == before {
					begun.Done()
				}
				select {
				case <-moved:
					rest--
				default:
				}
			}
		})
	}
	for _, w := range []*world{from, to} {
		settling.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					_ = w.trySettle() // a job whose rows move meanwhile may fail, and is run again
				}
			}
		})
	}
	begun.Wait()
	if err := from.move(to, func(*copydb.Move) {}); err != nil {
		t.Fatal(err)
	}
	close(moved)
	sending.Wait()
	close(stop)
	settling.Wait()
	to.pass(time.Minute)
	from.must(from.trySettle())
	byServer := [2]int{}
	for id, server := range s.took {
		byServer[server]++
		for w, want := range map[*world]int64{from: 0, to: 1} {
			w.must(w.app.DB.Read(context.Background(), func(tx *db.Tx) error {
				stored, _, err := db.One(tx, db.Column[int64], `SELECT count(*) FROM event WHERE event_id = $1 AND event_id NOT IN (SELECT event_id FROM event_waiting)`, id)
				if err != nil || stored != want {
					t.Errorf("event %s, taken by server %d: %d times, want %d (%v)", id, server, stored, want, err)
				}
				decided, _, err := db.One(tx, db.Column[int64], `SELECT count(*) FROM verdict WHERE event_id = $1`, id)
				if err != nil || decided != want {
					t.Errorf("event %s, taken by server %d: %d verdicts, want %d (%v)", id, server, decided, want, err)
				}
				return err
			}))
		}
	}
	if byServer[0] < senders*before || byServer[1] < senders*(after-1) {
		t.Errorf("events by server: %v", byServer)
	}
	if n := from.rows("incident") + from.rows("account"); n != 0 {
		t.Errorf("the source still has %d rows", n)
	}
	pages := map[string]int{}
	for _, p := range append(from.reached(), to.reached()...) {
		pages[p.key]++
	}
	for key, n := range pages {
		if key != "" && n > 1 {
			t.Errorf("notification %s was sent %d times", key, n)
		}
	}
	if len(pages) == 0 {
		t.Error("no notification")
	}
}

// After the move, the old server answers senders and callers with the new address, in a way that has them try again.
func TestMovedAccountIsNamed(t *testing.T) {
	t.Parallel()
	from := begin(t)
	to := from.beside(dbtest.Migrated(t))
	from.push("one", "Critical")
	edgeKey := from.do("/monit/edge/key/create", `{"key_name": "k", "cluster_name": "fra"}`).get("key")
	from.must(from.move(to, func(*copydb.Move) {}))
	for _, path := range []string{"/event/push/alert/standard?integration_key=" + shopKey, "/channel/list?app_key=" + ownKey, "/edge/v1/sync"} {
		from.clock.Add(time.Second) // the age of cached keys
		q, err := http.NewRequest(http.MethodPost, from.http.URL+path, strings.NewReader(`{"title_rule": "x", "event_status": "Info"}`))
		from.must(err)
		q.Header.Set("Content-Type", "application/json")
		if path == "/edge/v1/sync" {
			q.Header.Set("Authorization", "Bearer "+edgeKey)
		}
		answer, err := http.DefaultClient.Do(q)
		from.must(err)
		var text strings.Builder
		_ = answer.Write(&text)
		if answer.StatusCode != http.StatusServiceUnavailable ||
			!strings.Contains(text.String(), "moved to https://new.example.com") {
			t.Errorf("%s: %s", path, text.String())
		}
	}
	to.push("two", "Critical")
	if n := to.rows("event"); n != 2 {
		t.Errorf("%d events", n)
	}
	if err := from.move(to, func(*copydb.Move) {}); err != nil {
		t.Errorf("once more: %v", err)
	}
	// And back again, which makes it known here.
	to.must(to.move(from, func(m *copydb.Move) { m.Archive = filepath.Join(to.dir, "back.db") }))
	from.clock.Add(time.Second)
	from.push("three", "Critical")
	if n := from.rows("event"); n != 3 || to.rows("account") != 0 {
		t.Errorf("%d events", n)
	}
}

// A move that is interrupted at any step is continued by running it again, or taken back.
func TestMoveAccountInterrupted(t *testing.T) {
	t.Parallel()
	for step := range 3 {
		for _, back := range []bool{false, true}[:1+step/2] {
			from := begin(t)
			to := from.beside(dbtest.Migrated(t))
			id := from.push("one", "Critical")
			interrupted, stop := context.WithCancel(context.Background())
			at := 0
			m := copydb.Move{From: from.dsn, To: to.dsn, Account: account, Archive: filepath.Join(from.dir, "archive.db"), Now: start, Step: func(string) {
				if at++; at > step {
					stop()
				}
			}}
			if _, err := m.Run(interrupted); err == nil {
				t.Fatalf("step %d: not interrupted", step)
			}
			stop()
			left := from.rows("account") == 0
			if left != (step == 2) || to.rows("account") != 0 {
				t.Fatalf("step %d: left the source %v, in the target %d", step, left, to.rows("account"))
			}
			m.Step, m.Back = func(string) {}, back && left
			_, err := m.Run(context.Background())
			from.must(err)
			has, lacks := to, from
			if m.Back {
				has, lacks = from, to
			}
			if has.rows("event") != 1 || lacks.rows("event") != 0 || lacks.rows("account") != 0 {
				t.Errorf("step %d, back %v: %d events, and %d", step, m.Back, has.rows("event"), lacks.rows("event"))
			}
			has.clock.Add(time.Second)
			has.settle()
			if has.rows("verdict") != 1 {
				t.Errorf("step %d: event %s has %d verdicts", step, id, has.rows("verdict"))
			}
		}
	}
}

func TestMoveAccountRefused(t *testing.T) {
	t.Parallel()
	from := begin(t)
	to := from.beside(dbtest.Migrated(t))
	refused := func(want string, change func(*copydb.Move)) {
		t.Helper()
		if err := from.move(to, change); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		if from.rows("account") != 1 {
			t.Fatal("the account has left")
		}
	}
	refused("has no account 5", func(m *copydb.Move) { m.Account = 5 })
	refused("still in", func(m *copydb.Move) { m.Back = true })
	refused("the same database", func(m *copydb.Move) { m.To = m.From })
	exec := func(w *world, query string, args ...any) {
		w.must(w.app.DB.Write(context.Background(), func(tx *db.Tx) error {
			_, err := tx.Exec(query, args...)
			return err
		}))
	}
	exec(from, `INSERT INTO seal_key (key_id, lost) VALUES ('strange', FALSE)`)
	refused("under the key strange", func(*copydb.Move) {})
	exec(from, `DELETE FROM seal_key WHERE key_id = 'strange'`)
	exec(to, `INSERT INTO integration_key (key_hash, account_id, integration_id, expires_at)
		SELECT $1, 1, '1', 0`, fmt.Sprintf("%x", sha256.Sum256([]byte(shopKey))))
	refused("nothing was moved", func(*copydb.Move) {})
	exec(to, `INSERT INTO account (account_id, account_name, time_zone, owner_id, created_at) VALUES ($1, 'Same', 'UTC', 1, 1)`, account)
	refused("both databases have", func(*copydb.Move) {})
}
