package evaluator

import (
	"context"
	"math"
	"time"

	"tocsin/internal/core/evaluate"
	"tocsin/internal/platform/fair"
	"tocsin/internal/querier"
)

// evaluate asks the queries of a watch, judges the answers and sends what has changed. What was found before and is not stored
// yet goes first: until then nothing else is asked.
func (e *Evaluator) evaluate(ctx context.Context, w *watch) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !e.apply(w) {
		return
	}
	if w.unsent != nil && e.Journal == nil {
		e.send(ctx, w)
		return
	}
	now := e.Clock.Now()
	e.mu.Lock()
	moment, missed := w.catchUp(now)
	late := max(0, now.Sub(w.at))
	if e.Journal != nil { // a member's server shows it
		e.late = append(e.late, late)
	}
	w.moment = moment
	e.mu.Unlock()
	e.metrics.late.Observe(late.Seconds())
	e.metrics.evaluated(w.Source.Type, string(evaluate.Missed), missed)
	asOf := moment.Add(-w.Delay)
	answers := e.answers(ctx, w, asOf)
	if ctx.Err() != nil {
		return
	}
	result, err := e.judge(ctx, w, asOf, answers)
	if err != nil {
		return
	}
	e.note(w, Evaluation{At: moment, Took: e.Clock.Now().Sub(now), Rows: rowsOf(answers), Missed: missed, Largest: largest(answers)},
		result.Outcome)
	found := len(result.Transitions) > 0
	if found {
		w.found(Batch{
			Watch: &w.Watch, Epoch: w.epoch, AsOf: asOf, Transitions: result.Transitions, Related: e.related(ctx, w, asOf, result.Related),
		})
		w.apart = w.apart || e.cut.Load() || e.stood(now)
	}
	e.keep(w, found)
	if found && !w.apart {
		e.send(ctx, w)
		e.keep(w, false)
	}
}

// judge steps the watch when it is the account's turn, and asks the queries that the step needs.
func (e *Evaluator) judge(ctx context.Context, w *watch, asOf time.Time, answers []evaluate.Answer) (evaluate.Result, error) {
	step := func(do func() evaluate.Result) (evaluate.Result, error) {
		leave, err := e.Turns.Enter(ctx, fair.Of(w.Account), int64(w.Source.ID))
		if err != nil {
			return evaluate.Result{}, err
		}
		defer leave()
		return do(), nil
	}
	result, err := step(func() evaluate.Result { return w.core.Step(asOf, answers) })
	if err != nil {
		return result, err
	}
	for len(result.Ask) > 0 {
		asked := e.ask(ctx, w, asOf, result.Ask)
		if err := ctx.Err(); err != nil {
			return result, err
		}
		result, err = step(func() evaluate.Result { return w.core.Answered(asOf, asked) })
		if err != nil {
			return result, err
		}
	}
	return result, nil
}

// apply takes over a changed configuration. It reports false for a watch that is evaluated here no more.
func (e *Evaluator) apply(w *watch) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if w.dropped {
		return false
	}
	if w.planned == nil {
		return true
	}
	changed := w.planned
	w.planned = nil
	core, err := evaluate.New(changed.Rule, w.core.State())
	if err != nil { // create and update refuse such rules
		e.Log.Error("an alert rule cannot be evaluated as changed", "account_id", w.Account, "rule_id", w.Key.Rule, "error", err)
		return true
	}
	w.core = core
	w.configure(*changed)
	e.release(w)
	e.await(w)
	return true
}

// ask asks queries about instances, one after the other.
func (e *Evaluator) ask(ctx context.Context, w *watch, asOf time.Time, questions []evaluate.Question) []evaluate.Answer {
	answers := make([]evaluate.Answer, len(questions))
	for i, q := range questions {
		rows, failed := e.query(ctx, w, q.Query, asOf)
		answers[i] = evaluate.Answer{Query: q.Query.Name, Rows: rows, Failed: failed}
	}
	return answers
}

