package render

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

var (
	isURL = regexp.MustCompile(`(?i)^https?://[^/\s]`)
	// aURL is an address within text, without the punctuation that ends a sentence or a parenthesis around it.
	aURL = regexp.MustCompile(`\b(?i:https?)://[A-Za-z0-9](?:[!#-;=?-\[\]^_a-~]*[\w/=&#%+~-])?`)
)

// address writes what stands as an address: as it is when it is one, with what could end it as %XX. What is no
// address becomes part of one that leads nowhere, and no command of the service such as Slack's <!channel>.
func (t *Target) address(s string) string {
	if s = strings.TrimSpace(s); !isURL.MatchString(s) {
		return percent(s, func(c byte) bool { return alphanumeric(c) || strings.IndexByte("-./,", c) >= 0 })
	}
	s = percent(s, func(c byte) bool {
		return c > ' ' && c != 0x7f && strings.IndexByte("\"<>\\^`{}()[]*|", c) < 0 && strings.IndexByte(t.href, c) < 0
	})
	if t.amp != "" {
		s = strings.ReplaceAll(s, "&", t.amp)
	}
	return s
}

// bare makes of address one for an address that stands in text, where _ and ~ may be formatting.
func bare(address func(string) string) func(string) string {
	if address == nil {
		return nil
	}
	return func(s string) string { return strings.NewReplacer("_", "%5F", "~", "%7E").Replace(address(s)) }
}

// part writes what stands within an address.
func (t *Target) part(s string) string {
	if everybody[strings.ToLower(s)] { // <@all>
		return fmt.Sprintf("%%%02X%s", s[0], s[1:])
	}
	return percent(s, func(c byte) bool { return alphanumeric(c) || strings.IndexByte("-./:,@%", c) >= 0 })
}

// percent writes the bytes that may not stand as %XX.
func percent(s string, may func(byte) bool) string {
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; may(c) {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

func alphanumeric(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// around escapes a line: its addresses so that they stay addresses that show where they lead, and what is between.
// Without address they are text like all else. Of each character escape is told what stands before and after it in the line; 0: the line's end.
func around(line string, address func(string) string, escape func(b *strings.Builder, before, r, after rune, rest string)) string {
	var b strings.Builder
	at := 0
	text := func(end int) {
		before := lastRune(line[:at])
		for i, r := range line[at:end] {
			rest := line[at+i:]
			after, _ := utf8.DecodeRuneInString(rest[utf8.RuneLen(r):])
			if len(rest) == utf8.RuneLen(r) {
				after = 0
			}
			escape(&b, before, r, after, rest)
			before = r
		}
	}
	if address != nil {
		for _, m := range aURL.FindAllStringIndex(line, -1) {
			end := m[1]
			if found := line[m[0]:end]; strings.HasPrefix(line[end:], ")") && strings.Count(found, "(") > strings.Count(found, ")") {
				end++ // the parenthesis is the address's own
			}
			text(m[0])
			b.WriteString(address(line[m[0]:end]))
			at = end
		}
	}
	text(len(line))
	return b.String()
}

func lastRune(s string) rune {
	if s == "" {
		return 0
	}
	r, _ := utf8.DecodeLastRuneInString(s)
	return r
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// delimits reports whether a character such as * between these may begin or end formatting: not within a word, as
// in db_1, and not between spaces, as in 2 * 3.
func delimits(before, after rune) bool {
	return !(isWord(before) && isWord(after)) && !(before != 0 && after != 0 && unicode.IsSpace(before) && unicode.IsSpace(after))
}

// alike are characters that look like those of markup and are none.
var alike = map[rune]rune{
	'*': '∗', '_': '＿', '~': '∼', '`': 'ˋ', '[': '［', ']': '］', '<': '＜', '>': '＞', '#': '＃', '@': '＠', '&': '＆', '-': '–', '+': '＋', '=': '＝', '.': '．', ')': '）', '!': '！', '|': '｜', '\\': '＼', ':': '：',
}

// begins reports whether a character at the beginning of a line is read as a heading, a quotation, a rule, a list or
// a table. For 1. and 1) it is the character behind the digits that counts: see ordinal.
func begins(r rune) bool { return strings.ContainsRune("#>-+=|:", r) }

// ordinal is how many bytes of a line are the number of a list: 1. or 1)
var ordinal = regexp.MustCompile(`^\d+[.)]`)

// slackText is for mrkdwn, where <URL> is an address that shows where it leads: with verbatim, Slack finds none by
// itself.
func slackText(line string, address func(string) string) string {
	shown := address
	if address != nil {
		shown = func(s string) string { return "<" + address(s) + ">" }
	}
	return around(line, shown, func(b *strings.Builder, before, r, after rune, _ string) {
		switch {
		case r == '&':
			b.WriteString("&amp;")
		case r == '<':
			b.WriteString("&lt;")
		case r == '>' && before == 0:
			b.WriteRune(alike[r]) // &gt; is a quotation all the same
		case r == '>':
			b.WriteString("&gt;")
		case r == '`', strings.ContainsRune("*_~", r) && delimits(before, after):
			b.WriteRune(alike[r])
		default:
			b.WriteRune(r)
		}
	})
}

func discordText(line string, address func(string) string) string {
	number := len(ordinal.FindString(line))
	return around(line, bare(address), func(b *strings.Builder, before, r, after rune, rest string) {
		switch {
		case strings.ContainsRune("\\*_~|`[]<>", r), before == 0 && begins(r), number > 0 && len(line)-len(rest) == number-1:
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '@' && !isWord(before):
			b.WriteRune(alike[r]) // no backslash helps with @everyone
		default:
			b.WriteRune(r)
		}
	})
}

func looseText(line string, address func(string) string) string {
	number := len(ordinal.FindString(line))
	return around(line, bare(address), func(b *strings.Builder, before, r, after rune, rest string) {
		swap := false
		switch r {
		case '[', ']', '`', '|':
			swap = true
		case '\\':
			swap = after == 0 || !isWord(after)
		case '*', '_', '~':
			swap = delimits(before, after)
		case '<', '&':
			swap = after == 0 || !unicode.IsSpace(after) && !unicode.IsDigit(after)
		case '@':
			swap = !isWord(before)
		case '.', ')':
			swap = number > 0 && len(line)-len(rest) == number-1
		}
		if swap || before == 0 && begins(r) {
			r = alike[r]
		}
		b.WriteRune(r)
	})
}

func telegramText(line string, _ func(string) string) string {
	same := func(s string) string { return s } // Telegram finds no mention in an address
	return around(line, same, func(b *strings.Builder, before, r, _ rune, _ string) {
		if r == '@' && !isWord(before) {
			r = alike[r]
		}
		b.WriteRune(r)
	})
}

func richText(line string, _ func(string) string) string {
	return around(line, nil, func(b *strings.Builder, _, r, after rune, _ string) {
		switch {
		case strings.ContainsRune(special, r):
			b.WriteByte('\\')
		case r == '<' && (after == 0 || unicode.IsLetter(after) || after == '/'): // <at user_id="all">, which only other kinds of messages read
			r = alike[r]
		}
		b.WriteRune(r)
	})
}
