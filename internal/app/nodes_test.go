package app_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"tocsin/internal/app"
	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/db/dbtest"
	"tocsin/internal/platform/secret"
)

// several skips a test about several nodes of one database on the embedded engine, which has one.
func several(t *testing.T) {
	t.Helper()
	if dbtest.Server == "" {
		t.Skip("only for PostgreSQL: several nodes serve one database")
	}
}

// shifted is a machine's clock that is off.
type shifted struct{ by time.Duration }

func (s shifted) Now() time.Time { return clock.System.Now().Add(s.by) }

// nodeConfig is the configuration of a node of a database.
func nodeConfig(dsn, keys string) app.Config {
	return app.Config{
		DB: dsn, SealKey: keys, Clock: clock.Correct(clock.System), Log: slog.New(slog.DiscardHandler), Version: "test", Listen: "127.0.0.1:0",
		LimitPerSecond: 50, LimitPerMinute: 1000,
	}
}

func newNode(t *testing.T, c app.Config) *app.App {
	t.Helper()
	a, err := app.New(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// serveNode starts a node that stops with the test.
func serveNode(t *testing.T, c app.Config) (*app.App, *app.Server) {
	t.Helper()
	a := newNode(t, c)
	s, err := a.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Stop() }) // some tests have stopped it
	return a, s
}

// until waits for what other nodes do: most of it takes less than a second, and a dead node is given up after 20 seconds. A
// busy machine takes longer.
func until(t *testing.T, what string, reached func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !reached(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within a minute: %s", what)
		}
	}
}

