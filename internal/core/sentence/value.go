package sentence

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Value is a sentence from the moment it is made until it is shown: its code and its arguments as JSON, which is how it is
// stored, or a text that is no sentence of the table. It is shown by English, or by Data in another language. Values can be
// compared, and the empty one is no sentence.
//
// Only New and Raw make a Value, and a row that holds one. A name or a service's answer in it, whatever it looks like,
// stays an argument.
type Value string

// begins is what the JSON of a sentence begins with, and what no text that Raw leaves as it is begins with.
const begins = `{"code":`

// New returns a sentence. The code must be of the table, with as many arguments as it has holes; anything else is a mistake
// in the program, and a test of the whole source finds it. An argument is a number, a text, a Value, or a list of texts or
// Values.
func New(code string, args ...any) Value {
	p := patterns()[code]
	if p == nil || len(args) != len(p.kinds) {
		panic(fmt.Sprintf("sentence %q with %d arguments", code, len(args)))
	}
	size := len(begins) + len(code) + 16
	for _, arg := range args {
		switch arg := arg.(type) {
		case string:
			size += len(arg) + 8
		case Value:
			size += len(arg) + 1
		}
	}
	b := append(append(make([]byte, 0, size), begins...), '"')
	b = append(append(b, code...), '"')
	for i, arg := range args {
		if i == 0 {
			b = append(b, `,"args":[`...)
		} else {
			b = append(b, ',')
		}
		b = appendArgument(b, p.kinds[i], arg)
	}
	if len(args) > 0 {
		b = append(b, ']')
	}
	return Value(append(b, '}'))
}

func appendArgument(b []byte, kind byte, arg any) []byte {
	switch arg := arg.(type) {
	case int64:
		return strconv.AppendInt(b, arg, 10)
	case int:
		return strconv.AppendInt(b, int64(arg), 10)
	case Value:
		if strings.HasPrefix(string(arg), begins) {
			return append(b, arg...)
		}
		return appendText(b, string(arg))
	case []Value:
		return appendList(b, kind, arg)
	case []string:
		return appendList(b, kind, arg)
	}
	text, is := arg.(string)
	if !is {
		text = fmt.Sprint(arg)
	}
	if kind == Quoted {
		text = quoted(text)
	}
	return appendText(b, text)
}

// maxQuoted bounds a text in quotes, in bytes.
const maxQuoted = 100

func quoted(text string) string {
	if len(text) > maxQuoted {
		text = strings.ToValidUTF8(text[:maxQuoted], "") + "..."
	}
	return strconv.Quote(text)
}

func appendList[T any](b []byte, kind byte, list []T) []byte {
	b = append(b, '[')
	for i, element := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendArgument(b, kind, element)
	}
	return append(b, ']')
}

// appendText appends the JSON of a text, the same as encoding/json, which keeps a sentence in a row or a reply as it is.
func appendText(b []byte, text string) []byte {
	if !printable(text) {
		encoded, err := json.Marshal(text)
		if err != nil {
			panic(err) // every text has an encoding
		}
		return append(b, encoded...)
	}
	const digits = "0123456789abcdef"
	b = append(b, '"')
	for i := range len(text) { // most texts come here, and reasons are made for every event
		switch c := text[i]; c {
		case '"', '\\':
			b = append(b, '\\', c)
		case '<', '>', '&':
			b = append(append(b, `\u00`...), digits[c>>4], digits[c&15])
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}

// printable reports whether a text has printable characters of ASCII alone.
func printable(text string) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' {
			return false
		}
	}
	return true
}

// Raw returns a text that is no sentence of the table, such as the answer of a service.
func Raw(text string) Value {
	if strings.HasPrefix(text, begins) {
		return Value(append(appendText([]byte(begins+`"","args":[`), text), "]}"...))
	}
	return Value(text)
}

// Join returns sentences and texts with semicolons between them. Empty ones are left out.
func Join(all ...Value) (joined Value) {
	var parts []Value
	for _, v := range all {
		parts = append(parts, Split(v)...)
	}
	for i, part := range slices.Backward(parts) {
		if i == len(parts)-1 {
			joined = part
		} else {
			joined = New("either", part, joined)
		}
	}
	return joined
}

