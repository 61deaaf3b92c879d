// Package nodes runs several real servers on one PostgreSQL database under load, and checks in the database and at the
// receivers that nothing was lost. Its tests kill, freeze and cut off nodes; test/nodes/cluster shows the same with a
// standby that takes over. It must never look into a server: the harness sees what users, receivers and the database see.
package nodes

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"tocsin/internal/platform/db"
)

// Cluster is some nodes on one database, with the receivers of what they send.
type Cluster struct {
	Dir       string // of the binary, the account file and the key of the secrets
	DSN       string // of the database, as the harness reads it
	Receivers *Receivers
	Nodes     []*Node

	binary string
	db     *db.DB
}

// Build builds the binary into a directory. TOCSIN_NODES_BINARY names one that is used instead.
func Build(dir string) (binary string, err error) {
	if given := os.Getenv("TOCSIN_NODES_BINARY"); given != "" {
		return given, nil
	}
	binary = filepath.Join(dir, "tocsin")
	build := exec.Command("go", "build", "-o", binary, "tocsin/cmd/tocsin") // the build shares the packages that the tests have compiled
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build: %w\n%s", err, out)
	}
	return binary, nil
}

// New loads the account into an empty database. No node runs yet.
func New(binary, dir, dsn string) (c *Cluster, err error) {
	c = &Cluster{Dir: dir, DSN: dsn, binary: binary}
	c.Receivers, err = newReceivers()
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "account.json")
	if err := os.WriteFile(file, accountFile(c.Receivers.URL), 0o600); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	load := exec.Command(binary, "import", file, "--db", dsn, "--seal-key-file", c.keyFile())
	if out, err := load.CombinedOutput(); err != nil {
		return nil, errors.Join(fmt.Errorf("import: %w: %s", err, out), c.Close())
	}
	c.db, err = db.Connect(context.Background(), dsn)
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func (c *Cluster) keyFile() string { return filepath.Join(c.Dir, "seal.key") }

// Start starts another node, whose connections to the database go to dsn.
func (c *Cluster) Start(dsn string) (*Node, error) {
	n := NewNode(fmt.Sprint("node", len(c.Nodes)+1), c.binary,
		"serve", "--db", dsn, "--seal-key-file", c.keyFile(), "--log-level", "warn", "--log-format", "json",
		"--limit-per-second", "0", "--limit-per-minute", "0", "--push-per-second", "0", "--push-per-minute", "0",
		"--calls-per-minute", "100", "--gateway", c.Receivers.URL+"/gateway", "--outbound-allow", "127.0.0.1/32",
	)
	if err := n.Start(); err != nil {
		return nil, err
	}
	c.Nodes = append(c.Nodes, n)
	return n, nil
}

// URLs returns the addresses of the nodes.
func (c *Cluster) URLs() (all []string) {
	for _, n := range c.Nodes {
		all = append(all, n.URL)
	}
	return all
}

// Wait waits until nothing is due any more: every event is decided, every notification and every message of a webhook
// has come to its end. It fails when less is due at no time within the limit: how much there is depends on how fast the
// machine took events.
func (c *Cluster) Wait(limit time.Duration) error {
	var left int64
	var err error
	fewest := int64(math.MaxInt64)
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(time.Second / 2) {
		left, err = c.count(outstanding)
		if err == nil && left == 0 {
			return nil
		}
		if err == nil && left < fewest {
			fewest, end = left, time.Now().Add(limit)
		}
		if failed := c.retryNow(); err == nil { // the next one may succeed: the machine may be busy
			err = failed
		}
	}
	return errors.Join(err, fmt.Errorf("%d rows were not done, and none in the last %s", left, limit))
}

const undecided = ` FROM event e WHERE NOT EXISTS (SELECT 1 FROM verdict v WHERE v.account_id = e.account_id AND v.event_id = e.event_id)`

const outstanding = `SELECT (SELECT count(*)` + undecided + `) + (SELECT count(*) FROM webhook_event)
	+ (SELECT count(*) FROM notice WHERE settled_at = 0) + (SELECT count(*) FROM webhook_message WHERE settled_at = 0)`

// retryNow makes due what was refused and waits to be tried again, as time does.
func (c *Cluster) retryNow() error {
	now := time.Now().UnixMilli()
	return c.db.WriteOf(context.Background(), account, func(tx *db.Tx) error {
		_, err := tx.Exec(`UPDATE notice SET due_at = $1 WHERE status = 'waiting' AND settled_at = 0 AND attempts > 0 AND due_at > $1`, now)
		if err != nil {
			return err
		}
		_, err = tx.Exec(`UPDATE webhook_message SET due_at = $1 WHERE status = 'waiting' AND settled_at = 0
			AND attempts > 0 AND due_at > $1`, now)
		return err
	})
}

// ExpireLeases ends the leases of attempts that began at least so long ago: what the time does in two minutes. Attempts
// of nodes that run take far less, so these are of nodes that were killed, frozen or cut off.
func (c *Cluster) ExpireLeases(age time.Duration) error {
	const ofNotices, ofMessages = 2 * time.Minute, 30 * time.Second
	now := time.Now()
	return c.db.WriteOf(context.Background(), account, func(tx *db.Tx) error {
		_, err := tx.Exec(`UPDATE notice SET due_at = $1 WHERE status = 'sending' AND settled_at = 0 AND due_at < $2`,
			now.UnixMilli(), now.Add(ofNotices-age).UnixMilli())
		if err != nil {
			return err
		}
		_, err = tx.Exec(`UPDATE webhook_message SET due_at = $1 WHERE status = 'sending' AND settled_at = 0 AND due_at < $2`,
			now.UnixMilli(), now.Add(ofMessages-age).UnixMilli())
		return err
	})
}

// Finish stops the load, waits until all is done and checks it.
func (c *Cluster) Finish(l *Load) (Report, error) {
	const quiet = 2 * time.Second // attempts of nodes that run have ended by then
	l.Stop()
	l.Finish()
	time.Sleep(quiet)
	if err := c.ExpireLeases(quiet); err != nil {
		return Report{}, err
	}
	waited := c.Wait(2 * time.Minute)
	r, err := c.Check(l)
	if waited != nil {
		r.Problems = append([]string{waited.Error()}, r.Problems...)
	}
	return r, err
}

// Reconnect opens the database of the harness again, after another server took over.
func (c *Cluster) Reconnect() (err error) {
	_ = c.db.Close() // its server is gone
	c.db, err = db.Connect(context.Background(), c.DSN)
	return err
}

// Close kills the nodes that still run.
func (c *Cluster) Close() (err error) {
	for _, n := range c.Nodes {
		n.Kill()
	}
	c.Receivers.Close()
	if c.db != nil {
		err = c.db.Close()
	}
	return err
}

func (c *Cluster) count(query string, args ...any) (n int64, err error) {
	err = c.db.Read(context.Background(), func(tx *db.Tx) (err error) {
		n, _, err = db.One(tx, db.Column[int64], query, args...)
		return err
	})
	return n, err
}
