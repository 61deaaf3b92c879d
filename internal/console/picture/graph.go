package picture

import (
	"cmp"
	_ "embed" // of the template
	"fmt"
	"hash/fnv"
	"html/template"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"tocsin/internal/console/locale"
	"tocsin/internal/core/evaluate"
	"tocsin/internal/engine/monitor"
)

// chartTick is a moment below a chart.
type chartTick struct{ X, Anchor, Text string }

// Ticks returns moments of a span, in its zone.
func Ticks(in locale.Setting, from, to int64) (all []chartTick) {
	for i, anchor := range []string{"start", "middle", "end"} {
		at := time.Unix(from+(to-from)*int64(i)/2, 0).In(in.Zone)
		text := at.Format("15:04")
		if to-from > 86400 {
			text = in.T(at.Format("Mon")) + " " + text
		}
		all = append(all, chartTick{strconv.Itoa(50*i) + "%", anchor, text})
	}
	return all
}

// The size of a chart, in its own units, and what it shows at most.
const (
	chartSize    = 1000
	chartColumns = 250 // each with its lowest and its highest value
	mostLines    = 20
	lineHues     = 6
)

// RuleChart is a chart of series with thresholds and the times in which something fired.
type RuleChart struct {
	Lines      []chartLine
	Thresholds []chartThreshold
	Firing     []chartSpan
	High, Low  string
	Ticks      []chartTick
}

type chartLine struct{ Class, D string }

type chartThreshold struct{ Y, Percent, Class, Text string }

type chartSpan struct{ X, Width string }

// Hue returns which colour the line of an instance has.
func Hue(key string) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(key)) // never fails
	return int(h.Sum32() % lineHues)
}

// ChartOf draws a graph between two moments, Unix milliseconds. Series that fired are in colours, and above the others. With a key
// that of the instance alone is.
func ChartOf(g monitor.Graph, from, to int64, key string) (c RuleChart) {
	fired := map[string]bool{}
	var spans []stretch
	for _, s := range g.Spans {
		of := evaluate.Key(s.Labels)
		if key != "" && of != key {
			continue
		}
		fired[of] = true
		spans = append(spans, stretch{max(s.Begin, from), min(cmp.Or(s.End, to), to)})
	}
	x := func(at int64) float64 { return chartSize * float64(at-from) / float64(max(to-from, 1)) }
	for _, s := range united(spans) {
		c.Firing = append(c.Firing, chartSpan{coordinate(x(s.from)), coordinate(x(s.to) - x(s.from))})
	}
	drawn := seriesOf(g, func(s monitor.GraphSeries) bool { return fired[evaluate.Key(s.Labels)] })
	low, high := math.Inf(1), math.Inf(-1)
	reach := func(value float64) {
		if !math.IsNaN(value) && !math.IsInf(value, 0) {
			low, high = min(low, value), max(high, value)
		}
	}
	for _, s := range drawn {
		for _, p := range s.Points {
			reach(p[1])
		}
	}
	if low > high {
		return c
	}
	for _, t := range g.Thresholds {
		reach(t.Value)
	}
	c.High, c.Low = Digits(high), Digits(low)
	if low == high {
		room := max(math.Abs(low)/10, 1)
		low, high = low-room, high+room
	}
	y := func(value float64) float64 { return chartSize * (high/2 - value/2) / (high/2 - low/2) } // halves: their difference is finite
	for _, s := range slices.Backward(drawn) {
		line := chartLine{Class: "other"}
		if of := evaluate.Key(s.Labels); fired[of] {
			line.Class = "hue" + strconv.Itoa(Hue(of))
		}
		line.D = pathThrough(columns(s.Points, x), max(3*float64(g.Step)*1000, float64(to-from)/chartColumns*2), x, y)
		c.Lines = append(c.Lines, line)
	}
	for _, t := range g.Thresholds {
		at := y(t.Value)
		c.Thresholds = append(c.Thresholds, chartThreshold{
			coordinate(at), coordinate(at * 100 / chartSize), strings.ToLower(t.Severity), t.Op + " " + Digits(t.Value),
		})
	}
	return c
}

