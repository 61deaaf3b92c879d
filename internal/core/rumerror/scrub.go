package rumerror

import (
	"regexp"
	"strings"
)

// scrubbed are the private parts of texts that pages report, in the order in which they are replaced.
var scrubbed = []struct {
	pattern func() *regexp.Regexp
	by      string
}{
	{compiled(`(://[^\s?#'"<>)]*)[?#][^\s'"<>)]*`), "$1"}, // the query of an address
	{compiled(`://[^\s/?#'"@]+@`), "://"},                 // user and password of an address
	{compiled(`\beyJ[\w-]+\.[\w-]+(?:\.[\w-]*)?`), "<token>"},
	{compiled(`(?i)\b(bearer|basic)\s+[\w.~+/=-]{6,}`), "$1 <token>"},
	{compiled(`(?i)([\w.+-]*(?:pass(?:word|wd|phrase|code)?|pwd|secret|token|api[-_ ]?key|access[-_ ]?key|private[-_ ]?key|` +
		`authori[sz]ation|credentials?|session[-_ ]?id|sid|otp|cvv|cvc))(["'` + "`" + `]?\s*(?:[:=]|\bis\b)\s*)` +
		`(?:"[^"]{3,}"|'[^']{3,}'|[^\s"'<>,;&)\]}]{3,})`), "$1$2<hidden>"},
	{compiled(`[\w.+%-]+(?:@|%40)[\w-]+(?:\.[\w-]+)+`), "<email>"},
}

var (
	digitsApart = compiled(`\d(?:[ -]?\d){12,}`)
	longToken   = compiled(`[A-Za-z0-9_-]{24,}`)
)

// Scrub returns a text without what must not be in the subject of a message: passwords, tokens, numbers of payment cards and
// mail addresses, as far as their form shows them, and the queries of addresses. The text may come from any visitor of a page.
func Scrub(text string) string {
	for _, r := range scrubbed {
		text = r.pattern().ReplaceAllString(text, r.by)
	}
	text = digitsApart().ReplaceAllStringFunc(text, withoutCards)
	return longToken().ReplaceAllStringFunc(text, func(word string) string {
		digits := 0
		for _, c := range word {
			if c >= '0' && c <= '9' {
				digits++
			}
		}
		if digits >= 3 && digits < len(word) { // names of a program have few digits
			return "<token>"
		}
		return word
	})
}

// withoutCards replaces the numbers of payment cards in a run of digits that spaces or hyphens separate. Other numbers may stand
// directly beside one.
func withoutCards(run string) string {
	at := []int{0} // where parts of the run begin
	for i := range len(run) {
		if !isDigit(run[i]) {
			at = append(at, i+1)
		}
	}
	at = append(at, len(run)+1)
	var b strings.Builder
	for i := 0; i < len(at)-1; i++ {
		end := i + 1
		for j := i + 1; j < len(at) && at[j]-at[i] <= maxCard; j++ {
			if isCard(run[at[i] : at[j]-1]) {
				end = j
			}
		}
		part := run[at[i] : at[end]-1]
		if end > i+1 || isCard(part) {
			part = "<card>"
		}
		if b.WriteString(part); at[end]-1 < len(run) {
			b.WriteByte(run[at[end]-1])
		}
		i = end - 1
	}
	return b.String()
}

// maxCard is how long the number of a card with its separators may be, and one more.
const maxCard = 2 * 19

// isCard reports whether a number has the length and the check digit of payment cards.
func isCard(number string) bool {
	number = strings.NewReplacer(" ", "", "-", "").Replace(number)
	if len(number) < 13 || len(number) > 19 {
		return false
	}
	sum := 0
	for i := range len(number) {
		n := int(number[len(number)-1-i] - '0')
		if i%2 == 1 {
			if n *= 2; n > 9 {
				n -= 9
			}
		}
		sum += n
	}
	return sum%10 == 0
}
