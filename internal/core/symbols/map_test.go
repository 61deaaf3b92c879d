package symbols_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"tocsin/internal/core/stack"
	"tocsin/internal/core/symbols"
)

func TestWhatIsRefused(t *testing.T) {
	for text, says := range map[string]string{
		``:                                               "not a JSON object",
		`[]`:                                             "not a JSON object",
		`{"version":3`:                                   "not a JSON object",
		`{"version":2,"mappings":""}`:                    "version must be 3, got 2",
		`{"mappings":""}`:                                "version must be 3, got 0",
		`{"version":"3"}`:                                "version",
		`{"version":3,"mappings":5}`:                     "mappings",
		`{"version":3,"mappings":"!"}`:                   "mappings cannot be read at 0: '!' is no digit",
		`{"version":3,"mappings":"AA"}`:                  "2 numbers",
		`{"version":3,"mappings":"AAAAAA"}`:              "more than 5 numbers",
		`{"version":3,"mappings":"g"}`:                   "no end",
		`{"version":3,"mappings":"ggggggggA"}`:           "32 bits",
		`{"version":3,"mappings":"+/////D"}`:             "",
		`{"version":3,"sources":{},"mappings":""}`:       "sources must be a list",
		`{"version":3,"sources":[5],"mappings":""}`:      "sources must hold texts",
		`{"version":3,"names":[["deep"]],"mappings":""}`: "names must hold texts",
		`{"version":3,"sections":[{"offset":{"line":0,"column":0},"url":"x"}]}`:                                    "without sections",
		`{"version":3,"sections":[{"map":{"version":3,"mappings":"","sections":[]}}]}`:                             "without sections",
		`{"version":3,"sections":[{"offset":{"line":-1},"map":{"version":3,"mappings":""}}]}`:                      "from 0",
		`{"version":3,"sections":[{"offset":{"line":1e99},"map":{"version":3,"mappings":""}}]}`:                    "offset/line",
		`{"version":3,"sources":["a"],"names":[` + strings.Repeat(`"",`, 1<<20) + `""],"mappings":""}`:             "at most 1048576 elements",
		`{"version":3,"sections":[` + strings.Repeat(`{"map":{"version":3}},`, 10_000) + `{"map":{"version":3}}]}`: "more than 10000 elements",
		strings.Repeat("[", 1<<20):         "not a JSON object",
		strings.Repeat(" ", 16<<20) + "{}": "at most 16777216 bytes, got 16777218",
	} {
		_, err := symbols.Parse([]byte(text))
		if says == "" && err == nil {
			continue
		}
		if err == nil || says == "" || !strings.Contains(err.Error(), says) {
			t.Errorf("%.80s: got %v, want %q", text, err, says)
		}
	}
}

// A map that only some tools would refuse is read: what is out of range has no place, the rest has one.
func TestDefectiveMapsAreOfUse(t *testing.T) {
	m := parsed(t, ")]}'\n"+`{"version":3,"sources":["a.ts"],"names":["n"],"names":["f"],"x_other":[1],"mappings":"AAAAA,CEAA,CFAA,CAAAC,CAAAD,CAHA,GDAA"}`)
	want := []string{"a.ts:1:0 f", "none", "a.ts:1:0", "a.ts:1:0", "a.ts:1:0 f", "none"}
	for i, want := range want {
		if got := shown(m.Find([]symbols.Position{{1, i + 1}})[0]); got != want {
			t.Errorf("column %d: got %s, want %s", i+1, got, want)
		}
	}
}

// A map costs no more memory than a small multiple of its text, however its mappings expand.
func TestMappingsTakeNoMemory(t *testing.T) {
	text := `{"version":3,"sources":["a.ts"],"mappings":"` + strings.Repeat("AAAA,", 1<<20) + strings.Repeat(";", 1<<20) + `"}`
	m := parsed(t, text)
	if m.Size() > len(text)+1<<10 {
		t.Errorf("%d bytes of text take %d", len(text), m.Size())
	}
	if allocated := testing.AllocsPerRun(2, func() { m.Find([]symbols.Position{{1, 9}, {1 << 19, 1}}) }); allocated > 50 {
		t.Errorf("Find allocates %v times", allocated)
	}
}

func FuzzParse(f *testing.F) {
	text, err := os.ReadFile("testdata/app.min.js.map")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(`{"version":3,"sections":[{"offset":{"line":1,"column":10},"map":{"version":3,"sources":["b.ts"],"names":["g"],"mappings":"AAAAA;AACA"}}]}`))
	f.Add([]byte(`{"version":3,"sources":["a.ts"],"sourcesContent":["x\ny"],"ignoreList":[0],"mappings":"AAAA,CCAA,CAHD"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := symbols.Parse(text)
		if err != nil {
			return
		}
		var positions []symbols.Position
		for line := range 4 {
			for column := range 30 {
				positions = append(positions, symbols.Position{Line: line, Column: column * 40})
			}
		}
		for _, p := range m.Find(positions) {
			if p.Found() && (p.Line < 1 || p.Column < 0) || !p.Found() && p != (symbols.Place{}) {
				t.Fatalf("%+v", p)
			}
			if code := p.Code(3); len(code) > 7 {
				t.Fatalf("%d lines", len(code))
			}
		}
	})
}

// large returns a map as a bundler writes it for an application of some megabytes: one long line.
func large() []byte {
	var b bytes.Buffer
	b.WriteString(`{"version":3,"sources":["a.ts"],"names":["f"],"mappings":"`)
	for i := range 500_000 {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString([]string{"IAAIA", "EACF", "GAAG"}[i%3])
	}
	fmt.Fprint(&b, `"}`)
	return b.Bytes()
}

func BenchmarkParse(b *testing.B) {
	text := large()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := symbols.Parse(text); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkFrames(b *testing.B) {
	m, err := symbols.Parse(large())
	if err != nil {
		b.Fatal(err)
	}
	var frames []stack.Frame
	for i := range 50 {
		frames = append(frames, stack.Frame{File: "https://h/a.js", Line: 1, Column: 30_000 * i})
	}
	for b.Loop() {
		symbols.Frames(frames, symbols.Options{Map: func(string) *symbols.Map { return m }, Near: 5})
	}
}
