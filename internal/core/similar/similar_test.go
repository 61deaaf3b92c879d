package similar

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tocsin/internal/core/sentence"
)

type labels = map[string]string

func TestScores(t *testing.T) {
	shop := labels{"service": "shop", "env": "prod"}
	for _, c := range []struct {
		a, b       string
		of, others labels
		score      int
		reasons    []string
	}{
		{"Disk full", "disk FULL ", nil, nil, 1000, []string{"the same title"}},
		{"Disk full", "disk full", shop, shop, 1000, []string{"the same title", "shared labels: env=prod, service=shop"}},
		{"Disk full", "Disk full", shop, nil, 600, []string{"the same title"}},
		{"Disk full", "Disk full", shop, labels{"service": "mail", "env": "prod"}, 800, []string{"the same title", "shared labels: env=prod"}},
		{"Disk full", "Disk slow", nil, nil, 333, []string{"shared words of the title: disk"}},
		{"Latency is 9 s", "Latency is 12 s", nil, nil, 1000, []string{"shared words of the title: is, latency, s"}},
		{"12:30", "12:31", nil, nil, 0, nil},
		{"", "", nil, nil, 0, nil},
		{"", "", shop, shop, 400, []string{"shared labels: env=prod, service=shop"}},
		{"Über", "über", nil, nil, 1000, []string{"the same title"}},
		{"a b c d e f g", "g f e d c b a", nil, nil, 1000, []string{"shared words of the title: a, b, c, d, e and 2 more"}},
	} {
		m := New(c.a, c.of).Compare(c.b, c.others)
		if m.Score != c.score || !slices.Equal(english(m.Reasons), c.reasons) {
			t.Errorf("%q %v, %q %v: %+v, want %d %q", c.a, c.of, c.b, c.others, m, c.score, c.reasons)
		}
	}
}

// model is the score from its definition, by comparing everything with everything.
func model(a, b string, of, others labels) int {
	word := regexp.MustCompile(`[a-z0-9]*[a-z][a-z0-9]*`)
	set := func(s string) map[string]bool {
		all := map[string]bool{}
		for _, w := range word.FindAllString(strings.ToLower(s), -1) {
			all[w] = true
		}
		return all
	}
	inTitle := 0
	x, y := set(a), set(b)
	both, either := 0, maps.Clone(x)
	maps.Copy(either, y)
	for w := range x {
		if y[w] {
			both++
		}
	}
	if len(either) > 0 {
		inTitle = both * 1000 / len(either)
	}
	if strings.EqualFold(strings.TrimSpace(a), strings.TrimSpace(b)) && strings.TrimSpace(a) != "" {
		inTitle = 1000
	}
	same, all := 0, maps.Clone(of)
	maps.Copy(all, others)
	for name, value := range of {
		if v, ok := others[name]; ok && v == value {
			same++
		}
	}
	if len(all) == 0 {
		return inTitle
	}
	return (inTitle*600 + same*1000/len(all)*400) / 1000
}

func TestScoresAgainstModel(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	text := func() string {
		var b strings.Builder
		for range r.IntN(6) {
			b.WriteString([]string{"disk", "Full", "on", "web1", "web2", "42", "4x"}[r.IntN(7)])
			b.WriteString([]string{" ", "-", ": "}[r.IntN(3)])
		}
		return b.String()
	}
	some := func() labels {
		all := labels{}
		for range r.IntN(5) {
			all[fmt.Sprint("l", r.IntN(4))] = fmt.Sprint(r.IntN(2))
		}
		return all
	}
	for range 20_000 {
		a := text()
		b := text()
		of := some()
		others := some()
		there, back := New(a, of).Compare(b, others), New(b, others).Compare(a, of)
		if want := model(a, b, of, others); there.Score != want {
			t.Fatalf("%q %v, %q %v: %d, want %d", a, of, b, others, there.Score, want)
		}
		if there.Score != back.Score || (there.Score > 0) != (len(there.Reasons) > 0) {
			t.Fatalf("%q %v, %q %v: %+v and back %+v", a, of, b, others, there, back)
		}
	}
}

// Any text has a score from 0 to 1000 and reasons of bounded length.
func FuzzCompare(f *testing.F) {
	f.Add("Disk full", "disk\xff", "env", "prod", "prod")
	f.Add(strings.Repeat("ä ", 600), strings.Repeat("ä", 600), strings.Repeat("n", 1000), "", "")
	f.Fuzz(func(t *testing.T, a, b, name, value, other string) {
		m := New(a, labels{name: value}).Compare(b, labels{name: other})
		if m.Score < 0 || m.Score > 1000 || len(m.Reasons) > 2 {
			t.Fatalf("%+v", m)
		}
		for _, why := range m.Reasons {
			if len(why) > 60+maxShown*(4*maxText+5) {
				t.Fatalf("%d bytes: %s", len(why), why)
			}
		}
	})
}

func english(reasons []sentence.Value) (texts []string) {
	for _, r := range reasons {
		texts = append(texts, r.English())
	}
	return texts
}
