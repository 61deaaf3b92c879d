package ratelimit

import "sync/atomic"

// Share is the part of each rate that this process accepts when several serve the same callers. The parts of all add up
// to the whole rate, or to one each where the rate is lower than their number. A nil Share, and one that was never set,
// is the whole. It is safe for concurrent use.
type Share struct{ rank, of atomic.Int64 }

// Set makes this the process of a rank, from 0, among so many.
func (s *Share) Set(rank, of int) {
	s.rank.Store(int64(rank))
	s.of.Store(int64(of))
}

// Of returns the part of a rate.
func (s *Share) Of(r Rate) Rate {
	if s == nil || s.of.Load() < 2 {
		return r
	}
	return Rate{PerSecond: s.part(r.PerSecond), PerMinute: s.part(r.PerMinute)}
}

func (s *Share) part(limit int) int {
	if limit <= 0 {
		return limit // no limit
	}
	of := int(s.of.Load())
	return max(1, (limit+of-1-min(of-1, int(s.rank.Load())))/of)
}
