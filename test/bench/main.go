// Command bench measures Tocsin on this machine and prints a table: every operation of the public API
// beside a constant reply of the same size in the same run, because ratios survive a noisy machine where
// seconds do not; start-up, memory and size; and the way of an event to its page.
//
// It asserts nothing: docs/performance.md quotes its output beside the targets. The exception is -only gate, which fails when an
// event has become dearer.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"
)

var (
	span       = flag.Duration("span", 2*time.Second, "how long each load runs")
	rounds     = flag.Int("rounds", 3, "how often each pair is measured; medians are shown")
	deliveries = flag.Int("deliveries", 1_000_000, "webhook deliveries for the history pages")
	events     = flag.Int("events", 10_000, "events that are decided for the cost of one")
	only       = flag.String("only", "", "measure only this: operations, configuration, history, events, intake, deciding, crowd, webhook, hostile, storm, pages, databases, monitors, scale, soak, gate or model")
	accounts   = flag.String("accounts", "1,10,100,1000,10000", "of -only scale: the numbers of accounts, each larger than the one before")
	idleFor    = flag.Duration("idle", 6*time.Second, "of -only scale: how long an idle server is watched")
	profile    = flag.String("profile", "", "write processor profiles of -only deciding to files that begin with this path")
	paths      = flag.String("paths", "", "of the operations measure only those whose path and title match this expression")
	engineOnly = flag.String("on", "", "measure -only hostile or crowd on this engine alone: embedded or PostgreSQL")
	attackOnly = flag.String("attack", "", "measure only these attacks of -only hostile, joined by commas")
	against    = flag.String("against", "", "measure the operations of this binary too, or its start without alert rules, in turn with the built one")
	using      = flag.String("binary", "", "measure this binary instead of building one")
	perSecond  = flag.Int("rate", 200, "of -only soak and gate: events in a second")
	soakFor    = flag.Duration("soak", 15*time.Second, "of -only soak and gate: how long the steady load is measured")
	base       = flag.String("base", "HEAD~1", "of -only gate: the commit that the working tree is compared with")
	rowsOnly   = flag.String("rows", "", "of -only monitors measure only these parts, joined by commas: flat, schedule, member, peers, cron, begin, quiet, change, edges, pages or footprint")
	killRounds = flag.Int("kills", 3, "of -only monitors: how often an edge is killed and another joins")
	cutFor     = flag.Duration("cut", 40*time.Second, "of -only monitors: how long an edge is cut off, 40s at least")
	backlog    = flag.Int("backlog", 1_000_000, "webhook deliveries that wait at once")
)

// What the documented figures are about.
const (
	clients   = 32     // connections of the load
	channels  = 10_000 // with 20 rules each, for the lists of configuration
	endpoints = 50     // of webhooks
)

func main() {
	switch {
	case len(os.Args) > 1 && os.Args[1] == "constant":
		exit(constant())
	case len(os.Args) > 3 && os.Args[1] == "attack":
		exit(attack(os.Args[2], os.Args[3]))
	}
	flag.Parse()
	exit(run())
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func run() error {
	dir, err := os.MkdirTemp("", "tocsin-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	fmt.Printf("%s, %s/%s, %d processors, %s\n\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), time.Now().UTC().Format("2006-01-02 15:04 UTC"))

	if *only == "model" {
		models(documented)
		return nil
	}
	switch *only { // within this process
	case "deciding":
		return deciding(dir)
	case "storm":
		return storm(dir)
	}
	binary, err := built(dir)
	if err != nil {
		return err
	}
	own := map[string]func(binary, dir string) error{ // they fill their own databases
		"events": fromEventToPage, "intake": intake, "crowd": behindCrowd, "webhook": webhooks, "hostile": hostile, "databases": databases,
		"scale": scale, "soak": soak, "gate": gate, "monitors": monitors,
	}
	if measure := own[*only]; measure != nil {
		return measure(binary, dir)
	}
	key, err := footprint(binary, dir)
	if err != nil {
		return err
	}
	db := "sqlite:" + filepath.Join(dir, "demo", "tocsin.db")
	for _, part := range []struct {
		name string
		run  func() error
	}{
		{"operations", func() error { return operations(binary, db, key) }},
		{"configuration", func() error { return configuration(binary, db, key) }},
		{"history", func() error { return history(binary, db, key) }},
		{"pages", func() error { return consolePages(binary, db) }},
		{"events", func() error { return fromEventToPage(binary, dir) }},
		{"webhook", func() error { return webhooks(binary, dir) }},
		{"databases", func() error { return databases(binary, dir) }},
	} {
		if *only != "" && *only != part.name {
			continue
		}
		if err := part.run(); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
	}
	return nil
}

func median[T cmp.Ordered](d []T) T {
	slices.Sort(d)
	return d[len(d)/2]
}
