package nodes

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestRollingUpgrade replaces three nodes of an earlier build one after the other by today's, under load. The first
// brings the schema up to date while two old ones go on. Then one goes back to the earlier build, and forward again.
func TestRollingUpgrade(t *testing.T) {
	all, err := readEarlier()
	must(t, err)
	for _, old := range all {
		t.Run(old.Commit, func(t *testing.T) {
			dsn, dir := database(t), t.TempDir()
			if err := old.Build(dir); errors.Is(err, ErrNoHistory) {
				t.Skip(err)
			} else if err != nil {
				t.Fatal(err)
			}
			today, err := newestMigration("../../internal/platform/db/migrations")
			must(t, err)
			c, err := New(old.Binary, dir, dsn)
			must(t, err)
			t.Cleanup(func() { c.Close() })
			for range 3 {
				_, err := c.Start(dsn)
				must(t, err)
			}
			l := StartLoad(c.URLs, 4, 80*time.Millisecond)
			replace := func(n *Node, binary string) error {
				time.Sleep(time.Second)
				must(t, n.Stop())
				n.binary = binary
				return n.Start()
			}
			must(t, replace(c.Nodes[0], binary)) // it migrates
			migrated, err := c.count(`SELECT max(version_id) FROM goose_db_version`)
			must(t, err)
			floor, err := c.count(`SELECT version FROM schema_floor`)
			must(t, err)
			if migrated != today || old.Schema > today {
				t.Errorf("today's build made schema %d of %d, want %d", migrated, old.Schema, today)
			}
			t.Logf("schema %d beside %d, whose floor is %d: %s", old.Schema, today, floor, old.Why)
			must(t, replace(c.Nodes[1], binary)) // the third is still of the earlier build
			if floor > old.Schema {
				err := replace(c.Nodes[2], old.Binary)
				wantTooOld(t, err)
				must(t, replace(c.Nodes[2], binary))
				end(t, c, l, 0, "newer version", "too old")
				return
			}
			must(t, replace(c.Nodes[1], old.Binary)) // back
			must(t, replace(c.Nodes[2], binary))
			must(t, replace(c.Nodes[1], binary))
			time.Sleep(time.Second)
			end(t, c, l, 0)
		})
	}
}

// wantTooOld wants the error of a node that refused to start on a schema that it is too old for.
func wantTooOld(t *testing.T, err error) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), "was written by a newer version of this program") {
		t.Errorf("a node that is too old starts with %v", err)
	}
}

// expanding is what the next release may do to the tables that change with each event while this one runs on: migrations
// that lock one of them each, so that none can wait for a node that waits for it.
var expanding = []string{
	`ALTER TABLE event ADD COLUMN release_note TEXT NOT NULL DEFAULT ''`,
	`ALTER TABLE alert ADD COLUMN release_note TEXT NOT NULL DEFAULT '', ADD COLUMN noted_at BIGINT`,
	`ALTER TABLE incident ADD COLUMN release_note TEXT NOT NULL DEFAULT ''`,
	`ALTER TABLE verdict ADD COLUMN release_note TEXT NOT NULL DEFAULT ''`,
	`ALTER TABLE notice ADD COLUMN release_note BIGINT NOT NULL DEFAULT 0`,
	`ALTER TABLE webhook_message ADD COLUMN release_note BIGINT NOT NULL DEFAULT 0`,
	`ALTER TABLE channel ADD COLUMN release_note TEXT NOT NULL DEFAULT ''`,
	`CREATE INDEX alert_noted ON alert (account_id, noted_at, alert_id)`,
	`CREATE INDEX notice_noted ON notice (account_id) WHERE release_note > 0`,
	`CREATE TABLE release_note (account_id BIGINT NOT NULL REFERENCES account ON DELETE CASCADE, name TEXT NOT NULL,
		PRIMARY KEY (account_id, name))`,
}

// migrate runs a migration as a program does: it waits for 0.4 seconds at most, and tries again.
func migrate(t *testing.T, dsn string, version int, text string) {
	t.Helper()
	name := dsn[strings.LastIndexByte(dsn, '/')+1:]
	text = fmt.Sprintf("SET lock_timeout = '400ms'; BEGIN; %s; INSERT INTO goose_db_version (version_id, is_applied) VALUES (%d, TRUE); COMMIT",
		text, version)
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(time.Second) {
		err := server.SQL(name, text)
		if err == nil {
			return
		}
		t.Log(err)
		if time.Now().After(end) {
			t.Fatal("it did not get its locks")
		}
	}
}

// TestNextReleaseAdds: the next release migrates while three nodes run, and a node of today's build starts after that.
// The nodes notice nothing.
func TestNextReleaseAdds(t *testing.T) {
	c, _ := begin(t)
	l := StartLoad(c.URLs, 4, 80*time.Millisecond)
	time.Sleep(time.Second)
	for i, text := range expanding {
		migrate(t, c.DSN, 9001+i, text)
	}
	time.Sleep(time.Second)
	must(t, c.Nodes[0].Stop())
	must(t, c.Nodes[0].Start())
	time.Sleep(time.Second)
	end(t, c, l, 0)
}

// TestNextReleaseRemoves: the next release raises the floor while three nodes run. From then on they store nothing, answer
// with the reason, and none starts. When the schema is back they go on, and nothing is lost.
func TestNextReleaseRemoves(t *testing.T) {
	c, _ := begin(t)
	l := StartLoad(c.URLs, 4, 80*time.Millisecond)
	time.Sleep(2 * time.Second)
	floor, err := c.count(`SELECT version FROM schema_floor`)
	must(t, err)
	migrate(t, c.DSN, 9001, `SELECT shard FROM writer ORDER BY shard FOR UPDATE; UPDATE schema_floor SET version = 9001`)
	decided := func() [2]int64 {
		events, err := c.count(`SELECT count(*) FROM event`)
		must(t, err)
		verdicts, err := c.count(`SELECT count(*) FROM verdict`)
		must(t, err)
		return [2]int64{events, verdicts}
	}
	at := decided()
	time.Sleep(1500 * time.Millisecond) // appends ask every second
	after := decided()
	if after[1] != at[1] {
		t.Errorf("%d events were decided below the floor", after[1]-at[1])
	}
	time.Sleep(2 * time.Second)
	if now := decided(); now != after {
		t.Errorf("events and verdicts below the floor: %v, then %v", after, now)
	}
	for _, n := range c.Nodes {
		for path, want := range map[string]string{"/health": "too new for this program", "/health/ready": "was written by a newer version"} {
			reply, err := http.Get(n.URL + path)
			must(t, err)
			text, err := io.ReadAll(reply.Body)
			must(t, errors.Join(err, reply.Body.Close()))
			if reply.StatusCode != http.StatusServiceUnavailable || !strings.Contains(string(text), want) {
				t.Errorf("%s%s answers %d %s", n.Name, path, reply.StatusCode, text)
			}
		}
	}
	c.Nodes[0].Kill()
	wantTooOld(t, c.Nodes[0].Start())
	migrate(t, c.DSN, 9002, fmt.Sprintf(`UPDATE schema_floor SET version = %d`, floor))
	must(t, c.Nodes[0].Start())
	time.Sleep(time.Second)
	end(t, c, l, 1, "newer version")
}
