// Command cluster shows three nodes on a PostgreSQL server with a synchronous standby, behind a small proxy and under
// load, while a node is killed and then the server itself. It ends with a table of what became of each event, and with
// exit status 1 when anything was lost: make cluster.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"tocsin/test/nodes"
	"tocsin/test/pgserver"
)

var (
	span    = flag.Duration("time", time.Minute, "how long the load lasts")
	senders = flag.Int("senders", 12, "senders of events")
	pause   = flag.Duration("pause", 100*time.Millisecond, "how long each waits between two requests, about")
)

func main() {
	flag.Parse()
	good, err := run()
	if err != nil {
		fmt.Fprintln(os.Stderr, "cluster:", err)
	}
	if err != nil || !good {
		os.Exit(1)
	}
}

// servers are the primary and its synchronous standby.
type servers struct{ primary, standby *pgserver.Server }

func startServers() (s servers, err error) {
	s.primary, err = pgserver.Start(pgserver.Options{Durable: true})
	if err != nil {
		return s, err
	}
	s.standby, err = s.primary.Standby()
	if err != nil {
		return s, errors.Join(err, s.primary.Close())
	}
	for _, text := range []string{
		"ALTER SYSTEM SET synchronous_standby_names = 'standby'", "SELECT pg_reload_conf()", "CREATE DATABASE tocsin",
	} {
		if err := s.primary.SQL("postgres", text); err != nil {
			return s, errors.Join(err, s.close())
		}
	}
	return s, nil
}

func (s servers) close() error { return errors.Join(s.standby.Close(), s.primary.Close()) }

// dsn names both servers: connections go to the one that writes.
func (s servers) dsn() string {
	return fmt.Sprintf("postgres://postgres@127.0.0.1:%d,127.0.0.1:%d/tocsin?target_session_attrs=read-write",
		s.primary.Port, s.standby.Port)
}

// run reports whether nothing was lost.
func run() (good bool, err error) {
	dir, err := os.MkdirTemp("", "tocsin-cluster-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	binary, err := nodes.Build(dir)
	if err != nil {
		return false, err
	}
	s, err := startServers()
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	c, err := nodes.New(binary, dir, s.dsn())
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	for range 3 {
		if _, err := c.Start(s.dsn()); err != nil {
			return false, err
		}
	}
	proxy, err := nodes.NewBalancer(c.Nodes)
	if err != nil {
		return false, err
	}
	defer proxy.Close()
	fmt.Printf("three nodes behind %s, PostgreSQL with a synchronous standby, load for %s\n", proxy.URL, *span)
	l := nodes.StartLoad(func() []string { return []string{proxy.URL} }, *senders, *pause)
	failed, err := disturb(c, s)
	l.Stop()
	if err != nil {
		return false, err
	}
	if err := c.Reconnect(); err != nil {
		return false, err
	}
	r, err := c.Finish(l)
	if err != nil {
		return false, err
	}
	show(r, l, failed, proxy.Passed.Load())
	return r.Lost == 0 && len(r.Problems) == 0, nil
}

// failures are the moments of what was done on purpose.
type failures struct{ node, primary, promoted time.Time }

// disturb kills a node, starts it again, and kills the primary.
func disturb(c *nodes.Cluster, s servers) (f failures, err error) {
	time.Sleep(*span / 4)
	say("node 1 is killed")
	f.node = time.Now()
	c.Nodes[0].Kill()
	time.Sleep(*span / 8)
	say("node 1 starts again")
	if err := c.Nodes[0].Start(); err != nil {
		return f, err
	}
	time.Sleep(*span / 8)
	say("the primary is killed")
	f.primary = time.Now()
	if err := s.primary.Kill(); err != nil {
		return f, err
	}
	if err := s.standby.Promote(); err != nil {
		return f, err
	}
	f.promoted = time.Now()
	say("the standby is promoted")
	time.Sleep(*span / 2)
	return f, nil
}

func say(what string) { fmt.Println(time.Now().UTC().Format("15:04:05.0"), what) }

func show(r nodes.Report, l *nodes.Load, f failures, passed int64) {
	ms := func(d time.Duration) string { return d.Round(time.Millisecond).String() }
	fmt.Println()
	for _, row := range []struct {
		name  string
		value any
	}{
		{"events sent", r.Sent},
		{"  acknowledged", r.Acknowledged},
		{"  stored (also those whose acknowledgement was lost and that were sent again)", r.Stored},
		{"  decided", r.Decided},
		{"notifications sent", r.Notified},
		{"  taken twice by the receiver", r.TwiceNotified},
		{"webhook messages delivered", r.Delivered},
		{"  taken twice by the receiver", r.TwiceDelivered},
		{"requests refused and tried again", r.Retried},
		{"requests that the proxy passed to another node", passed},
		{"lost", r.Lost},
		{"longest time without an acknowledgement after the node was killed", ms(l.Gap(f.node, f.primary))},
		{"  after the primary was killed", ms(l.Gap(f.primary, time.Now()))},
		{"  of it until the standby was promoted", ms(f.promoted.Sub(f.primary))},
	} {
		fmt.Printf("%-80s %12v\n", row.name, row.value)
	}
	for _, problem := range r.Problems {
		fmt.Println("WRONG:", problem)
	}
}
