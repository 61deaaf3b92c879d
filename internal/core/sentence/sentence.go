// Package sentence holds the sentences by which Tocsin explains what it did, each with a code: one table for the
// packages that write them, for the replies that carry them as data, and for the console, which shows them in another
// language.
//
// It is pure. A sentence that it does not know is never guessed at: it has no code, and stays as it is.
package sentence

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Pattern is a sentence with holes for its arguments.
type Pattern struct {
	Code    string // part of the API: it does not change
	English string // with verbs; see the kinds of holes
}

// The kinds of holes: a percent sign and one of these letters.
const (
	Number   = 'd' // an integer
	Quoted   = 'q' // a text in quotes, which stay
	Token    = 't' // a text without spaces: an id, a field, a word of the API
	Name     = 's' // any text: it is never read as a sentence, because it may be of strangers
	Names    = 'n' // names and sentences with commas between them
	Persons  = 'p' // likewise, with "and" before the last: persons, severities or methods
	Clock    = 'c' // a moment, such as Mon 23 Nov 09:00 (Europe/Berlin)
	Time     = 'h' // a time of day, such as 09:00
	Days     = 'y' // days of the week, and times of day
	Severity = 'g' // a severity
	Method   = 'm' // a method of notification
	Operator = 'o' // IN or NOTIN
	Kind     = 'k' // a kind of objects, such as channel or escalate_rule
	Sentence = 'w' // another sentence of the table
	Text     = 'v' // another sentence of the table, or any text
)

// Data is a sentence as data: its code and its arguments in the order of its holes. An argument is an int64, a string, or
// another *Data where a sentence holds one.
type Data struct {
	Code string `json:"code" doc:"Which sentence it is; see docs/sentences.md."`
	Args []any  `json:"args,omitempty" doc:"Its arguments, in the order of the English sentence: numbers, texts, and other sentences as objects with code and args."`
}

// Patterns returns the table, in the order in which it is documented.
func Patterns() []Pattern {
	var all []Pattern
	for _, part := range [][]Pattern{decideTable, notifyTable, explainTable, lintTable, monitorTable, watchTable} {
		all = append(all, part...)
	}
	return all
}

// Of returns a sentence in English. The code must be of the table, with as many arguments as it has holes; anything else
// is a mistake in the program, and a test of the whole source finds it.
func Of(code string, args ...any) string {
	p := patterns().byCode[code]
	if p == nil || len(args) != len(p.kinds) {
		panic(fmt.Sprintf("sentence %q with %d arguments", code, len(args)))
	}
	if len(args) == 0 {
		return p.english
	}
	texts := make([]string, len(args))
	for i, arg := range args {
		texts[i] = fmt.Sprint(arg)
		if p.kinds[i] == Quoted {
			texts[i] = fmt.Sprintf("%.100q", texts[i])
		}
	}
	return p.fill(texts)
}

// New returns a sentence as data, for packages that store their reasons so. Of has the rules for its arguments.
func New(code string, args ...any) Data {
	p := patterns().byCode[code]
	if p == nil || len(args) != len(p.kinds) {
		panic(fmt.Sprintf("sentence %q with %d arguments", code, len(args)))
	}
	data := Data{Code: code}
	if len(args) > 0 {
		data.Args = make([]any, 0, len(args))
	}
	for i, arg := range args {
		switch arg := arg.(type) {
		case int64, *Data:
			data.Args = append(data.Args, arg)
		case int:
			data.Args = append(data.Args, int64(arg))
		default:
			text := fmt.Sprint(arg)
			if p.kinds[i] == Quoted {
				text = fmt.Sprintf("%.100q", text)
			}
			data.Args = append(data.Args, text)
		}
	}
	return data
}

// UnmarshalJSON reads a stored sentence. A code that is not of the table stays, as one of a newer version does.
func (s *Data) UnmarshalJSON(text []byte) error {
	var stored struct {
		Code string            `json:"code"`
		Args []json.RawMessage `json:"args"`
	}
	if err := json.Unmarshal(text, &stored); err != nil {
		return err
	}
	read := Data{Code: stored.Code}
	for _, arg := range stored.Args {
		var value any
		switch {
		case len(arg) > 0 && arg[0] == '{':
			value = new(Data)
		case len(arg) > 0 && arg[0] == '"':
			value = new(string)
		default:
			value = new(int64)
		}
		if err := json.Unmarshal(arg, value); err != nil {
			return err
		}
		switch value := value.(type) {
		case *string:
			read.Args = append(read.Args, *value)
		case *int64:
			read.Args = append(read.Args, *value)
		default:
			read.Args = append(read.Args, value)
		}
	}
	*s = read
	return nil
}

// English returns the sentence in words: those that it was read from.
func (s *Data) English() string {
	p := patterns().byCode[s.Code]
	if p == nil {
		return ""
	}
	texts := make([]string, len(s.Args))
	for i, arg := range s.Args {
		switch arg := arg.(type) {
		case *Data:
			texts[i] = arg.English()
		case int64:
			texts[i] = strconv.FormatInt(arg, 10)
		case string:
			texts[i] = arg
		}
	}
	return p.fill(texts)
}

// Pattern returns the English pattern of the sentence, and the kinds of its holes.
func (s *Data) Pattern() (english string, kinds []byte) {
	p := patterns().byCode[s.Code]
	if p == nil {
		return "", nil
	}
	return p.english, p.kinds
}

// fill returns the sentence with its arguments.
func (p *pattern) fill(args []string) string {
	var b strings.Builder
	b.WriteString(p.literals[0])
	for i := range p.kinds {
		if i < len(args) {
			b.WriteString(args[i])
		}
		b.WriteString(p.literals[i+1])
	}
	return b.String()
}

// Fill returns a text with the holes of a pattern, in any language, filled in. A hole may name its argument, counted from
// 1: %[2]s.
func Fill(text string, args []string) string {
	var b strings.Builder
	next := 0
	for {
		before, after, found := strings.Cut(text, "%")
		b.WriteString(before)
		if !found || after == "" {
			return b.String()
		}
		if number, rest, ok := strings.Cut(after, "]"); ok && after[0] == '[' && rest != "" {
			n, _ := strconv.Atoi(number[1:])
			next, after = n-1, rest
		}
		if next >= 0 && next < len(args) {
			b.WriteString(args[next])
		}
		next, text = next+1, after[1:]
	}
}
