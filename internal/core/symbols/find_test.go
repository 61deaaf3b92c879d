package symbols_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"tocsin/internal/core/stack"
	"tocsin/internal/core/symbols"
)

func fixture(t testing.TB) *symbols.Map {
	t.Helper()
	text, err := os.ReadFile("testdata/app.min.js.map")
	if err != nil {
		t.Fatal(err)
	}
	return parsed(t, string(text))
}

func parsed(t testing.TB, text string) *symbols.Map {
	t.Helper()
	m, err := symbols.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// shown writes a place as file:line:column name.
func shown(p symbols.Place) string {
	if !p.Found() {
		return "none"
	}
	return strings.TrimSpace(fmt.Sprintf("%s:%d:%d %s", p.File, p.Line, p.Column, p.Name))
}

// The columns are those that Chromium reported for errors of the page.
func TestPlacesOfFixture(t *testing.T) {
	truth := []struct {
		column int
		want   string
	}{
		{1152, "src/app.ts:32:34"}, {273, "src/cart.ts:10:39"}, {309, "src/cart.ts:14:10"}, {484, "src/app.ts:6:9 applyCoupon"}, {567, "src/app.ts:11:8"},
		{781, "src/app.ts:17:52"}, {840, "src/app.ts:19:10 checkQuantity"}, {932, "src/app.ts:23:61"}, {1019, "src/app.ts:27:19"},
	}
	var positions []symbols.Position
	for _, c := range truth {
		positions = append(positions, symbols.Position{Line: 1, Column: c.column})
	}
	m := fixture(t)
	for i, got := range m.Find(positions) {
		want, _, _ := strings.Cut(truth[i].want, " ")
		if got, _, _ := strings.Cut(shown(got), " "); got != want {
			t.Errorf("column %d: got %s, want %s", truth[i].column, got, want)
		}
		if alone := m.Find(positions[i : i+1])[0]; alone != got {
			t.Errorf("column %d: alone %s, with others %s", truth[i].column, shown(alone), shown(got))
		}
	}
	for _, i := range []int{3, 6} {
		if got := shown(m.Find(positions)[i]); got != truth[i].want {
			t.Errorf("got %s, want %s", got, truth[i].want)
		}
	}
	for _, p := range []symbols.Position{{2, 1}, {0, 0}, {-1, 5}, {1, 5}, {1 << 40, 1}, {3, 1}} {
		if got := m.Find([]symbols.Position{p})[0]; got.Found() {
			t.Errorf("%+v: got %s, want none", p, shown(got))
		}
	}
}

func TestFramesOfFixture(t *testing.T) {
	const page = "http://127.0.0.1:8901"
	frames := stack.Parse("TypeError: Cannot read properties of undefined (reading 'rate')\n  at i @ " + page + "/assets/app.min.js:1:273\n" +
		"  at m @ " + page + "/assets/app.min.js:1:484\n  at <anonymous> @ " + page + "/dd.html:15:78\n  at t @ https://cdn.example.com/sdk.js:1:2")
	asked := 0
	got := symbols.Frames(frames, symbols.Options{Origin: page, Near: 1, Map: func(file string) *symbols.Map {
		asked++
		if strings.HasSuffix(file, "app.min.js") {
			return fixture(t)
		}
		return nil
	}})
	if asked != 3 {
		t.Errorf("asked for %d maps, want one for each file", asked)
	}
	first := got[0]
	if first.Function != "applyCoupon" || first.File != "src/cart.ts" || first.Line != 10 || !first.Converted || first.Library || *first.Minified != frames[0] {
		t.Errorf("got %+v", first)
	}
	want := []symbols.CodeLine{{9, "  // deliberate null access: coupon may be undefined"}, {10, "  return totalOf(items) * (1 - coupon!.rate);"}, {11, "}"}}
	if !slices.Equal(first.Code, want) {
		t.Errorf("code %+v", first.Code)
	}
	if got[1].Function != "m" || got[1].File != "src/app.ts" {
		t.Errorf("without a name the minified one is kept: got %+v", got[1])
	}
	if got[2].Converted || got[2].Library || got[2].Frame != frames[2] || !got[3].Library {
		t.Errorf("got %+v and %+v", got[2], got[3])
	}
}

func TestSections(t *testing.T) {
	// Two bundles in one file: the second begins in line 2 at column 10.
	m := parsed(t, `{"version":3,"sections":[
		{"offset":{"line":1,"column":10},"map":{"version":3,"sources":["b.ts"],"names":["g"],"mappings":"AAAAA;AACA"}},
		{"offset":{"line":0,"column":0},"map":{"version":3,"sources":["a.ts"],"names":[],"mappings":"AAAA;AACA"}}]}`)
	for p, want := range map[symbols.Position]string{
		{1, 1}: "a.ts:1:0", {2, 1}: "a.ts:2:0", {2, 10}: "a.ts:2:0", {2, 11}: "b.ts:1:0 g", {2, 40}: "b.ts:1:0 g",
		{3, 1}: "b.ts:2:0", // the column of a section counts in its first line only
	} {
		if got := shown(m.Find([]symbols.Position{p})[0]); got != want {
			t.Errorf("%+v: got %s, want %s", p, got, want)
		}
	}
}

func TestPathsAndLibraries(t *testing.T) {
	m := parsed(t, `{"version":3,"sourceRoot":"root/","sources":["../../src/a.ts","webpack://shop/./src/b.ts","/abs/c.ts","https://h/d.ts",null,
		"webpack:///node_modules/react/index.js","lib.ts"],"x_google_ignoreList":[6,99,-1],"mappings":"AAAA,CCAA,CCAA,CCAA,CCAA,CCAA,CCAA"}`)
	var positions []symbols.Position
	for i := range 7 {
		positions = append(positions, symbols.Position{Line: 1, Column: i + 1})
	}
	var got []string
	for _, p := range m.Find(positions) {
		got = append(got, p.File)
	}
	want := []string{"src/a.ts", "src/b.ts", "/abs/c.ts", "https://h/d.ts", "root", "node_modules/react/index.js", "root/lib.ts"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if places := m.Find(positions); places[5].Library || !places[6].Library {
		t.Errorf("libraries by the map's list: %+v", places)
	}
}

// naive decodes all mappings into a list and looks through all of it.
func naive(segments [][][5]int, p symbols.Position) (source, line, column int, ok bool) {
	best := -1
	if p.Line < 1 || p.Line > len(segments) {
		return
	}
	for _, s := range segments[p.Line-1] {
		if s[0] <= p.Column-1 && s[0] >= best {
			best = s[0]
			source = s[1]
			line = s[2]
			column = s[3]
			ok = s[1] >= 0
		}
	}
	return
}

// Random maps, also with columns that go back, give the places of a search through all segments.
func TestFindAgainstSearch(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		text, segments := randomMap(r)
		m := parsed(t, text)
		var positions []symbols.Position
		for range 40 {
			positions = append(positions, symbols.Position{Line: r.IntN(8), Column: 1 + r.IntN(60)})
		}
		for i, got := range m.Find(positions) {
			source, line, column, ok := naive(segments, positions[i])
			if got.Found() != ok || ok && (got.File != fmt.Sprintf("s%d.ts", source) || got.Line != line+1 || got.Column != column) {
				t.Fatalf("%s\n%+v: got %s, want s%d.ts:%d:%d %v", text, positions[i], shown(got), source, line+1, column, ok)
			}
		}
	}
}

// randomMap returns a map and its segments by line: column, source (-1: none), original line and column, name.
func randomMap(r *rand.Rand) (string, [][][5]int) {
	var b strings.Builder
	lines := make([][][5]int, 1+r.IntN(6))
	var last [5]int
	for i := range lines {
		last[0] = 0
		for n := range r.IntN(12) {
			if n > 0 {
				b.WriteByte(',')
			}
			s := [5]int{r.IntN(50), r.IntN(3), r.IntN(1000), r.IntN(1000), 0}
			b.WriteString(vlq(s[0] - last[0]))
			last[0] = s[0]
			if r.IntN(5) == 0 {
				s[1] = -1
			} else {
				for f := 1; f < 4; f++ {
					b.WriteString(vlq(s[f] - last[f]))
					last[f] = s[f]
				}
			}
			lines[i] = append(lines[i], s)
		}
		b.WriteByte(';')
	}
	return `{"version":3,"sources":["s0.ts","s1.ts","s2.ts"],"mappings":"` + b.String() + `"}`, lines
}

// vlq writes a number as mappings have it.
func vlq(n int) (text string) {
	v := n << 1
	if n < 0 {
		v = -n<<1 | 1
	}
	for {
		d := v & 31
		if v >>= 5; v > 0 {
			d |= 32
		}
		text += string("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"[d])
		if v == 0 {
			return text
		}
	}
}

func TestCode(t *testing.T) {
	long := strings.Repeat("é", 400)
	m := parsed(t, `{"version":3,"sources":["a.ts","b.ts"],"sourcesContent":["one\n\n  \nfour\r\nfive\n`+long+`","x"],"mappings":"AAGA,CAEA,CCEA,CDoGA"}`)
	for column, want := range map[int]string{
		1: "[{1 one} {4 four} {5 five}]",
		2: "[{5 five} {6 " + strings.Repeat("é", 250) + "…}]",
		3: "[]", 4: "[]", // lines that the code does not have
	} {
		if got := fmt.Sprint(m.Find([]symbols.Position{{1, column}})[0].Code(1)); got != want {
			t.Errorf("column %d: got %s, want %s", column, got, want)
		}
	}
}
