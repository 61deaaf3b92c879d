package source

import (
	"maps"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

// A set of labels that is returned itself is what the labels would be if they were copied.
func TestLabelsThatStayAsTheyAre(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	names := []string{"", "a", "a\x00", "\xff", "\uFFFD", strings.Repeat("é", 128), strings.Repeat("n", 129), "b.c"}
	values := []string{"", "v", "\x00", "a\xff", strings.Repeat("é", 2048), strings.Repeat("w", 2049)}
	kept := 0
	for range 5000 {
		labels := map[string]string{}
		for range r.IntN(4) {
			labels[names[r.IntN(len(names))]] = values[r.IntN(len(values))]
		}
		for i := range r.IntN(55) * r.IntN(2) {
			labels[strings.Repeat("m", i+1)] = "v"
		}
		sent := maps.Clone(labels)
		got, want := Labels(labels), Labels(labels, map[string]string{})
		if !maps.Equal(got, want) || !maps.Equal(labels, sent) {
			t.Fatalf("seed %d: the labels of %q are %q, want %q", seed, sent, got, want)
		}
		if maps.Equal(got, sent) {
			kept++
		}
	}
	if kept < 500 || kept > 4500 {
		t.Errorf("%d of 5000 sets stayed as they were", kept)
	}
	if Labels(nil) == nil {
		t.Error("no labels are nil")
	}
}

func FuzzIsLabelName(f *testing.F) {
	form := regexp.MustCompile(`\A[a-zA-Z_][a-zA-Z0-9_.]*\z`)
	for _, name := range []string{"", "a", "_", ".", "9", "a9", "a.b", "a-b", "aé", "a\n", "@", "[", "`", "{", "/", ":"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if got := IsLabelName(name); got != form.MatchString(name) {
			t.Errorf("IsLabelName(%q) = %t", name, got)
		}
	})
}