// Paragraph returns sentences one after the other, each with a full stop. Empty ones are left out.
func Paragraph(all ...Value) (text Value) {
	for _, v := range slices.Backward(all) {
		switch {
		case v == "":
		case text == "":
			text = New("sentence", v)
		default:
			text = New("sentences", v, text)
		}
	}
	return text
}

// Split returns the parts that Join joined.
func Split(v Value) (parts []Value) {
	for v.Is("either") {
		args := v.Data().Args
		if len(args) != 2 {
			break
		}
		parts = append(parts, valueOf(args[0]))
		v = valueOf(args[1])
	}
	if v != "" {
		parts = append(parts, v)
	}
	return parts
}

// Arg returns an argument that is a sentence or a text; empty: the sentence has no such argument.
func (v Value) Arg(i int) Value {
	args := v.Data().Args
	if i >= len(args) {
		return ""
	}
	return valueOf(args[i])
}

// valueOf returns an argument as a Value.
func valueOf(arg any) Value {
	switch arg := arg.(type) {
	case *Data:
		encoded, err := json.Marshal(arg)
		if err != nil {
			panic(err) // arguments are numbers, texts, sentences and lists of these
		}
		return Value(encoded)
	case string:
		return Raw(arg)
	}
	return ""
}

// Value returns the sentence as it is stored.
func (s *Data) Value() Value { return valueOf(s) }

// Of returns a sentence in English, with the arguments of New.
func Of(code string, args ...any) string { return New(code, args...).English() }

// Data returns the sentence for programs and other languages. It is zero when there is none of the table: then the text is
// all there is.
func (v Value) Data() (s Data) {
	if !strings.HasPrefix(string(v), begins) {
		return s
	}
	if err := s.UnmarshalJSON([]byte(v)); err != nil || patterns()[s.Code] == nil {
		return Data{}
	}
	return s
}

// English returns the sentence in words, or the text that is no sentence.
func (v Value) English() string {
	if !strings.HasPrefix(string(v), begins) {
		return string(v)
	}
	var s Data
	if err := s.UnmarshalJSON([]byte(v)); err != nil {
		return string(v)
	}
	if s.Code != "" && patterns()[s.Code] == nil { // of a newer version
		return string(v)
	}
	return s.English()
}

// String returns English: a log, an error or a message that formats a Value never shows how it is stored.
func (v Value) String() string { return v.English() }

// Edit returns the sentence with each of its texts changed, such as to hide secrets. Its own words stay.
func (v Value) Edit(change func(text string) string) Value {
	if !strings.HasPrefix(string(v), begins) {
		return Raw(change(string(v)))
	}
	var s Data
	if err := s.UnmarshalJSON([]byte(v)); err != nil {
		return Raw(change(string(v)))
	}
	edit(s.Args, change)
	return valueOf(&s)
}

func edit(args []any, change func(text string) string) {
	for i, arg := range args {
		switch arg := arg.(type) {
		case string:
			args[i] = change(arg)
		case *Data:
			edit(arg.Args, change)
		case []any:
			edit(arg, change)
		}
	}
}

// Is reports whether the sentence has a code.
func (v Value) Is(code string) bool {
	rest, found := strings.CutPrefix(string(v), begins+`"`+code+`"`)
	return found && rest != ""
}

// MarshalJSON returns the sentence as an object, and a text that is none as a string. Replies show English and Data instead.
func (v Value) MarshalJSON() ([]byte, error) {
	if strings.HasPrefix(string(v), begins) {
		return []byte(v), nil
	}
	return appendText(nil, string(v)), nil
}

// UnmarshalJSON reads what MarshalJSON wrote. A string is a text of an earlier version, or of a service.
func (v *Value) UnmarshalJSON(text []byte) error {
	if len(text) == 0 || text[0] != '{' {
		var raw string
		if err := json.Unmarshal(text, &raw); err != nil {
			return err
		}
		*v = Raw(raw)
		return nil
	}
	var s Data
	if err := s.UnmarshalJSON(text); err != nil {
		return err
	}
	encoded, err := json.Marshal(s)
	*v = Value(encoded)
	return err
}

// Shown returns sentences as replies show them: in English, and as data.
func Shown(values []Value) (words []Words, data []Data) {
	data = make([]Data, len(values))
	for i, v := range values {
		data[i] = v.Data()
	}
	if values == nil {
		values = []Value{}
	}
	return ToWords(values), data
}
