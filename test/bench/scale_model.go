package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// unit is what one of something uses.
type unit struct {
	node, database time.Duration // processor time
	log, stored    float64       // bytes
}

// costs hold what a deployment on PostgreSQL is computed from: the lines of -only scale. They are of its latest run that
// docs/scale.md shows.
type costs struct {
	event, repeat, read unit          // one event that opens an incident with its page and its end; one that repeats; one read
	idle                time.Duration // processor time of a node, for an account and minute
	idleDatabase        time.Duration // the same of the database, for each node
	account             float64       // bytes
}

// demand is what a deployment must do.
type demand struct {
	accounts, events float64 // events in a second
}

// Assumptions of the model, which docs/scale.md states.
const (
	opening     = 0.1  // of events open an incident, the others repeat
	readShare   = 1.0  // reads for an event
	utilisation = 0.5  // of a processor, so that p99 stays low; see wait
	daysKept    = 7    // of events
	coresOfNode = 4.0  // processors of a node
	coresOfOne  = 16.0 // processors of one PostgreSQL, at most
	logOfOne    = 60e6 // bytes of write-ahead log in a second that one PostgreSQL stores and sends, at most
	diskOfOne   = 8e12 // bytes that are backed up and restored as one, at most
)

// plan is a deployment.
type plan struct {
	cores, databaseCores float64
	nodes, databases     float64
	log                  float64 // bytes in a second
	day                  float64 // bytes stored in a day
	disk                 float64 // bytes with what is kept
}

// planned computes a deployment. What each node does while idle it does for all accounts of its database: that is the work
// of a node on one of several databases divided by their number.
func planned(c costs, d demand) (p plan) {
	mix := func(of func(unit) float64) float64 {
		return d.events * (opening*of(c.event) + (1-opening)*of(c.repeat) + readShare*of(c.read))
	}
	node := mix(func(u unit) float64 { return u.node.Seconds() })
	database := mix(func(u unit) float64 { return u.database.Seconds() })
	p.log, p.day = mix(func(u unit) float64 { return u.log }), 86400*mix(func(u unit) float64 { return u.stored })
	p.disk = daysKept*p.day + d.accounts*c.account
	for p.databases = 1; ; p.databases++ {
		each := d.accounts / p.databases
		nodes := 1.0
		for range 3 { // each node adds its idle work
			idle := each * c.idle.Minutes() * nodes
			nodes = math.Max(1, math.Ceil((node/p.databases+idle)/utilisation/coresOfNode))
		}
		idle := each * c.idleDatabase.Minutes() * nodes
		p.nodes, p.cores = nodes*p.databases, (node+p.databases*each*c.idle.Minutes()*nodes)/utilisation
		p.databaseCores = (database + p.databases*idle) / utilisation
		if p.databaseCores/p.databases <= coresOfOne && p.log/p.databases <= logOfOne && p.disk/p.databases <= diskOfOne || p.databases == 1000 {
			return p
		}
	}
}

// documented are the costs of the run that docs/scale.md shows, so that -only model needs no database.
var documented = costs{
	event:        unit{5318 * time.Microsecond, 11619 * time.Microsecond, 26_290, 11_902},
	repeat:       unit{853 * time.Microsecond, 2155 * time.Microsecond, 4_460, 2_252},
	read:         unit{136 * time.Microsecond, 73 * time.Microsecond, 0, 0},
	idle:         400 * time.Microsecond,
	idleDatabase: 50 * time.Microsecond,
	account:      15_000,
}

// models prints what the measured costs mean for each tenfold.
func models(c costs) {
	fmt.Printf("| accounts | events/s | processors of nodes | nodes of %.0f | processors of PostgreSQL | write-ahead log | stored a day | disk, %d days | databases |\n|---|---|---|---|---|---|---|---|---|\n", coresOfNode, daysKept)
	for _, d := range []demand{{1, 10}, {10, 10}, {100, 100}, {1000, 1000}, {10_000, 1000}, {10_000, 10_000}, {100_000, 10_000}, {100_000, 100_000}} {
		p := planned(c, d)
		fmt.Printf("| %.0f | %.0f | %.1f | %.0f | %.1f | %.1f MB/s | %.1f GB | %.0f GB | %.0f |\n", d.accounts, d.events, p.cores, p.nodes, p.databaseCores,
			p.log/1e6, p.day/1e9, p.disk/1e9, p.databases)
	}
	fmt.Printf("\n| utilisation of 4 processors | p50 of a call of 1 ms | p99 |\n|---|---|---|\n")
	for _, u := range []float64{0.3, 0.5, 0.7, 0.8, 0.9, 0.95} {
		half, most := queued(4, u, 200_000, 1)
		fmt.Printf("| %.0f %% | %.1f ms | %.1f ms |\n", 100*u, half, most)
	}
	fmt.Println()
}

// queued simulates calls that come at random to some servers and take a time at random, 1 on average (M/M/c). It returns
// the median of the time from coming to leaving, and the 99th percentile.
func queued(servers int, utilisation float64, calls int, seed uint64) (half, most float64) {
	chance := rand.New(rand.NewPCG(seed, 1))
	free := make([]float64, servers) // when each server is free
	times := make([]float64, calls)
	for i, now := 0, 0.0; i < calls; i++ {
		now += chance.ExpFloat64() / (utilisation * float64(servers))
		first := 0
		for s := range free {
			if free[s] < free[first] {
				first = s
			}
		}
		free[first] = math.Max(now, free[first]) + chance.ExpFloat64()
		times[i] = free[first] - now
	}
	slices.Sort(times)
	return times[calls/2], times[calls*99/100]
}
