package db

import (
	"fmt"
	"strings"
	"unicode"
)

// Fold takes the difference between upper and lower case out of a text, in every script: of the
// characters that are the same but for case it puts the first in the order of Unicode. Columns named
// *_folded hold folded text, because engines fold no more than ASCII.
func Fold(s string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			least = min(least, next)
		}
		return least
	}, s)
}

// Containing is the pattern of folded texts that contain this one, for LIKE $n ESCAPE '\'. The empty text
// is in all of them: its pattern is %%, which queries test first because LIKE reads the whole text.
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

// Refold fills in folded columns that a migration left empty, because engines cannot fold: the query reads
// account, id and text of such rows, the update writes folded text, account and id ($1 to $3).
func Refold[ID int64 | string](tx *Tx, query, update string) error {
	type row struct {
		account int64
		id      ID
		text    string
	}
	rows, err := All(tx, func(scan Scan) (r row, err error) { return r, scan(&r.account, &r.id, &r.text) }, query)
	for i := 0; i < len(rows) && err == nil; i++ {
		_, err = tx.Exec(update, Fold(rows[i].text), rows[i].account, rows[i].id)
	}
	return err
}
