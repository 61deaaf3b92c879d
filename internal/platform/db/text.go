package db

import (
	"fmt"
	"strings"
	"unicode"
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
