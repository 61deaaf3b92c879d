package sqldb

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"tocsin/internal/core/evaluate"
	"tocsin/internal/querier"
)

// Table makes rows of the columns of an answer. Their names are in lower case.
type Table struct {
	Rows    []evaluate.Row
	ask     querier.Ask
	columns []column
	bytes   int
}

type column struct {
	name  string
	use   use
	exact bool // a text is a number
}

// use is what a column is for.
type use int

const (
	asField use = iota
	asLabel
	asValue
)

// NewTable returns a table for columns with the types that the database calls so.
func NewTable(a querier.Ask, names, types []string) (*Table, *evaluate.Failure) {
	t := &Table{ask: a}
	known := map[string]bool{}
	for i, name := range names {
		c := column{name: strings.ToLower(name)}
		if known[c.name] {
			return nil, invalid(evaluate.Invalid, "the query returns two columns %.100q", c.name)
		}
		known[c.name] = true
		kind := strings.ToUpper(types[i])
		c.exact = strings.Contains(kind, "DECIMAL") || strings.Contains(kind, "NUMERIC") || strings.Contains(kind, "NUMBER") ||
			strings.Contains(kind, "INT128") || strings.Contains(kind, "INT256")
		switch {
		case has(a.ValueFields, c.name):
			c.use = asValue
		case has(a.LabelFields, c.name) || len(a.LabelFields) == 0:
			c.use = asLabel
		}
		t.columns = append(t.columns, c)
	}
	for _, name := range slices.Concat(a.ValueFields, a.LabelFields) {
		if !known[strings.ToLower(name)] {
			return nil, invalid(evaluate.BadQuery, "the query returns no column %.100q", name)
		}
	}
	return t, nil
}

func has(list []string, name string) bool {
	return slices.ContainsFunc(list, func(s string) bool { return strings.EqualFold(s, name) })
}

func invalid(kind evaluate.Kind, format string, args ...any) *evaluate.Failure {
	return &evaluate.Failure{Kind: kind, Phase: querier.PhaseRead, Message: fmt.Sprintf(format, args...)}
}

// Add adds a row.
func (t *Table) Add(values []any) *evaluate.Failure {
	if len(t.Rows) == t.ask.Rows() {
		return invalid(evaluate.TooMuch, "the query returns more than %d rows", t.ask.Rows())
	}
	row := evaluate.Row{Labels: map[string]string{}, Fields: map[string]string{}}
	for i, c := range t.columns {
		text := textOf(values[i])
		if t.bytes += len(text) + 8; t.bytes > querier.MaxBytes {
			return invalid(evaluate.TooMuch, "the query returns more than %d bytes", querier.MaxBytes)
		}
		number, isNumber := numberOf(values[i], c.exact)
		switch {
		case c.use == asValue && isNumber:
			row.Values.Set(c.name, number)
		case c.use != asLabel:
			row.Fields[c.name] = text
		case values[i] != nil:
			row.Labels[c.name] = text
		}
	}
	t.Rows = append(t.Rows, row)
	return nil
}

// AddAll adds rows.
func (t *Table) AddAll(rows [][]any) *evaluate.Failure {
	for _, row := range rows {
		if len(row) != len(t.columns) {
			return invalid(evaluate.Unreachable, "a row has %d values for %d columns", len(row), len(t.columns))
		}
		if failed := t.Add(row); failed != nil {
			return failed
		}
	}
	return nil
}

// read reads all rows of an answer.
func read(a querier.Ask, found *sql.Rows) ([]evaluate.Row, error) {
	defer found.Close() //nolint:errcheck // its error is that of Err
	names, err := found.Columns()
	if err != nil {
		return nil, err
	}
	kinds, err := found.ColumnTypes()
	if err != nil {
		return nil, err
	}
	types := make([]string, len(kinds))
	for i, kind := range kinds {
		types[i] = kind.DatabaseTypeName()
	}
	t, failed := NewTable(a, names, types)
	if failed != nil {
		return nil, failed
	}
	values, into := make([]any, len(names)), make([]any, len(names))
	for i := range values {
		into[i] = &values[i]
	}
	for found.Next() {
		if err := found.Scan(into...); err != nil {
			return nil, err
		}
		if failed := t.Add(values); failed != nil {
			return nil, failed
		}
	}
	return t.Rows, found.Err()
}

// numberOf returns a value as a number. NULL is NaN, which is no value. Texts are numbers only of exact types, such as NUMERIC.
func numberOf(v any, exact bool) (float64, bool) {
	switch v := v.(type) {
	case nil:
		return math.NaN(), true
	case bool:
		if v {
			return 1, true
		}
		return 0, true
	case json.Number:
		f, err := v.Float64()
		return f, err == nil
	}
	switch r := reflect.ValueOf(v); {
	case r.CanInt():
		return float64(r.Int()), true
	case r.CanUint():
		return float64(r.Uint()), true
	case r.CanFloat():
		return r.Float(), true
	}
	if exact {
		f, err := strconv.ParseFloat(textOf(v), 64)
		return f, err == nil
	}
	return 0, false
}

// textOf returns a value as a text. Moments are in UTC.
func textOf(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return strings.ToValidUTF8(v, "\ufffd")
	case []byte:
		return strings.ToValidUTF8(string(v), "\ufffd")
	case time.Time:
		return v.UTC().Format(time.RFC3339Nano)
	}
	if r := reflect.ValueOf(v); r.CanFloat() {
		return strconv.FormatFloat(r.Float(), 'f', -1, r.Type().Bits())
	}
	return strings.ToValidUTF8(fmt.Sprint(v), "\ufffd")
}
