package apitest

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"sync"
	"testing"
)

// The public description of the API is not part of the project. The project has a digest of it (published.json): member
// names, types and enums without any prose, which Digest makes from the description (`make published`). The reply of
// every successful call in every test is checked against it.
//
//go:embed testdata/published.json
var digest []byte

// references reads the digest once for all tests of a package.
var references = sync.OnceValues(func() (docs []*published, err error) {
	return docs, json.Unmarshal(digest, &docs)
})

// published describes the replies of one version. An operation is in the newest version that has it.
type published struct {
	Replies map[string]*shape `json:"replies"` // the data of a successful reply, by path
	Shapes  map[string]*shape `json:"shapes"`  // what shapes refer to, by name
}

// shape is the part of a schema that the checker understands.
type shape struct {
	Ref        string            `json:"$ref,omitempty"` // the name of another shape
	Type       any               `json:"type,omitempty"` // a name or a list of names
	Nullable   bool              `json:"nullable,omitempty"`
	Properties map[string]*shape `json:"properties,omitempty"`
	Required   []string          `json:"required,omitempty"`
	Items      *shape            `json:"items,omitempty"`
	Enum       []any             `json:"enum,omitempty"`
	AllOf      []*shape          `json:"allOf,omitempty"`
	OneOf      []*shape          `json:"oneOf,omitempty"`
	AnyOf      []*shape          `json:"anyOf,omitempty"`
	Additional *shape            `json:"additionalProperties,omitempty"`
}

// departure is a value that replies hold on purpose although the reference's types do not allow it. It applies to the
// paths that begin with path and end with end.
type departure struct{ path, end, value, why string }

// The values of departures that stand for many.
const (
	absent   = "absent" // an object that may lack required members
	anObject = "object" // any object with members
)

const (
	shown   = "the reference's own examples have null here"
	oneOff  = "an override does not rotate"
	unset   = "the specification shows an application without it"
	flat    = "a filter comes back in the shape in which it was written"
	own     = "silences of responders are not in the reference"
	decided = "an empty window would read as one that is set (docs/api.md, 10)"
)

var departures = []departure{
	{"/schedule/", ".notify", "null", shown},
	{"/schedule/", ".notify.fixed_time", "null", shown},
	{"/schedule/", ".notify.by", "null", shown},
	{"/schedule/", ".notify.by.personal_channels", "null", shown},
	{"/schedule/", ".notify.webhooks", "null", shown},
	{"/schedule/", ".cur_oncall", "null", shown},
	{"/schedule/", ".next_oncall", "null", shown},
	{"/schedule/", ".layers", "null", shown},
	{"/schedule/", ".schedule_layers", "null", shown},
	{"/schedule/", ".layer_schedules", "null", shown},
	{"/schedule/", ".final_schedule.schedules", "null", shown},
	{"/schedule/", ".rotation_unit", "", oneOff},
	{"/rum/application/", ".tracing.open_type", "", unset},
	{"/channel/inhibit/rule/list", "_filters[]", anObject, flat},
	{"/alert/pipeline/", ".if[]", anObject, flat},
	{"/alert/pipeline/", ".source_filters[]", anObject, flat},
	{"/schedule/", ".notify.webhooks[].settings", absent, "clients expect just the members that they sent"},
	{"/channel/escalate/rule/info", "/channel/escalate/rule/info", "null", "a rule that is gone, as clients of the reference expect it"},
	{"/channel/silence/rule/list", ".time_filter", "null", decided},
	{"/alert/feed", ".type", "a_silence", own},
	{"/alert/feed", ".type", "a_undone", own},
	{"/incident/feed", ".type", "i_silence", own},
	{"/incident/feed", ".type", "i_undone", own},
	{"/incident/war-room/detail", "/incident/war-room/detail", "map[]", "the reference describes it in words, for a group that is gone"},
}

// departs reports whether the value at a path is a departure.
func departs(at string, v any) bool {
	text := fmt.Sprint(v)
	switch v := v.(type) {
	case nil:
		text = "null"
	case map[string]any:
		if len(v) > 0 {
			text = anObject
		}
	}
	return slices.ContainsFunc(departures, func(d departure) bool {
		return d.value == text && strings.HasPrefix(at, d.path) && strings.HasSuffix(at, d.end)
	})
}

