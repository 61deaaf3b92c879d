package architecture

import (
	"slices"
	"strings"
	"testing"
)

// touch is one table that a statement reads or writes.
type touch struct {
	table, alias string // without an alias, the table's name
	write        bool
}

// tokens splits a statement into words, quoted texts (one token that begins with the quote) and signs.
func tokens(text string) (all []string) {
	word := func(c byte) bool {
		return c == '_' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
	}
	for i := 0; i < len(text); {
		from := i
		switch c := text[i]; {
		case strings.HasPrefix(text[i:], "--"):
			for i < len(text) && text[i] != '\n' {
				i++
			}
			continue
		case c == ' ' || c == '\n' || c == '\t' || c == '\r':
			i++
			continue
		case c == '\'' || c == '"':
			for i++; i < len(text) && text[i] != c; i++ { // a doubled quote makes two tokens, which does no harm
			}
			i++
		case word(c):
			for i < len(text) && word(text[i]) {
				i++
			}
		default:
			i++
		}
		all = append(all, text[from:min(i, len(text))])
	}
	return all
}

// touches returns the tables that a statement, or a part of one, names after FROM, JOIN, INTO and UPDATE, in that
// order, with those of its subqueries. It leaves out names that WITH introduces, and names that known lacks.
func touches(text string, known map[string]bool) (all []touch) {
	words := tokens(text)
	at := func(i int) string {
		if i >= 0 && i < len(words) {
			return words[i]
		}
		return ""
	}
	named := map[string]bool{} // by WITH
	for i, w := range words {
		if (strings.EqualFold(w, "WITH") || strings.EqualFold(w, "RECURSIVE") || w == ",") && strings.EqualFold(at(i+2), "AS") && at(i+3) == "(" {
			named[at(i+1)] = true
		}
	}
	for i := 0; i < len(words); i++ {
		write := false
		switch words[i] { // keywords are in upper case: sentences for people have these words too
		case "FROM":
			write = at(i-1) == "DELETE"
		case "JOIN":
		case "INTO", "UPDATE":
			write = true
		default:
			continue
		}
		for next := i + 1; ; {
			name := at(next)
			if !known[name] || named[name] {
				break
			}
			alias := name
			next++
			if strings.EqualFold(at(next), "AS") {
				next++
			}
			if a := at(next); a != "" && word(a) && !slices.Contains(follows, strings.ToUpper(a)) {
				alias = a
				next++
			}
			all = append(all, touch{name, alias, write})
			if at(next) != "," {
				break
			}
			next++
		}
	}
	return all
}

func word(s string) bool {
	return s[0] == '_' || s[0] >= 'a' && s[0] <= 'z' || s[0] >= 'A' && s[0] <= 'Z'
}

// follows lists the words that may follow a table and are not its alias.
var follows = []string{"WHERE", "SET", "JOIN", "LEFT", "CROSS", "INNER", "ON", "ORDER", "GROUP", "LIMIT", "UNION", "VALUES", "SELECT", "RETURNING", "USING", "HAVING", "EXCEPT", "INDEXED", "DEFAULT", "NATURAL"}

func TestTouches(t *testing.T) {
	known := map[string]bool{"a": true, "b": true, "c": true, "d": true}
	for text, want := range map[string][]touch{
		`SELECT x FROM a WHERE y = 'FROM b'`:                                                    {{"a", "a", false}},
		`SELECT x FROM a p, b AS q JOIN c ON 1 WHERE EXISTS (SELECT 1 FROM d)`:                  {{"a", "p", false}, {"b", "q", false}, {"c", "c", false}, {"d", "d", false}},
		`INSERT INTO a (x) SELECT x FROM b ON CONFLICT (x) DO UPDATE SET x = 1`:                 {{"a", "a", true}, {"b", "b", false}},
		`DELETE FROM a WHERE x IN (SELECT x FROM b LIMIT 1)`:                                    {{"a", "a", true}, {"b", "b", false}},
		`UPDATE a SET x = (SELECT max(x) FROM c) WHERE NOT EXISTS (SELECT 1 FROM json_each(x))`: {{"a", "a", true}, {"c", "c", false}},
		`WITH b AS (SELECT 1 FROM a), c AS (SELECT 2) SELECT 1 FROM b JOIN c JOIN d`:            {{"a", "a", false}, {"d", "d", false}},
		` FROM a LEFT JOIN b ON a.x IS NOT NULL -- JOIN c`:                                      {{"a", "a", false}, {"b", "b", false}},
	} {
		if got := touches(text, known); !slices.Equal(got, want) {
			t.Errorf("%s\n  is %v\nwant %v", text, got, want)
		}
	}
}
