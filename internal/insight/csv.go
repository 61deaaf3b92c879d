package insight

import (
	"encoding/csv"
	"io"
	"reflect"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"tocsin/internal/core/insight"
	"tocsin/internal/platform/fault"
)

// table writes rows of one type as CSV (RFC 4180, UTF-8). The columns are the members of the rows as JSON, in their
// order; members that are objects or lists are JSON.
type table struct {
	w       *csv.Writer
	columns []column
	cells   []string
}

// column is a member of a row, found through embedded structs.
type column struct {
	name  string
	index []int
}

// columnsOf returns the columns of a row type: all, or those that are named, in the order of the names.
func columnsOf[T any](named []string) ([]column, error) {
	var all []column
	for _, f := range reflect.VisibleFields(reflect.TypeFor[T]()) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && !f.Anonymous {
			all = append(all, column{name, f.Index})
		}
	}
	if len(named) == 0 {
		return all, nil
	}
	var chosen []column
	for _, name := range named {
		found := false
		for _, c := range all {
			if found = c.name == name; found {
				chosen = append(chosen, c)
				break
			}
		}
		if !found {
			return nil, fault.Invalid("export_fields", "must name columns of the export, got %.60q", name)
		}
	}
	return chosen, nil
}

// newTable writes the header.
func newTable(to io.Writer, columns []column) (*table, error) {
	t := &table{csv.NewWriter(to), columns, make([]string, len(columns))}
	for n, c := range columns {
		t.cells[n] = c.name
	}
	return t, t.w.Write(t.cells)
}

// add writes a row.
func (t *table) add(row any) error {
	v := reflect.ValueOf(row)
	for n, c := range t.columns {
		text, err := cell(v.FieldByIndex(c.index))
		if err != nil {
			return err
		}
		t.cells[n] = text
	}
	return t.w.Write(t.cells)
}

// flush sends what was written.
func (t *table) flush() error {
	t.w.Flush()
	return t.w.Error()
}

func cell(v reflect.Value) (string, error) {
	switch v.Kind() {
	case reflect.Int64:
		return strconv.FormatInt(v.Int(), 10), nil
	case reflect.Float64:
		return strconv.FormatFloat(v.Float(), 'f', -1, 64), nil
	case reflect.String:
		return insight.Harmless(v.String()), nil
	}
	b, err := json.Marshal(v.Interface(), json.Deterministic(true))
	return insight.Harmless(string(b)), err
}
