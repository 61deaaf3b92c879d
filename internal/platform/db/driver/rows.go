package driver

import (
	"strconv"
	"strings"
)

// Rows are new rows of one table. Table and Columns are constants of the program; every row has a value for each column,
// and the values of a column have one type.
type Rows struct {
	Table   string
	Columns []string
	Values  [][]any
}

// InsertText returns the statement that inserts values into the columns.
func (r Rows) InsertText(values string) string {
	return "INSERT INTO " + r.Table + " (" + strings.Join(r.Columns, ", ") + ") " + values
}

// UpdateText returns the statement that changes the columns after the key; from has the values of all columns.
func (r Rows) UpdateText(keys int, from string, value func(column int) string) string {
	pairs := make([]string, len(r.Columns))
	for i, column := range r.Columns {
		if i < keys {
			column = r.Table + "." + column
		}
		pairs[i] = column + " = " + value(i)
	}
	return "UPDATE " + r.Table + " SET " + strings.Join(pairs[keys:], ", ") + from + " WHERE " + strings.Join(pairs[:keys], " AND ")
}

// OnConflict returns what follows the values of an insert that changes the rows that are there already.
func (r Rows) OnConflict(keys int, set string) string {
	return " ON CONFLICT (" + strings.Join(r.Columns[:keys], ", ") + ") DO UPDATE SET " + set
}

// Placeholders returns "$1, $2" up to n.
func Placeholders(n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = Placeholder(i)
	}
	return strings.Join(all, ", ")
}

// Placeholder returns that of a column, counted from 0.
func Placeholder(column int) string { return "$" + strconv.Itoa(column+1) }
