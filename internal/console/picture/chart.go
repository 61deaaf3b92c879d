package picture

import (
	"math"
	"strconv"

	"tocsin/internal/console/locale"
)

// Kind is how a figure is written.
type Kind int

// The kinds of figures.
const (
	Count Kind = iota
	Seconds
	Percent
)

// Chart is a figure for each part of the window, as bars and as a table.
type Chart struct {
	ID, Name, Sum string
	Top           string // the value of the highest bar; empty: there is none
	Width         int
	Bars          []chartBar
	First, Last   string
}

type chartBar struct{ X, Y, Height, When, Value string }

// chartStep is the width of a bar and of the space beside it. A chart is 100 high.
const chartStep = 20

// Point is the value of one part of the window.
type Point struct {
	When  string
	Value float64
	Known bool
}

// ChartOfPoints draws values. The highest bar fills the height.
func ChartOfPoints(in locale.Setting, name string, k Kind, points []Point) Chart {
	most, top := 0.0, ""
	c := Chart{Name: name, Width: chartStep * max(len(points), 1)}
	for _, p := range points {
		if p.Known && p.Value > most {
			most, top = p.Value, p.When
		}
	}
	for i, p := range points {
		b := chartBar{X: strconv.Itoa(chartStep*i + 2), Y: "100", Height: "0", When: p.When, Value: Amount(in, k, p.Value, p.Known)}
		if p.Known && most > 0 {
			b.Height = LengthOf(p.Value, most)
			b.Y = LengthOf(most-p.Value, most)
		}
		c.Bars = append(c.Bars, b)
	}
	c.Sum = in.T("Nothing in this window.")
	if most > 0 {
		c.Top = Amount(in, k, most, true)
		c.Sum = in.T("Highest: %s, %s.", c.Top, top)
	}
	if len(c.Bars) > 0 {
		c.First, c.Last = c.Bars[0].When, c.Bars[len(c.Bars)-1].When
	}
	return c
}

// Amount writes a figure.
func Amount(in locale.Setting, k Kind, value float64, known bool) string {
	switch {
	case !known:
		return "–"
	case k == Seconds:
		return in.Span(int64(math.Round(value)))
	case k == Percent:
		return strconv.FormatFloat(value, 'f', 1, 64) + " %"
	}
	return strconv.FormatInt(int64(value), 10)
}

// LengthOf returns the length of a bar, of 100.
func LengthOf(value, most float64) string { return strconv.FormatFloat(100*value/most, 'f', 1, 64) }
