package demo

import (
	"encoding/json"
	"testing"

	"tocsin/internal/core/stack"
	"tocsin/internal/core/symbols"
)

// The errors of the basket happened where the demo's source map has code.
func TestSourceMapFitsErrors(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(basketMap())
	if err != nil {
		t.Fatal(err)
	}
	m, err := symbols.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	frames := symbols.Frames(stack.Parse(pageErrors()[0].stack), symbols.Options{Near: 2, Map: func(file string) *symbols.Map {
		if (stack.Frame{File: file, Line: 1}).Library() {
			return nil
		}
		return m
	}})
	for i, want := range []string{
		"  return bundle.items.reduce((sum, item) => sum + item.offer.price, 0);", "  const price = bundlePrice(line.bundle);", "",
		"  const rows = useMemo(() => lines.map(renderLine), [lines]);",
	} {
		got := ""
		for _, line := range frames[i].Code {
			if line.Line == frames[i].Line {
				got = line.Code
			}
		}
		if got != want {
			t.Errorf("frame %d: %q, want %q", i, got, want)
		}
	}
	if frames[0].Function != "bundlePrice" || !frames[2].Library {
		t.Errorf("got %+v", frames)
	}
}
