package driver

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Kind is the type of the values of a column.
type Kind int

// The types of columns, as every engine has them.
const (
	Integer Kind = iota
	Text
	Boolean
	Bytes
	Float
)

// Table is a table as the catalogue of the database describes it.
type Table struct {
	Name    string
	Columns []TableColumn // by name
	Parents []string      // the tables that its rows refer to

	Key []TableColumn // by which its rows are read: one that numbers them, in the order in which they were written, where there is one
}

// TableColumn is a column of a Table.
type TableColumn struct {
	Name     string
	Kind     Kind
	Identity bool // the database numbers the rows by it
}

// OfAccounts reports whether each row of a table belongs to an account.
func (t Table) OfAccounts() bool {
	return slices.ContainsFunc(t.Columns, func(c TableColumn) bool { return c.Name == "account_id" })
}

// ColumnList returns the list of the columns for a statement.
func (t Table) ColumnList() string { return Listed(t.Columns) }

// Listed returns a list of columns for a statement.
func Listed(columns []TableColumn) string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = Quoted(c.Name)
	}
	return strings.Join(names, ", ")
}

// Quoted returns a name as statements write it.
func Quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// Storable returns a text as every engine stores and compares it. PostgreSQL refuses NUL and what is not UTF-8, which
// the texts of others may hold: each becomes U+FFFD.
func Storable(s string) string {
	if strings.IndexByte(s, 0) >= 0 {
		s = strings.ReplaceAll(s, "\x00", "\uFFFD")
	}
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}
