package evaluator

import (
	"context"
	"sync"
	"time"

	"tocsin/internal/core/evaluate"
)

// flightKey identifies a query of a datasource about a moment.
type flightKey struct {
	source *source
	text   string
	asOf   int64
}

// flight is a query that watches with equal queries ask together.
type flight struct {
	key   flightKey
	users int // watches that wait for it or have it; guarded by the lock of the evaluator
	once  sync.Once
	// Set once.
	rows   []evaluate.Row
	failed *evaluate.Failure
}

// await makes a watch a user of the flights of its queries. The caller holds the lock.
func (e *Evaluator) await(w *watch) {
	w.waits = true
	for _, text := range w.texts {
		key := flightKey{w.source, text, w.moment.Add(-w.Delay).UnixNano()}
		f := e.flights[key]
		if f == nil {
			f = &flight{key: key}
			e.flights[key] = f
		}
		f.users++
		w.flights = append(w.flights, f)
	}
}

// release ends that. The caller holds the lock.
func (e *Evaluator) release(w *watch) {
	for _, f := range w.flights {
		if f.users--; f.users == 0 {
			delete(e.flights, f.key)
		}
	}
	w.flights = w.flights[:0]
}

// answers returns the answers of the queries of a watch. A query that another watch asks is waited for.
func (e *Evaluator) answers(ctx context.Context, w *watch, asOf time.Time) []evaluate.Answer {
	e.mu.Lock()
	if len(w.flights) == 0 || w.flights[0].key.asOf != asOf.UnixNano() { // it was late
		e.release(w)
		e.await(w)
	}
	flights := append([]*flight(nil), w.flights...)
	e.mu.Unlock()
	answers := make([]evaluate.Answer, len(flights))
	for i, f := range flights {
		q := w.Rule.Config.Queries[i]
		f.once.Do(func() { f.rows, f.failed = e.query(ctx, w, q, asOf) })
		answers[i] = evaluate.Answer{Query: q.Name, Rows: f.rows, Failed: f.failed}
	}
	return answers
}