// seriesOf returns the series that are drawn, series that fired first: of the queries that something is compared with, if any is.
func seriesOf(g monitor.Graph, fired func(monitor.GraphSeries) bool) (drawn []monitor.GraphSeries) {
	for _, q := range g.Queries {
		if len(g.Thresholds) > 0 && !slices.ContainsFunc(g.Thresholds, func(t monitor.GraphLine) bool { return t.Query == q.Name }) {
			continue
		}
		for _, s := range q.Series {
			s.Points = slices.DeleteFunc(slices.Clone(s.Points), func(p []float64) bool {
				return len(p) != 2 || math.IsNaN(p[1]) || math.IsInf(p[1], 0)
			})
			if len(s.Points) > 0 {
				drawn = append(drawn, s)
			}
		}
	}
	slices.SortStableFunc(drawn, func(a, b monitor.GraphSeries) int {
		return cmp.Compare(map[bool]int{true: 0, false: 1}[fired(a)], map[bool]int{true: 0, false: 1}[fired(b)])
	})
	return drawn[:min(len(drawn), mostLines)]
}

// columns returns points of which at most two are in a column: the lowest and the highest, in their order.
func columns(points [][]float64, x func(int64) float64) (kept [][]float64) {
	if len(points) <= 2*chartColumns {
		return points
	}
	column := func(p []float64) int { return int(x(int64(p[0])) * chartColumns / chartSize) }
	for len(points) > 0 {
		low := 0
		high := 0
		n := 0
		for ; n < len(points) && column(points[n]) == column(points[0]); n++ {
			if points[n][1] < points[low][1] {
				low = n
			}
			if points[n][1] > points[high][1] {
				high = n
			}
		}
		kept = append(kept, points[min(low, high)])
		if low != high {
			kept = append(kept, points[max(low, high)])
		}
		points = points[n:]
	}
	return kept
}

// pathThrough returns a line through points that is interrupted where there is none for longer than a gap in milliseconds.
func pathThrough(points [][]float64, gap float64, x func(int64) float64, y func(float64) float64) string {
	var d strings.Builder
	for i, p := range points {
		command := "L"
		if i == 0 || p[0]-points[i-1][0] > gap {
			command = "M"
		}
		fmt.Fprintf(&d, "%s%s %s", command, coordinate(x(int64(p[0]))), coordinate(y(p[1])))
		if command == "M" {
			d.WriteString("h0") // a point of its own is a dot
		}
	}
	return d.String()
}

// united joins stretches that overlap or touch.
func united(all []stretch) (apart []stretch) {
	slices.SortFunc(all, func(a, b stretch) int { return cmp.Compare(a.from, b.from) })
	for _, s := range all {
		if n := len(apart); n > 0 && s.from <= apart[n-1].to {
			apart[n-1].to = max(apart[n-1].to, s.to)
		} else if s.from < s.to {
			apart = append(apart, s)
		}
	}
	return apart
}

// coordinate returns a number of a picture. One that is far outside is at its edge.
func coordinate(n float64) string {
	return strconv.FormatFloat(math.Round(10*min(max(n, -chartSize), 2*chartSize))/10, 'f', -1, 64)
}

// Digits returns a number for people.
func Digits(n float64) string { return strconv.FormatFloat(n, 'g', 5, 64) }

//go:embed graph.html
var graphText string

// graphTemplate draws a picture. The first picture parses it.
var graphTemplate = sync.OnceValue(func() *template.Template { return template.Must(template.New("graph").Parse(graphText)) })

// RuleGraph is a picture of its own: a chart, or in words why there is none.
type RuleGraph struct {
	RuleChart
	Words  string // empty: there is a chart
	Scheme string // the colour schemes, as the style sheet names them
	Nonce  string // of the page's policy
}

// Draw writes the picture as SVG.
func (g RuleGraph) Draw(w io.Writer) error { return graphTemplate().Execute(w, g) }
