package db

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"

	"tocsin/internal/platform/db/driver"
)

// Fold removes the difference between upper and lower case from a text, in every script. Of the characters
// that differ only in case it uses the first in the order of Unicode. Columns named *_folded hold folded
// text, because engines fold ASCII only.
func Fold(s string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			least = min(least, next)
		}
		return least
	}, s)
}

// Containing returns the pattern of folded texts that contain this one, for LIKE $n ESCAPE '\'. Every text contains
// the empty one, whose pattern is %%: queries test for it first, because LIKE reads the whole text.
func Containing(s string) string { return "%" + likeSpecial.Replace(Fold(s)) + "%" }

var likeSpecial = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// List writes ids as ",1,2,", and none as the empty text, for
//
//	($n = '' OR $n LIKE '%,' || column || ',%')
//
// because the number of SQL texts must not depend on what callers send.
func List[T int64 | uint64 | string](ids []T) string {
	var b strings.Builder
	for _, id := range ids {
		fmt.Fprintf(&b, ",%v", id)
	}
	if b.Len() > 0 {
		b.WriteByte(',')
	}
	return b.String()
}

// JSON writes values as a JSON array, for
//
//	column IN (SELECT value FROM json_each($n))
//
// with CAST(value AS BIGINT) for numbers. Unlike List it lets the engine use an index.
func JSON[T int64 | string](values []T) string {
	list := make([]any, len(values))
	for i, v := range values {
		list[i] = v
		if s, ok := any(v).(string); ok {
			list[i] = driver.Storable(s)
		}
	}
	text, err := json.Marshal(list)
	if err != nil {
		panic(err) // of numbers and valid texts
	}
	return string(text)
}

// Listable reports whether JSON writes a text as it is.
func Listable(s string) bool { return driver.Storable(s) == s }

// Refold fills folded columns that a migration left empty, because engines cannot fold. The query reads account, id
// and text of these rows. The update writes the folded text ($1) of the row with account ($2) and id ($3).
func Refold[ID int64 | string](tx *Tx, query, update string) error {
	type row struct {
		account int64
		id      ID
		text    string
	}
	rows, err := All(tx, func(scan Scan) (r row, err error) { return r, scan(&r.account, &r.id, &r.text) }, query)
	if err != nil {
		return err
	}
	for _, r := range rows {
		if _, err := tx.Exec(update, Fold(r.text), r.account, r.id); err != nil {
			return err
		}
	}
	return nil
}

// Ahead begins a query about each account that has some rows; from is FROM and WHERE of these. It steps from account to account
// in their index, whatever number of rows an account has, and the accounts without any cost nothing. The query goes on with a
// SELECT from the table ahead. Its last account_id is NULL.
func Ahead(from string) string {
	return `WITH RECURSIVE ahead (account_id) AS (SELECT min(account_id) ` + from + `
	UNION ALL SELECT (SELECT min(account_id) ` + from + ` AND account_id > ahead.account_id) FROM ahead WHERE ahead.account_id IS NOT NULL)`
}
