package picture

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	"tocsin/internal/console/locale"
	"tocsin/internal/engine/monitor"
)

// graphOf returns a graph of one query with series of values, a second apart.
func graphOf(series ...[]float64) monitor.Graph {
	g := monitor.Graph{Step: 1, Queries: []monitor.GraphQuery{{Name: "A"}}, Thresholds: []monitor.GraphLine{{Query: "A", Severity: "Critical", Op: ">", Value: 90}}}
	for i, values := range series {
		s := monitor.GraphSeries{Labels: map[string]string{"n": string(rune('a' + i))}}
		for at, v := range values {
			s.Points = append(s.Points, []float64{float64(at) * 1000, v})
		}
		g.Queries[0].Series = append(g.Queries[0].Series, s)
	}
	return g
}

// picture draws a chart, and checks that it is well-formed.
func picture(t *testing.T, c RuleChart) string {
	t.Helper()
	var b strings.Builder
	c.Ticks = Ticks(locale.Setting{Lang: "en", Zone: time.UTC}, 0, 3600)
	if err := (RuleGraph{RuleChart: c, Nonce: "n", Scheme: "light dark"}).Draw(&b); err != nil {
		t.Fatal(err)
	}
	for d := xml.NewDecoder(strings.NewReader(b.String())); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("%v: %s", err, b.String())
		}
	}
	if strings.Contains(b.String(), "NaN") || strings.Contains(b.String(), "Inf") {
		t.Errorf("a number is none: %s", b.String())
	}
	return b.String()
}

func TestChartIsDrawn(t *testing.T) {
	t.Parallel()
	g := graphOf([]float64{10, 50, 95, 97}, []float64{20, 20, 20, 20})
	g.Spans = []monitor.GraphSpan{{Labels: map[string]string{"n": "a"}, Severity: "Critical", Begin: 2000}, {Labels: map[string]string{"n": "a"}, Begin: 2500, End: 2600}}
	got := picture(t, ChartOf(g, 0, 4000, ""))
	const golden = "testdata/rule_graph.svg"
	want, err := os.ReadFile(golden)
	if errors.Is(err, os.ErrNotExist) { // delete it to have it written again
		err = os.WriteFile(golden, []byte(got), 0o600)
		want = []byte(got)
	}
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("got %s", got)
	}
}

func TestChartOfHostileValues(t *testing.T) {
	t.Parallel()
	many := make([]float64, 11_000)
	for i := range many {
		many[i] = math.Sin(float64(i))
	}
	many[5000] = 1000
	nan := math.NaN()
	inf := math.Inf(1)
	for name, c := range map[string]struct {
		series []float64
		lines  int
	}{
		"no point": {nil, 0}, "NaN alone": {[]float64{nan, nan}, 0}, "one point": {[]float64{5}, 1}, "infinite": {[]float64{1, inf, -inf, nan, 2}, 1},
		"largest": {[]float64{math.MaxFloat64, -math.MaxFloat64, 0}, 1}, "smallest": {[]float64{5e-324, 0}, 1}, "many": {many, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := ChartOf(graphOf(c.series), 0, 11_000_000, "")
			if text := picture(t, got); len(got.Lines) != c.lines || len(text) > 20_000 {
				t.Errorf("%d lines, %d bytes", len(got.Lines), len(text))
			}
			if name == "many" && (got.High != "1000" || !strings.Contains(got.Lines[0].D, " 0L")) {
				t.Errorf("the peak is not drawn: %s", got.High)
			}
		})
	}
	hundred := make([][]float64, 100)
	for i := range hundred {
		hundred[i] = many
	}
	if text := picture(t, ChartOf(graphOf(hundred...), 0, 11_000_000, "")); len(text) > 400_000 {
		t.Errorf("%d bytes", len(text))
	}
	g := graphOf(many)
	g.Queries[0].Series[0].Points[0] = []float64{1}
	g.Spans = []monitor.GraphSpan{{Begin: 9e15, End: 1}, {Begin: -9e15}}
	picture(t, ChartOf(g, 5, 5, "x"))
}
