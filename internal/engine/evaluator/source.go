package evaluator

import (
	"context"
	"fmt"
	"sync"
	"time"

	"tocsin/internal/core/evaluate"
	"tocsin/internal/querier"
)

// sourceKey identifies a datasource.
type sourceKey struct {
	account int64
	id      uint64
}

const (
	mostFailures = 3                // in a row, without a connection, after which the datasource is only probed
	probeEvery   = 5 * time.Second  // one query, whose success lets all others go on
	lostAfter    = 60 * time.Second // without an answer the datasource is lost
)

// source is a datasource with the watches on it.
type source struct {
	key     sourceKey
	used    int      // by watches
	running int      // evaluations in progress
	waiting []*watch // due, in order

	mu       sync.Mutex
	config   Source
	querier  querier.Querier  // nil: not opened yet
	failures int              // in a row, without a connection
	probe    time.Time        // when the next query may try, after mostFailures
	since    time.Time        // of the first failure after the last answer; zero: it answers
	failed   evaluate.Failure // the last one
	answered bool             // it has answered since the start
	reported bool             // the last report had it as lost
	sentAt   time.Time        // when it was last reported
}

// configure changes the connection. The old one is closed when its queries have ended.
func (s *source) configure(c Source) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.config.Version == c.Version && s.config.Address == c.Address {
		s.config = c
		return
	}
	if s.querier != nil {
		_ = s.querier.Close() // idle connections alone; queries in progress go on
	}
	s.config, s.querier = c, nil
	s.failures = 0
}

// close closes the connections.
func (s *source) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.querier != nil {
		_ = s.querier.Close() // there is no one to report to
		s.querier = nil
	}
}

// begin returns the querier to ask, or why it is not asked now.
func (s *source) begin(open opener, now time.Time) (querier.Querier, *evaluate.Failure) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failures >= mostFailures {
		if wait := s.probe.Sub(now); wait > 0 && wait <= probeEvery {
			return nil, &evaluate.Failure{Kind: s.failed.Kind, Phase: s.failed.Phase,
				Message: fmt.Sprintf("not asked again after %d failures: %s", s.failures, s.failed.Message)}
		}
		s.probe = now.Add(probeEvery)
	}
	if s.querier == nil {
		q, refused := querier.Querier(nil), s.config.Failed
		if refused == nil {
			q, refused = open(s.config.Datasource)
		}
		if refused != nil {
			s.fail(refused, now)
			return nil, refused
		}
		s.querier = q
	}
	return s.querier, nil
}

type opener func(querier.Datasource) (querier.Querier, *evaluate.Failure)

// query asks the datasource.
func (s *source) query(ctx context.Context, open opener, ask querier.Ask, now time.Time) ([]evaluate.Row, *evaluate.Failure) {
	q, failed := s.begin(open, now)
	if failed != nil {
		return nil, failed
	}
	rows, failed := q.Query(ctx, ask)
	if ctx.Err() == nil {
		s.mu.Lock()
		s.fail(failed, now)
		s.mu.Unlock()
	}
	return rows, failed
}

// fail notes whether the datasource answered; nil: it did. One that refuses a query has answered. The caller holds the lock.
func (s *source) fail(failed *evaluate.Failure, now time.Time) {
	if failed == nil || !absent(failed.Kind) {
		s.since, s.failures = time.Time{}, 0
		s.answered = true
		return
	}
	s.failed = *failed
	if s.since.IsZero() {
		s.since = now
	}
	switch failed.Phase {
	case querier.PhaseResolve, querier.PhaseDial, querier.PhaseTLS, querier.PhaseSignIn:
		if s.failures++; s.failures == mostFailures {
			s.probe = now.Add(probeEvery)
		}
	default:
		s.failures = 0
	}
}

// absent reports whether a failure is one of the datasource, not of the query.
func absent(k evaluate.Kind) bool {
	return k == evaluate.Unreachable || k == evaluate.Denied || k == evaluate.Timeout
}

// silent reports whether the datasource has not answered since a failure, which need not be long ago.
func (s *source) silent() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.since.IsZero()
}

// repeatLost is how often a lost datasource is reported again, so that its alert does not end.
const repeatLost = time.Minute

// state returns what is to be reported of a datasource. It is lost after a minute without an answer.
func (s *source) state(now time.Time) (state SourceState, report bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	lost := !s.since.IsZero() && now.Sub(s.since) >= lostAfter
	if !lost && !s.answered || !lost && !s.reported && !s.sentAt.IsZero() || lost && s.reported && now.Sub(s.sentAt) < repeatLost {
		return state, false
	}
	return SourceState{Account: s.key.account, ID: s.key.id, Name: s.config.Name, Lost: lost, Kind: s.failed.Kind,
		Message: s.failed.Message, Since: s.since}, true
}

// sent notes that a state was reported.
func (s *source) sent(state SourceState, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reported, s.sentAt = state.Lost, now
}
