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

// address escapes a value at the position of an address. An http or https address keeps its form; characters that
// could end it become %XX. Any other value becomes a relative address that leads nowhere, so that it can be no command
// of the service such as Slack's <!channel>.
func (t *Target) address(s string) string {
	s = strings.TrimSpace(s)
	if !isURL.MatchString(s) {
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

// bare returns address for addresses in text, where _ and ~ may be formatting. nil stays nil.
func bare(address func(string) string) func(string) string {
	if address == nil {
		return nil
	}
	return func(s string) string { return strings.NewReplacer("_", "%5F", "~", "%7E").Replace(address(s)) }
}

// part escapes a value within an address.
func (t *Target) part(s string) string {
	if mentionAll[strings.ToLower(s)] { // <@all>
		return fmt.Sprintf("%%%02X%s", s[0], s[1:])
	}
	return percent(s, func(c byte) bool { return alphanumeric(c) || strings.IndexByte("-./:,@%", c) >= 0 })
}

// percent returns s with the bytes that may not occur as %XX.
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

// escaper writes one character of a line to b, escaped. before and after are its neighbours, 0 at the ends of the
// line; rest is the line from the character on.
type escaper func(b *strings.Builder, before, r, after rune, rest string)

// around escapes a line. Addresses go through address, so that they stay addresses that show where they lead; escape
// writes the characters between them. With a nil address, addresses are text like the rest.
func around(line string, address func(string) string, escape escaper) string {
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
			found := line[m[0]:end]
			if strings.HasPrefix(line[end:], ")") && strings.Count(found, "(") > strings.Count(found, ")") {
				end++ // the parenthesis belongs to the address
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
	if isWord(before) && isWord(after) {
		return false
	}
	return before == 0 || after == 0 || !unicode.IsSpace(before) || !unicode.IsSpace(after)
}

// alike maps characters of markup to characters that look like them and are no markup.
var alike = map[rune]rune{
	'*': '∗', '_': '＿', '~': '∼', '`': 'ˋ', '[': '［', ']': '］', '<': '＜', '>': '＞', '#': '＃', '@': '＠', '&': '＆',
	'-': '–', '+': '＋', '=': '＝', '.': '．', ')': '）', '!': '！', '|': '｜', '\\': '＼', ':': '：',
}

// begins reports whether a character at the beginning of a line marks a heading, a quotation, a rule, a list or a
// table. For 1. and 1) the character after the digits counts: see ordinal.
func begins(r rune) bool { return strings.ContainsRune("#>-+=|:", r) }

// ordinal matches the number of a list at the beginning of a line, such as 1. or 1) here.
var ordinal = regexp.MustCompile(`^\d+[.)]`)

// slackText escapes a line for mrkdwn. It writes an address as <URL>, which shows where it leads: with verbatim, Slack
// does not detect addresses.
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
			b.WriteRune(alike[r]) // &gt; begins a quotation too
		case r == '>':
			b.WriteString("&gt;")
		case r == '`', strings.ContainsRune("*_~", r) && delimits(before, after):
			b.WriteRune(alike[r])
		default:
			b.WriteRune(r)
		}
	})
}

// discordText escapes a line for Markdown, with backslashes.
func discordText(line string, address func(string) string) string {
	number := len(ordinal.FindString(line))
	return around(line, bare(address), func(b *strings.Builder, before, r, after rune, rest string) {
		switch {
		case strings.ContainsRune("\\*_~|`[]<>", r),
			before == 0 && begins(r),
			number > 0 && len(line)-len(rest) == number-1: // the character after the digits of a list
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '@' && !isWord(before):
			b.WriteRune(alike[r]) // no backslash helps with @everyone
		default:
			b.WriteRune(r)
		}
	})
}

// looseText escapes a line for Markdown without an escape: it replaces markup by characters that look like it.
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

// richText escapes a line for Rich: see Spans.
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