// related asks the queries for descriptions. A failure is shown in the description.
func (e *Evaluator) related(ctx context.Context, w *watch, asOf time.Time, questions []evaluate.Question) map[string][]evaluate.Answer {
	if len(questions) == 0 {
		return nil
	}
	found := map[string][]evaluate.Answer{}
	for i, a := range e.ask(ctx, w, asOf, questions) {
		key := questions[i].Check + "/" + questions[i].Instance
		found[key] = append(found[key], a)
	}
	return found
}

// query asks one query of the datasource.
func (e *Evaluator) query(ctx context.Context, w *watch, q evaluate.Query, asOf time.Time) ([]evaluate.Row, *evaluate.Failure) {
	began := e.Clock.Now()
	rows, failed := w.source.query(ctx, e.Open, querier.Ask{
		Expr: q.Expr, Args: q.Args, LabelFields: q.LabelFields, ValueFields: q.ValueFields, AsOf: asOf,
		Timeout: w.Rule.Interval,
	}, began)
	e.metrics.queries.WithLabelValues(w.Source.Type).Observe(e.Clock.Now().Sub(began).Seconds())
	return rows, failed
}

// send hands transitions to the center. If that fails, they are sent again before the next evaluation.
func (e *Evaluator) send(ctx context.Context, w *watch) {
	taken, err := e.Center.Send(ctx, *w.unsent)
	if err != nil {
		w.apart = e.Journal != nil // it may be stored nevertheless
		if ctx.Err() == nil {
			e.Log.Error("alert rules: transitions could not be stored", "account_id", w.Account, "rule_id", w.Key.Rule, "error", err)
		}
		return
	}
	for _, t := range w.unsent.Transitions {
		if !taken.Fenced && !taken.Gone {
			e.metrics.transitions.WithLabelValues(string(t.To)).Inc()
		}
	}
	w.unsent, w.apart = nil, false
	if taken.Fenced {
		e.metrics.fenced.Inc()
	}
	if taken.Fenced || taken.Gone {
		e.mu.Lock()
		e.drop(w)
		e.reload = true
		e.mu.Unlock()
		e.Changed()
	}
}

// note keeps an evaluation, and reports the state of the watch if it has changed.
func (e *Evaluator) note(w *watch, one Evaluation, o evaluate.Outcome) {
	one.Outcome = "known"
	if !o.Known {
		one.Outcome = string(o.Kind)
	}
	if e.Journal == nil { // no page shows the evaluations of an edge
		w.note(one)
	}
	switch {
	case one.Rows > 0:
		w.empty = 0
	case o.Known:
		w.empty++
	}
	e.metrics.evaluated(w.Source.Type, one.Outcome, 1)
	state := WatchState{
		Key: w.Key, Rule: w.Rule.Name, Severity: w.Severity, Source: w.Source.Name, Pending: w.core.Pending(),
		Unknown: o.Unknown, Kind: o.Kind, Message: o.Message, Since: o.Since,
	}
	// A datasource that answers no one is reported itself.
	state.Lost = o.Unknown && absent(o.Kind) && w.source.silent()
	e.mu.Lock()
	defer e.mu.Unlock()
	if w.dropped {
		return
	}
	if !w.known || w.last.Unknown != state.Unknown || w.last.Lost != state.Lost || w.last.Kind != state.Kind && state.Unknown {
		e.changed[w.Key] = state
	}
	w.last, w.known = state, true
}

func rowsOf(answers []evaluate.Answer) (n int) {
	for _, a := range answers {
		n += len(a.Rows)
	}
	return n
}

// largest returns the largest value of answers.
func largest(answers []evaluate.Answer) (found *float64) {
	for _, a := range answers {
		for _, row := range a.Rows {
			for _, v := range row.Values {
				if n := v.Number; !math.IsNaN(n) && !math.IsInf(n, 0) && (found == nil || n > *found) {
					found = &n
				}
			}
		}
	}
	return found
}
