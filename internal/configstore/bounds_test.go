package configstore

import (
	"strings"
	"testing"
)

type inside struct {
	Key string `json:"key" maxLength:"3"`
}

type record struct {
	inside
	Texts  []string            `json:"texts" maxItems:"2" maxLength:"4"`
	Nested *[][]string         `json:"nested" maxItems:"2" innerMaxItems:"1" maxLength:"4"`
	Map    map[string]string   `json:"map" maxProperties:"1" maxLength:"4"`
	Lists  map[string][]string `json:"lists" innerMaxItems:"1"`
	Parts  []inside            `json:"parts"`
	Bytes  []byte              `json:"bytes" maxItems:"1"`
	Free   string              `json:"free"`
	Kind   string              `json:"kind" enum:"a,b"`
	Kinds  []string            `json:"kinds" enum:"a,b"`
	Code   string              `json:"code" pattern:"^[0-9]+$" patternDescription:"digits"`
	Bare   string              `json:"bare" pattern:"^[0-9]+$"`
}

func TestBounds(t *testing.T) {
	long := strings.Repeat("ü", 5)
	for want, v := range map[string]record{
		"": {inside: inside{"üüü"}, Texts: []string{"a", "üüüü"}, Nested: &[][]string{{"a"}, {}}, Map: map[string]string{"a": ""}, Bytes: []byte("abc"), Free: long},
		"r.key: must have at most 3 characters, got 5":          {inside: inside{long}},
		"r.texts: must have at most 2 elements, got 3":          {Texts: []string{"", "", ""}},
		"r.texts[1]: must have at most 4 characters, got 5":     {Texts: []string{"", long}},
		"r.nested[0]: must have at most 1 elements, got 2":      {Nested: &[][]string{{"", ""}}},
		"r.nested[0][0]: must have at most 4 characters, got 5": {Nested: &[][]string{{long}}},
		"r.map: must have at most 1 members, got 2":             {Map: map[string]string{"a": "", "b": ""}},
		"r.map.a: must have at most 4 characters, got 5":        {Map: map[string]string{"a": long}},
		"r.lists.a: must have at most 1 elements, got 2":        {Lists: map[string][]string{"a": {"", ""}}},
		"r.parts[1].key: must have at most 3 characters, got 5": {Parts: []inside{{}, {long}}},
		"r.kind: must be one of a, b, got \"c\"":                {Kind: "c"},
		"r.kinds[1]: must be one of a, b, got \"c\"":            {Kinds: []string{"a", "c"}},
		"r.code: must be digits, got \"x\"":                     {Code: "x"},
		"r.bare: must be ^[0-9]+$, got \"x\"":                   {Bare: "x"},
	} {
		got := ""
		if err := RecordPath("r").Bounds(&v); err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) || want == "" && got != "" {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// TestBoundsOfValidRecordAllocateLittle: what the tags state is read once for a type and not for each record.
func TestBoundsOfValidRecordAllocateLittle(t *testing.T) {
	v := record{inside: inside{"üüü"}, Texts: []string{"a", "b"}, Kind: "a", Code: "12", Bare: "1"}
	const most = 10 // a path for each member and element that is set
	if n := testing.AllocsPerRun(10, func() {
		if err := RecordPath("r").Bounds(&v); err != nil {
			t.Fatal(err)
		}
	}); n > most {
		t.Errorf("%.0f allocations, want at most %d", n, most)
	}
}