// TestNodesSeeEachOther: each node knows the live ones, divides the rate limits by them, and takes over the share of one
// that stops or dies. One that stops leaves no row.
func TestNodesSeeEachOther(t *testing.T) {
	t.Parallel()
	several(t)
	dsn, key := dbtest.Migrated(t), secret.NewKey()
	a, sa := serveNode(t, nodeConfig(dsn, key))
	first, err := a.FirstStart(t.Context(), "UTC")
	if err != nil {
		t.Fatal(err)
	}
	b, sb := serveNode(t, nodeConfig(dsn, key))
	if err := a.Nodes.Beat(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(a.Nodes.Live()) != 2 || len(b.Nodes.Live()) != 2 {
		t.Fatalf("%+v\n%+v", a.Nodes.Live(), b.Nodes.Live())
	}
	if got := reply(b, first.Key, "/account/health/info", "{}"); strings.Count(got, `"clock_offset_ms"`) != 2 || strings.Count(got, `"answering":true`) != 1 {
		t.Error(got)
	}
	accepted := func(nodes ...*app.App) (n int) { // in one moment, of 50 per second
		for range 80 {
			for _, node := range nodes {
				if strings.HasPrefix(reply(node, first.Key, "/team/list", `{"limit":1}`), "200") {
					n++
				}
			}
		}
		return n
	}
	time.Sleep(time.Second) // the windows are empty
	began := time.Now()
	if n, most := accepted(a, b), 50*(1+int(time.Since(began)/time.Second)); n < 50 || n > most {
		t.Errorf("two nodes accepted %d calls in %s, want 50 to %d", n, time.Since(began), most)
	}
	if err := sb.Stop(); err != nil {
		t.Fatal(err)
	}
	until(t, "the stopped node is gone", func() bool { return len(a.Nodes.Live()) == 1 })
	err = a.DB.Write(t.Context(), func(tx *db.Tx) error { // a node that was killed six seconds before it counts as gone
		_, err := tx.Exec(`INSERT INTO node SELECT 'dead', name, 'elsewhere', version, seal_keys, clock_offset, started_at, seen_at - 9000 FROM node`)
		return err
	})
	if err == nil {
		err = a.Nodes.Beat(t.Context())
	}
	if err != nil || len(a.Nodes.Live()) != 2 {
		t.Fatal(err, a.Nodes.Live())
	}
	until(t, "the dead node is given up", func() bool { return len(a.Nodes.Live()) == 1 })
	time.Sleep(time.Second)
	if n := accepted(a); n < 50 {
		t.Errorf("alone it accepts %d calls, want 50", n)
	}
	_ = sa
}

// TestNodeTakesPlaceOfItsPredecessor: one that was killed and starts again on the same address counts once.
func TestNodeTakesPlaceOfItsPredecessor(t *testing.T) {
	t.Parallel()
	several(t)
	dsn, key := dbtest.Migrated(t), secret.NewKey()
	a := newNode(t, nodeConfig(dsn, key))
	defer a.Close()
	b := newNode(t, nodeConfig(dsn, key))
	defer b.Close()
	for _, node := range []*app.App{a, b} {
		node.Nodes.Listening("127.0.0.1:1234")
		if err := node.Nodes.Beat(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if live := b.Nodes.Live(); len(live) != 1 || live[0].ID != b.Nodes.ID() {
		t.Errorf("%+v", live)
	}
}

// TestNodesShareDatabasesTime: a node whose machine's clock is an hour off shows the time of the others, and its health shows that.
func TestNodesShareDatabasesTime(t *testing.T) {
	t.Parallel()
	several(t)
	dsn, key := dbtest.Migrated(t), secret.NewKey()
	right, _ := serveNode(t, nodeConfig(dsn, key))
	first, err := right.FirstStart(t.Context(), "UTC")
	if err != nil {
		t.Fatal(err)
	}
	for _, by := range []time.Duration{time.Hour, -time.Hour} {
		c := nodeConfig(dsn, key)
		c.Clock = clock.Correct(shifted{by})
		wrong, server := serveNode(t, c)
		if off := wrong.Clock.Now().Sub(right.Clock.Now()).Abs(); off > time.Second {
			t.Errorf("the clocks of two nodes are %s apart", off)
		}
		if got := reply(wrong, first.Key, "/account/health/info", "{}"); !strings.Contains(got, "seconds") || !strings.Contains(got, `"status":"ok"`) {
			t.Errorf("its health does not show it: %s", got)
		}
		until(t, "an alert of Tocsin's own", func() bool {
			open := int64(0)
			err := right.DB.Read(t.Context(), func(tx *db.Tx) (err error) {
				open, _, err = db.One(tx, db.Column[int64], `SELECT count(*) FROM own_alert WHERE alert_key LIKE 'clock/%'`)
				return err
			})
			return err == nil && open == 1
		})
		if err := server.Stop(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestTwoFirstStartsMakeOneAccount starts fresh nodes at once.
func TestTwoFirstStartsMakeOneAccount(t *testing.T) {
	t.Parallel()
	several(t)
	dsn, key := dbtest.New(t), secret.NewKey()
	made := make(chan *app.First)
	for range 3 {
		go func() {
			a, err := app.New(context.Background(), nodeConfig(dsn, key))
			if err != nil {
				t.Error(err)
				made <- nil
				return
			}
			first, err := a.FirstStart(context.Background(), "UTC")
			if err != nil {
				t.Error(err)
			}
			if err := a.Close(); err != nil {
				t.Error(err)
			}
			made <- first
		}()
	}
	n := 0
	for range 3 {
		if <-made != nil {
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d first accounts", n)
	}
}

// TestChangeHoldsOnEveryNode ends rights and changes configuration on one node: the others follow within a second.
func TestChangeHoldsOnEveryNode(t *testing.T) {
	t.Parallel()
	one, _, owner, _ := start(t)
	two := newNode(t, one.Config)
	defer two.Close()
	ids := func(reply, name string) string {
		_, after, _ := strings.Cut(reply, `"`+name+`":`)
		return strings.Trim(strings.FieldsFunc(after, func(r rune) bool { return r == ',' || r == '}' })[0], `"`)
	}
	do := func(path, body string) string {
		t.Helper()
		got := reply(one, owner, path, body)
		if !strings.HasPrefix(got, "200") {
			t.Fatal(path, body, got)
		}
		return got
	}
	created := do("/person/app-key/create", `{"key_name":"theirs","person_id":77}`)
	key, keyID := ids(created, "key"), ids(created, "key_id")
	role := ids(do("/role/upsert", `{"role_name":"Scheduler","permission_ids":[8]}`), "role_id")
	answers := func(want string, path, body string) {
		t.Helper()
		until(t, path+" answers "+want, func() bool { return strings.HasPrefix(reply(two, key, path, body), want) })
	}
	answers("403", "/schedule/create", `{"schedule_name":"Night"}`)
	do("/role/member/grant", `{"role_id":`+role+`,"member_ids":[77]}`)
	answers("200", "/schedule/create", `{"schedule_name":"Night"}`)
	do("/role/member/revoke", `{"role_id":`+role+`,"member_ids":[77]}`)
	answers("403", "/schedule/create", `{"schedule_name":"Night"}`)
	do("/person/app-key/disable", `{"key_id":`+keyID+`,"person_id":77}`)
	answers("401", "/schedule/create", `{"schedule_name":"Night"}`)

	team := ids(do("/team/upsert", `{"team_name":"Web"}`), "team_id")
	channel := ids(do("/channel/create", `{"channel_name":"Shop","team_id":`+team+`}`), "channel_id")
	key = owner
	answers("200", "/channel/info", `{"channel_id":`+channel+`}`)
	do("/channel/disable", `{"channel_id":`+channel+`}`)
	do("/channel/delete", `{"channel_id":`+channel+`}`)
	until(t, "the channel is gone", func() bool {
		return !strings.HasPrefix(reply(two, owner, "/channel/info", `{"channel_id":`+channel+`}`), "200")
	})
}
