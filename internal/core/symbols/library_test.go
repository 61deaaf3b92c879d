package symbols_test

import (
	"os"
	"testing"

	"github.com/go-sourcemap/sourcemap"

	"tocsin/internal/core/symbols"
)

// An independent reader finds the same place of every column of the fixture, and of a large map.
func TestFindAgainstAnotherReader(t *testing.T) {
	text, err := os.ReadFile("testdata/app.min.js.map")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		text    []byte
		columns int
		step    int
	}{"fixture": {text, 1300, 1}, "large": {large(), 1_500_000, 997}} {
		other, err := sourcemap.Parse("", c.text)
		if err != nil {
			t.Fatal(err)
		}
		m := parsed(t, string(c.text))
		var positions []symbols.Position
		for column := 1; column < c.columns; column += c.step {
			positions = append(positions, symbols.Position{Line: 1, Column: column})
		}
		for i, got := range m.Find(positions) {
			_, identifier, line, column, found := other.Source(1, positions[i].Column-1)
			if found != got.Found() || found && (line != got.Line || column != got.Column || identifier != got.Name) {
				t.Fatalf("%s, column %d: got %s, want %d:%d %s %v", name, positions[i].Column, shown(got), line, column, identifier, found)
			}
		}
	}
}

func BenchmarkOtherReaderParse(b *testing.B) {
	text := large()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := sourcemap.Parse("", text); err != nil {
			b.Fatal(err)
		}
	}
}
