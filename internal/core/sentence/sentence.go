// Package sentence holds the sentences by which Tocsin explains what it did, each with a code: one table for the
// packages that write them, for the replies that carry them as data, and for the console, which shows them in another
// language.
//
// It is pure. It never reads a text: what is no sentence from the beginning has no code, and stays as it is.
package sentence

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
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
	Name     = 's' // any text, such as a name
	Names    = 'n' // names and sentences with commas between them
	Persons  = 'p' // likewise, with "and" before the last: persons, severities or methods
	Clock    = 'c' // a moment, such as Mon 23 Nov 09:00 (Europe/Berlin)
	Time     = 'h' // a time of day, such as 09:00
	Days     = 'y' // days of the week, and times of day
	Severity = 'g' // a severity
	Method   = 'm' // a method of notification
	Kind     = 'k' // a kind of objects, such as channel or escalate_rule
	Sentence = 'w' // another sentence of the table
	Text     = 'v' // another sentence of the table, or any text
)

// Data is a sentence as replies show it to programs: its code and its arguments in the order of its holes. An argument is
// an int64, a string, another *Data where a sentence holds one, or a list ([]any) of strings and *Data.
type Data struct {
	Code string `json:"code" doc:"Which sentence it is; see docs/sentences.md."`
	Args []any  `json:"args,omitempty" doc:"Its arguments, in the order of the English sentence: numbers, texts, other sentences as objects with code and args, and lists of these."`
}

// Patterns returns the table, in the order in which it is documented.
func Patterns() []Pattern {
	var all []Pattern
	for _, part := range [][]Pattern{decideTable, notifyTable, explainTable, lintTable, monitorTable, watchTable} {
		all = append(all, part...)
	}
	return all
}

// UnmarshalJSON reads a stored sentence. A code that is not of the table stays, as one of a newer version does.
func (s *Data) UnmarshalJSON(text []byte) error {
	if string(text) == "null" { // which leaves any value as it is
		return nil
	}
	d := jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if err := s.decode(d); err != nil {
		return err
	}
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return errStored
	}
	return nil
}

var errStored = errors.New("no stored sentence")

// decode reads a sentence in one pass, with all sentences in it.
func (s *Data) decode(d *jsontext.Decoder) error {
	*s = Data{}
	if begin, err := d.ReadToken(); err != nil || begin.Kind() != '{' {
		return cmp.Or(err, errStored)
	}
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return err
		}
		switch name.String() {
		case "code":
			err = s.decodeCode(d)
		case "args":
			s.Args, err = decodeArguments(d)
		default:
			err = d.SkipValue()
		}
		if err != nil {
			return err
		}
	}
	_, err := d.ReadToken()
	return err
}

func (s *Data) decodeCode(d *jsontext.Decoder) error {
	code, err := d.ReadToken()
	if err != nil || code.Kind() != '"' {
		return cmp.Or(err, errStored)
	}
	s.Code = code.String()
	return nil
}

func decodeArguments(d *jsontext.Decoder) (args []any, err error) {
	if begin, err := d.ReadToken(); err != nil || begin.Kind() != '[' {
		return nil, cmp.Or(err, errStored)
	}
	for d.PeekKind() != ']' {
		arg, err := decodeArgument(d)
		if err != nil {
			return nil, err
		}
		args = append(args, arg)
	}
	_, err = d.ReadToken()
	return args, err
}

func decodeArgument(d *jsontext.Decoder) (any, error) {
	switch d.PeekKind() {
	case '{':
		inner := new(Data)
		return inner, inner.decode(d)
	case '[':
		return decodeArguments(d)
	}
	token, err := d.ReadToken()
	switch {
	case err != nil:
		return nil, err
	case token.Kind() == '"':
		return token.String(), nil
	case token.Kind() == '0':
		return strconv.ParseInt(token.String(), 10, 64)
	}
	return nil, errStored
}

// English returns the sentence in words.
func (s *Data) English() string {
	p := patterns()[s.Code]
	if p == nil {
		if s.Code == "" && len(s.Args) == 1 { // of Raw
			text, _ := s.Args[0].(string)
			return text
		}
		return ""
	}
	texts := make([]string, len(p.kinds))
	for i := range min(len(p.kinds), len(s.Args)) {
		texts[i] = english(p.kinds[i], s.Args[i])
	}
	if s.Code == "sentence" || s.Code == "sentences" { // the text at its end may have a full stop of its own
		texts[0] = strings.TrimRight(texts[0], ". ")
	}
	return p.fill(texts)
}

// english returns an argument in words.
func english(kind byte, arg any) string {
	switch arg := arg.(type) {
	case *Data:
		return arg.English()
	case int64:
		return strconv.FormatInt(arg, 10)
	case string:
		return arg
	case []any:
		texts := make([]string, len(arg))
		for i, element := range arg {
			texts[i] = english(kind, element)
		}
		if last := len(texts) - 1; kind == Persons && last > 0 {
			return strings.Join(texts[:last], ", ") + " and " + texts[last]
		}
		return strings.Join(texts, ", ")
	}
	return ""
}

// Pattern returns the English pattern of the sentence, and the kinds of its holes.
func (s *Data) Pattern() (english string, kinds []byte) {
	p := patterns()[s.Code]
	if p == nil {
		return "", nil
	}
	return p.English, p.kinds
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
