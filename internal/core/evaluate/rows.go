package evaluate

import (
	"fmt"
	"hash/maphash"
	"math"

	"tocsin/internal/core/event"
)

// joinedRows are the rows of an evaluation's answers by their label sets. The memory is used again by the next evaluation.
type joinedRows struct {
	width  int // queries
	ids    []uint64
	labels []map[string]string
	rows   []*Row // width for each label set; nil: the query has no row
	index  map[uint64]int
}

// row returns the row of a query in a label set; nil: it has none.
func (j *joinedRows) row(set, query int) *Row { return j.rows[set*j.width+query] }

// join joins the answers by label sets. It returns a failure when a query has no whole answer or its rows cannot be judged.
func (w *Watch) join(answers []Answer) *Failure {
	j := &w.rows
	j.width = len(w.queries)
	j.ids = j.ids[:0]
	j.labels = j.labels[:0]
	clear(j.rows)
	j.rows = j.rows[:0]
	if len(j.index) > 0 {
		clear(j.index)
	}
	if j.index == nil {
		j.index = map[uint64]int{}
	}
	for n := range w.queries {
		answer := answerOf(answers, w.queries[n].Name)
		if answer == nil {
			return &Failure{Kind: Missed, Message: fmt.Sprintf("query %s was not asked", w.queries[n].Name)}
		}
		if answer.Failed != nil && !answer.Failed.Cut {
			return answer.Failed
		}
		if answer.Failed != nil {
			w.failed = answer.Failed
		}
		for r := range answer.Rows {
			if f := j.add(n, w.queries[n].Name, &answer.Rows[r]); f != nil {
				return f
			}
		}
	}
	for _, c := range w.checks[threshold].expressions() {
		if f := c.readable(w); f != nil {
			return f
		}
	}
	return nil
}

func answerOf(answers []Answer, name string) *Answer {
	for n := range answers {
		if answers[n].Query == name {
			return &answers[n]
		}
	}
	return nil
}

// add adds a row of a query.
func (j *joinedRows) add(query int, name string, row *Row) *Failure {
	if len(row.Labels) > event.MaxLabels {
		return invalid("a row of query %s has %d labels, more than %d", name, len(row.Labels), event.MaxLabels)
	}
	for k, v := range row.Labels {
		if len(k) > event.MaxLabelKey || len(v) > event.MaxLabelValue {
			return invalid("label %.128q of query %s is longer than %d bytes, or its value than %d", k, name, event.MaxLabelKey, event.MaxLabelValue)
		}
	}
	id := labelsID(row.Labels)
	set, known := j.index[id]
	if !known {
		set = len(j.ids)
		j.index[id] = set
		j.ids = append(j.ids, id)
		j.labels = append(j.labels, row.Labels)
		for range j.width {
			j.rows = append(j.rows, nil)
		}
	}
	if j.row(set, query) != nil {
		return invalid("query %s returned two rows with the labels %s", name, text(row.Labels))
	}
	j.rows[set*j.width+query] = row
	return nil
}

func invalid(format string, args ...any) *Failure {
	return &Failure{Kind: Invalid, Phase: "read", Message: cut(fmt.Sprintf(format, args...), 500)}
}

var seed = maphash.MakeSeed()

// labelsID returns a hash of a label set that does not depend on the order in which its labels are read. It is of this
// process alone; Key is for what is stored.
func labelsID(labels map[string]string) uint64 {
	var sum uint64
	for k, v := range labels {
		pair := maphash.String(seed, k) ^ maphash.String(seed, v)*0x9e3779b97f4a7c15
		pair ^= pair >> 32
		pair *= 0xd6e8feb86659fd93
		sum += pair ^ pair>>32
	}
	return sum
}

// value returns the value of a slot in a row; NaN: it has none.
func (s *slot) value(row *Row) float64 {
	if row == nil {
		return math.NaN()
	}
	if v, ok := row.Values.Get(s.field); ok {
		return v
	}
	if s.unnamed {
		if v, ok := row.Values.Get(""); ok {
			return v
		}
	}
	if s.alone && len(row.Values) == 1 {
		return row.Values[0].Number
	}
	return math.NaN()
}

// read sets the values of an expression to those of a label set.
func (e *expression) read(j *joinedRows, set int) {
	for n := range e.slots {
		e.values[n] = e.slots[n].value(j.row(set, e.slots[n].query))
	}
}

// expressions returns the expressions of the check, with that of its recovery.
func (c *check) expressions() []*expression {
	all := make([]*expression, 0, len(c.exprs)+1)
	for _, e := range append(c.exprs[:], c.recovery) {
		if e != nil {
			all = append(all, e)
		}
	}
	return all
}

// readable returns a failure when no row of an answer has a value that the expression reads, because the column is a text
// or is not there. A value that is missing in some rows is missing in these alone.
func (e *expression) readable(w *Watch) *Failure {
	for n := range e.slots {
		s := &e.slots[n]
		var wrong string
		for set := range w.rows.ids {
			row := w.rows.row(set, s.query)
			if row == nil {
				continue
			}
			wrong = s.problem(row)
			if wrong == "" {
				break
			}
		}
		if wrong != "" {
			return invalid("%s has no number in any row: %s", e.Refs()[n], wrong)
		}
	}
	return nil
}

// problem returns why a row has no value of the slot, when that is not a missing value.
func (s *slot) problem(row *Row) string {
	if _, ok := row.Values.Get(s.field); ok {
		return ""
	}
	if _, ok := row.Fields[s.field]; ok {
		return "the column is a text"
	}
	_, unnamed := row.Values.Get("")
	switch {
	case len(row.Values) == 0 || s.unnamed && unnamed || s.alone && len(row.Values) == 1:
		return ""
	case s.alone:
		return "its query has several values; name one of them"
	}
	return "its query has no such column"
}
