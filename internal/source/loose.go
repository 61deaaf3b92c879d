package source

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"tocsin/internal/core/event"
)

// Read decodes JSON of another system leniently: a broken character or a duplicate name must not cost a
// notification. Texts may then hold anything; the caller passes them through Clean.
func Read(body []byte, into any) error {
	return json.Unmarshal(body, into, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
}

// Text is a member that some senders write as a string and others as a number or a boolean.
type Text string

// UnmarshalJSON reads a string, a number, a boolean or null; any other value is kept as JSON text.
func (t *Text) UnmarshalJSON(b []byte) error {
	switch jsontext.Value(b).Kind() {
	case 'n':
		*t = ""
	case '"':
		var s string
		if err := Read(b, &s); err != nil {
			return err
		}
		*t = Text(s)
	default:
		*t = Text(strings.TrimSpace(string(b)))
	}
	return nil
}

// Number returns the text as a whole number; ok is false if it is none.
func (t Text) Number() (n int64, ok bool) {
	n, err := strconv.ParseInt(strings.TrimSpace(string(t)), 10, 64)
	return n, err == nil
}

// Tags are labels that some senders write as an object, others as a list of {tag, value} or {key, value}, of
// pairs, or of strings such as "name:value", and some as a string that holds any of these.
type Tags map[string]string

// UnmarshalJSON reads all of these forms and ignores any other value. It returns no error.
func (t *Tags) UnmarshalJSON(b []byte) error {
	*t = Tags{}
	t.read(b, true)
	return nil
}

// read adds the labels of a value. whole is false for JSON from within a string, which may not hold such a
// string itself: the depth of recursion is bounded so.
func (t *Tags) read(b []byte, whole bool) {
	switch jsontext.Value(b).Kind() {
	case '{':
		var object map[string]Text
		if Read(b, &object) == nil {
			for name, value := range object {
				(*t)[name] = string(value)
			}
		}
	case '[':
		var list []jsontext.Value
		if Read(b, &list) == nil {
			for _, item := range list {
				t.item(item)
			}
		}
	case '"':
		var s string
		if Read(b, &s) != nil {
			return
		}
		s = strings.TrimSpace(s)
		if whole && isJSON(s) {
			t.read([]byte(s), false)
			return
		}
		for pair := range strings.SplitSeq(s, ",") {
			t.pair(pair)
		}
	}
}

// isJSON reports whether a string is a JSON list or object, as leniently as Read.
func isJSON(s string) bool {
	return (strings.HasPrefix(s, "[") || strings.HasPrefix(s, "{")) &&
		jsontext.Value(s).IsValid(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
}

// item adds the label of one item of a list.
func (t *Tags) item(item jsontext.Value) {
	switch item.Kind() {
	case '{':
		var o struct {
			Tag   Text `json:"tag"`
			Key   Text `json:"key"`
			Name  Text `json:"name"`
			Value Text `json:"value"`
		}
		if Read(item, &o) == nil {
			for _, name := range []Text{o.Tag, o.Key, o.Name} {
				if name != "" {
					t.add(string(name), string(o.Value))
					return
				}
			}
		}
	case '[':
		var pair []Text
		if Read(item, &pair) == nil && len(pair) == 2 {
			t.add(string(pair[0]), string(pair[1]))
		}
	case '"':
		var s string
		if Read(item, &s) == nil {
			t.pair(s)
		}
	}
}

// pair adds a label written as name:value or name=value, or as a name alone.
func (t *Tags) pair(s string) {
	name, value, found := strings.Cut(s, ":")
	if !found {
		name, value, _ = strings.Cut(s, "=")
	}
	name = strings.TrimSpace(name)
	if name != "" {
		t.add(name, strings.TrimSpace(value))
	}
}

// add sets a label. The values of a tag that occurs several times, as Zabbix allows, are joined by a comma.
func (t *Tags) add(name, value string) {
	before, there := (*t)[name]
	switch {
	case !there || before == "":
		(*t)[name] = value
	case before != value && value != "" && len(before) < event.MaxLabelValue:
		(*t)[name] = before + ", " + value
	}
}

// Flat adds the members of an object to into as labels. Members of inner objects, down to the third level, are
// named by their path with dots. Lists and deeper objects are kept as JSON text; null is left out. Labels that
// into holds already are kept.
func Flat(object jsontext.Value, into map[string]string) { flat("", object, into, 3) }

func flat(prefix string, object jsontext.Value, into map[string]string, depth int) {
	var members map[string]jsontext.Value
	if object.Kind() != '{' || Read(object, &members) != nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		member := members[name]
		full := prefix + name
		if member.Kind() == '{' && depth > 1 {
			flat(full+".", member, into, depth-1)
			continue
		}
		var value Text
		if _, there := into[full]; !there && member.Kind() != 'n' && Read(member, &value) == nil {
			into[full] = string(value)
		}
	}
}