// CheckReference checks the data of a successful reply against the published shapes, if they have the operation.
func CheckReference(t testing.TB, path string, data []byte) {
	t.Helper()
	docs, err := references()
	if err != nil {
		t.Fatal(err)
	}
	for _, doc := range docs {
		s := doc.Replies[path]
		if s == nil {
			continue
		}
		var v any
		d := json.NewDecoder(bytes.NewReader(data))
		d.UseNumber()
		if err := d.Decode(&v); err != nil {
			t.Fatal(err)
		}
		for _, finding := range doc.check(s, path, v) {
			t.Errorf("not as in the reference: %s", finding)
		}
		return
	}
}

// merged follows references and combines the parts of allOf.
func (d *published) merged(s *shape) *shape {
	if s == nil {
		return &shape{}
	}
	if s.Ref != "" {
		return d.merged(d.Shapes[s.Ref])
	}
	if len(s.AllOf) == 0 {
		return s
	}
	all := *s
	all.AllOf, all.Properties = nil, map[string]*shape{}
	for _, part := range append(s.AllOf, &shape{Properties: s.Properties, Required: s.Required}) {
		part = d.merged(part)
		for name, p := range part.Properties {
			all.Properties[name] = p
		}
		all.Required = append(all.Required, part.Required...)
		all.Nullable = all.Nullable || part.Nullable
		if all.Type == nil {
			all.Type = part.Type
		}
	}
	return &all
}

func (d *published) check(s *shape, at string, v any) (findings []string) {
	if departs(at, v) {
		return nil
	}
	s = d.merged(s)
	for _, choice := range [][]*shape{s.OneOf, s.AnyOf} {
		if len(choice) > 0 && !slices.ContainsFunc(choice, func(c *shape) bool { return len(d.check(c, at, v)) == 0 }) {
			return []string{fmt.Sprintf("%s fits none of the choices: %.100v", at, v)}
		}
	}
	if v == nil {
		if s.Nullable || s.Type == nil || slices.Contains(s.types(), "null") {
			return nil
		}
		return []string{fmt.Sprintf("%s is null, want %v", at, s.Type)}
	}
	if types := s.types(); len(types) > 0 && !slices.ContainsFunc(types, func(t string) bool { return is(t, v) }) {
		return []string{fmt.Sprintf("%s is %.100v, want %v", at, v, s.Type)}
	}
	if len(s.Enum) > 0 && !slices.ContainsFunc(s.Enum, func(e any) bool { return fmt.Sprint(e) == fmt.Sprint(v) }) {
		findings = append(findings, fmt.Sprintf("%s is %.100v, want one of %v", at, v, s.Enum))
	}
	switch v := v.(type) {
	case map[string]any:
		for _, name := range s.Required {
			if _, ok := v[name]; !ok && !departs(at, absent) {
				findings = append(findings, fmt.Sprintf("%s lacks %s", at, name))
			}
		}
		for name, member := range sorted(v) {
			if p := s.Properties[name]; p != nil {
				findings = append(findings, d.check(p, at+"."+name, member)...)
			} else if s.Additional != nil {
				findings = append(findings, d.check(s.Additional, at+".{}", member)...)
			}
		}
	case []any:
		for _, element := range v {
			findings = append(findings, d.check(s.Items, at+"[]", element)...)
		}
	}
	return findings
}

func (s *shape) types() (names []string) {
	switch t := s.Type.(type) {
	case string:
		names = []string{t}
	case []any:
		for _, name := range t {
			names = append(names, fmt.Sprint(name))
		}
	}
	return names
}

func is(name string, v any) bool {
	switch v := v.(type) {
	case bool:
		return name == "boolean"
	case string:
		return name == "string"
	case json.Number:
		f, ok := new(big.Rat).SetString(v.String())
		return ok && (name == "number" || name == "integer" && f.IsInt())
	case []any:
		return name == "array"
	case map[string]any:
		return name == "object"
	}
	return name == "null"
}
