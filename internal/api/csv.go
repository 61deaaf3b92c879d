package api

import (
	"encoding/csv"
	"io"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"tocsin/internal/platform/fault"
)

// Table writes rows of one type as CSV (RFC 4180, UTF-8). The columns are the members of the rows as JSON, in their
// order; members that are objects or lists are JSON.
type Table struct {
	w       *csv.Writer
	columns []Column
	cells   []string
}

// Column is a member of a row, found through embedded structs.
type Column struct {
	name  string
	index []int
}

// ColumnsOf returns the columns of a row type: all, or the named columns in the order of the names.
func ColumnsOf[T any](named []string) ([]Column, error) {
	var all []Column
	for _, f := range reflect.VisibleFields(reflect.TypeFor[T]()) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && !f.Anonymous {
			all = append(all, Column{name, f.Index})
		}
	}
	if len(named) == 0 {
		return all, nil
	}
	var chosen []Column
	for _, name := range named {
		found := false
		for _, c := range all {
			found = c.name == name
			if found {
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

// NewTable writes the header.
func NewTable(to io.Writer, columns []Column) (*Table, error) {
	t := &Table{csv.NewWriter(to), columns, make([]string, len(columns))}
	for n, c := range columns {
		t.cells[n] = c.name
	}
	return t, t.w.Write(t.cells)
}

// Add writes a row.
func (t *Table) Add(row any) error {
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

// Flush sends what was written.
func (t *Table) Flush() error {
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
		return harmless(v.String()), nil
	}
	b, err := json.Marshal(v.Interface(), json.Deterministic(true))
	return harmless(string(b)), err
}

// harmless returns a text that spreadsheets show and do not compute: titles and labels come from outside, and a cell that
// begins with one of these characters is a formula. The apostrophe is how spreadsheets mark text.
func harmless(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if begin, _ := utf8.DecodeRuneInString(strings.TrimLeft(s, " ")); strings.ContainsRune("=+-@\t\r\n＝＋－＠", begin) {
		return "'" + s
	}
	return s
}
