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
