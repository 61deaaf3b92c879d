package querier

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"tocsin/internal/core/evaluate"
)

// maxLines is how many log lines a query returns at most.
const maxLines = 100

// ErrMalformed is the error of an answer that has another form. What it holds is not repeated.
var ErrMalformed = errors.New("the answer has another form")

// Raw is a query for log lines themselves, with the lines of its answer.
type Raw struct {
	Limit int
	Span  time.Duration // before the moment of the query
	ask   Ask
	count int
	rows  []evaluate.Row
	times []string
	at    map[string]int // of rows by their labels
}

var units = map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour}

// Raw returns the query for lines that the arguments of a type ask for; nil: they ask for figures.
func (a Ask) Raw(kind string) (*Raw, *evaluate.Failure) {
	switch form := a.Args[kind+".type"]; form {
	case "", "stats":
		return nil, a.sliding(kind)
	case "raw":
	default:
		return nil, Unsupported("%s.type %.40q is not supported; use stats or raw", kind, form)
	}
	span, failed := a.Span(kind, 0)
	if failed != nil {
		return nil, failed
	}
	limit, err := strconv.Atoi(a.Args[kind+".limit"])
	if err != nil || limit < 1 {
		limit = maxLines
	}
	return &Raw{Limit: min(limit, maxLines, a.Rows()), Span: span, ask: a, at: map[string]int{}}, nil
}

// sliding refuses arguments that name moments: the answer of a rule would be the same for ever.
func (a Ask) sliding(kind string) *evaluate.Failure {
	for _, name := range []string{".start", ".end", ".from", ".to"} {
		if text := a.Args[kind+name]; text != "" {
			return Unsupported("%s is not supported, got %.40q: a query is about the time before it is asked; use %s.timespan.value and .unit",
				kind+name, text, kind)
		}
	}
	return nil
}

// Span returns the span of time that the arguments of a type name, or a default.
func (a Ask) Span(kind string, otherwise time.Duration) (time.Duration, *evaluate.Failure) {
	if failed := a.sliding(kind); failed != nil {
		return 0, failed
	}
	value, unit := a.Args[kind+".timespan.value"], a.Args[kind+".timespan.unit"]
	if value == "" && otherwise != 0 {
		return otherwise, nil
	}
	n, err := strconv.ParseInt(value, 10, 32)
	if unit == "" {
		unit = "m"
	}
	if err != nil || n < 1 || units[unit] == 0 || n > int64(31*24*time.Hour/units[unit]) {
		return 0, Unsupported("%s.timespan.value and %[1]s.timespan.unit must be a span of at most 31 days, such as 15 and m; "+
			"got %.40q and %.40q", kind, value, unit)
	}
	return time.Duration(n) * units[unit], nil
}

// Add adds a line. Lines with the same labels are one row, which shows the newest: otherwise each line would be an alert.
func (r *Raw) Add(labels map[string]string, at, line string) {
	r.count++
	row := evaluate.Row{Labels: labels, Fields: map[string]string{"__time__": at, "__log__": line}}
	if len(r.ask.LabelFields) > 0 {
		row.Labels = map[string]string{}
		for name, value := range labels {
			if slices.Contains(r.ask.LabelFields, name) {
				row.Labels[name] = value
			} else {
				row.Fields[name] = value
			}
		}
	}
	key := fmt.Sprintf("%q", row.Labels) // sorted by name
	n, known := r.at[key]
	switch {
	case !known:
		r.at[key] = len(r.rows)
		r.rows = append(r.rows, row)
		r.times = append(r.times, at)
	case later(at, r.times[n]):
		r.rows[n] = row
		r.times[n] = at
	}
}

// later reports whether a moment is after another, both as texts of the same form.
func later(a, b string) bool { return len(a) > len(b) || len(a) == len(b) && a > b }

// Rows returns the rows. A list that was cut at its limit shows what is there, and nothing about what is missing.
func (r *Raw) Rows() ([]evaluate.Row, error) {
	if r.count < r.Limit {
		return r.rows, nil
	}
	return r.rows, &evaluate.Failure{Kind: evaluate.TooMuch, Phase: PhaseRead, Cut: true, Message: fmt.Sprintf(
		"the query returns %d lines, its limit: what is missing among them is not known; "+
			"use a shorter span, a narrower query or figures", r.Limit)}
}

// Unsupported returns the failure of a query that the querier cannot ask.
func Unsupported(format string, args ...any) *evaluate.Failure {
	return &evaluate.Failure{Kind: evaluate.Unsupported, Phase: PhaseQuery, Message: cut(fmt.Sprintf(format, args...))}
}
