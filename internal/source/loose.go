package source

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Text is a member that some senders write as a text and others as a number or a boolean.
type Text string

// UnmarshalJSON takes a text, a number, a boolean or null; anything else is kept as the JSON it is.
func (t *Text) UnmarshalJSON(b []byte) error {
	v := jsontext.Value(b)
	switch v.Kind() {
	case 'n':
		*t = ""
	case '"':
		var s string
		if err := json.Unmarshal(b, &s); err != nil {
			return err
		}
		*t = Text(s)
	default:
		*t = Text(strings.TrimSpace(string(b)))
	}
	return nil
}

// Tags are labels that some senders write as an object, others as a list of {tag, value} or {key, value}, of
// pairs, or of texts such as "name:value".
type Tags map[string]string

// UnmarshalJSON takes all of these; what is none of them is left out.
func (t *Tags) UnmarshalJSON(b []byte) error {
	*t = Tags{}
	v := jsontext.Value(b)
	switch v.Kind() {
	case '{':
		var object map[string]Text
		if err := json.Unmarshal(b, &object); err != nil {
			return err
		}
		for name, value := range object {
			(*t)[name] = string(value)
		}
	case '[':
		var list []jsontext.Value
		if err := json.Unmarshal(b, &list); err != nil {
			return err
		}
		for _, item := range list {
			t.add(item)
		}
	case '"':
		var s string
		if err := json.Unmarshal(b, &s); err != nil {
			return err
		}
		for _, pair := range strings.Split(s, ",") {
			t.pair(strings.TrimSpace(pair))
		}
	}
	return nil
}

func (t *Tags) add(item jsontext.Value) {
	switch item.Kind() {
	case '{':
		var o struct {
			Tag   Text `json:"tag"`
			Key   Text `json:"key"`
			Name  Text `json:"name"`
			Value Text `json:"value"`
		}
		if json.Unmarshal(item, &o) == nil {
			for _, name := range []Text{o.Tag, o.Key, o.Name} {
				if name != "" {
					(*t)[string(name)] = string(o.Value)
					return
				}
			}
		}
	case '[':
		var pair []Text
		if json.Unmarshal(item, &pair) == nil && len(pair) == 2 {
			(*t)[string(pair[0])] = string(pair[1])
		}
	case '"':
		var s string
		if json.Unmarshal(item, &s) == nil {
			t.pair(s)
		}
	}
}

func (t *Tags) pair(s string) {
	name, value, found := strings.Cut(s, ":")
	if !found {
		name, value, _ = strings.Cut(s, "=")
	}
	if name = strings.TrimSpace(name); name != "" {
		(*t)[name] = strings.TrimSpace(value)
	}
}

// Number reads a text as a whole number; ok is false when it is none.
func (t Text) Number() (n int64, ok bool) {
	n, err := strconv.ParseInt(strings.TrimSpace(string(t)), 10, 64)
	return n, err == nil
}

// Flat makes labels of an object, nested ones by names joined with dots, at most three deep.
func Flat(prefix string, value any, into map[string]string) { flat(prefix, value, into, 3) }

func flat(prefix string, value any, into map[string]string, depth int) {
	switch v := value.(type) {
	case map[string]any:
		if depth == 0 {
			return
		}
		for name, inner := range v {
			if prefix != "" {
				name = prefix + "." + name
			}
			flat(name, inner, into, depth-1)
		}
	case nil, []any:
	case string:
		into[prefix] = v
	case float64:
		into[prefix] = strconv.FormatFloat(v, 'f', -1, 64)
	default:
		into[prefix] = fmt.Sprint(v)
	}
}
