package main

import (
	"sync"
	"time"
)

// latencies counts durations in a fixed memory, so that a long run does not grow.
type latencies struct {
	mu      sync.Mutex
	counts  [100_000]int64 // by latencyUnit; the last one holds all that are longer
	count   int64
	longest time.Duration
}

const latencyUnit = 100 * time.Microsecond

func (l *latencies) add(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.counts[min(int(d/latencyUnit), len(l.counts)-1)]++
	l.count++
	l.longest = max(l.longest, d)
}

// part returns the duration that this part of all do not exceed, rounded up.
func (l *latencies) part(of float64) time.Duration {
	left := int64(of * float64(l.count))
	for i, n := range l.counts {
		left -= n
		if left < 0 {
			return time.Duration(i+1) * latencyUnit
		}
	}
	return l.longest
}

// over returns how many took at least so long.
func (l *latencies) over(d time.Duration) (n int64) {
	for _, c := range l.counts[d/latencyUnit:] {
		n += c
	}
	return n
}
