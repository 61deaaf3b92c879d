package console

import (
	"math"
	"strconv"
	"time"

	"tocsin/internal/api"
	"tocsin/internal/insight"
)

// figures is a row of an operation of insight. Those of a person lack what only incidents of a channel have.
type figures struct{ insight.Dimension }

func figuresOf(rows []insight.Dimension) []figures {
	all := make([]figures, len(rows))
	for i, r := range rows {
		all[i] = figures{r}
	}
	return all
}

// id returns what the figures are about.
func (f figures) id(by string) int64 {
	return map[string]int64{"team": f.TeamID, "channel": f.ChannelID, "responder": f.ResponderID}[by]
}

// figures returns the figures of teams, channels or persons.
func (v *visit) figures(by string, request insight.Request) ([]figures, error) {
	switch by {
	case "team":
		reply, err := call[api.Items[insight.Dimension]](v, "/insight/team", request)
		return figuresOf(reply.Items), err
	case "channel":
		reply, err := call[api.Items[insight.Dimension]](v, "/insight/channel", request)
		return figuresOf(reply.Items), err
	}
	reply, err := call[api.Items[insight.Responder]](v, "/insight/responder", request)
	all := make([]figures, len(reply.Items))
	for i, r := range reply.Items {
		all[i] = figures{insight.Dimension{Row: r.Row, Handled: r.Handled}}
	}
	return all, err
}

// kind is how a figure is written.
type kind int

const (
	count kind = iota
	seconds
	percent
)

// measure is one figure: its name, how it is written, and its value, which is unknown when nothing was counted for it.
type measure struct {
	name    string
	kind    kind
	charted bool
	of      func(figures) (value float64, known bool)
}

// counted returns the value of a figure that is always known.
func counted(of func(figures) int64) func(figures) (float64, bool) {
	return func(f figures) (float64, bool) { return float64(of(f)), true }
}

var (
	incidentCount = measure{"Incidents", count, true, counted(func(f figures) int64 { return f.TotalIncidentCnt })}
	ackTime       = measure{"Mean time to acknowledge", seconds, true, func(f figures) (float64, bool) {
		return f.MeanSecondsToAck, f.TotalIncidentsAcknowledged > 0
	}}
	closeTime = measure{"Mean time to close", seconds, false, func(f figures) (float64, bool) {
		return f.MeanSecondsToClose, f.TotalIncidentsClosed > 0
	}}
	ackShare = measure{"Acknowledged", percent, false, func(f figures) (float64, bool) {
		return f.AcknowledgementPct, f.TotalIncidentCnt > 0
	}}
	escalatedCount = measure{"Escalated", count, false, counted(func(f figures) int64 { return f.TotalIncidentsEscalated })}
	interruptions  = measure{"Interruptions", count, true, counted(func(f figures) int64 { return f.TotalInterruptions })}
	atNight        = measure{"Interruptions at night", count, false, counted(func(f figures) int64 { return f.TotalSleepInterruptions })}
	noise          = measure{"Noise reduction", percent, false, func(f figures) (float64, bool) {
		return f.NoiseReductionPct, f.TotalAlertEventCnt > 0
	}}

	accountMeasures = []measure{incidentCount, ackTime, closeTime, ackShare, escalatedCount, interruptions, atNight, noise}
	rowMeasures     = []measure{incidentCount, ackTime, closeTime, interruptions, atNight, noise}
	personMeasures  = []measure{incidentCount, ackTime, ackShare, escalatedCount, interruptions, atNight}
)

// compared is a figure and, in words, how it differs from the window before.
type compared struct{ Name, Value, Difference string }

func (v *visit) compare(measures []measure, now, before figures) (all []compared) {
	for _, m := range measures {
		a, known := m.of(now)
		b, knownBefore := m.of(before)
		c := compared{Name: v.T(m.name), Value: v.amount(m.kind, a, known)}
		switch {
		case known && knownBefore:
			c.Difference = v.difference(m.kind, a, b)
		case known:
			c.Difference = v.T("no value before")
		case knownBefore:
			c.Difference = v.T("%s before", v.amount(m.kind, b, true))
		}
		all = append(all, c)
	}
	return all
}

// amount writes a figure.
func (v *visit) amount(k kind, value float64, known bool) string {
	switch {
	case !known:
		return "–"
	case k == seconds:
		return v.Span(int64(math.Round(value)))
	case k == percent:
		return strconv.FormatFloat(value, 'f', 1, 64) + " %"
	}
	return strconv.FormatInt(int64(value), 10)
}

// difference writes how a figure differs from the one before, as it is written.
func (v *visit) difference(k kind, now, before float64) string {
	if v.amount(k, now, true) == v.amount(k, before, true) {
		return v.T("as before")
	}
	by, more := math.Abs(now-before), now > before
	switch {
	case k == seconds && more:
		return v.T("%s longer than before", v.amount(k, by, true))
	case k == seconds:
		return v.T("%s shorter than before", v.amount(k, by, true))
	case k == percent && more:
		return v.T("%s points higher than before", strconv.FormatFloat(by, 'f', 1, 64))
	case k == percent:
		return v.T("%s points lower than before", strconv.FormatFloat(by, 'f', 1, 64))
	case more:
		return v.T("%d more than before", int64(by))
	}
	return v.T("%d fewer than before", int64(by))
}

// chart is a figure for each part of the window, as bars and as a table.
type chart struct {
	ID, Name, Sum string
	Width         int
	Bars          []chartBar
	First, Last   string
}

type chartBar struct{ X, Y, Height, When, Value string }

// chartStep is the width of a bar and of the space beside it. A chart is 100 high.
const chartStep = 20

// point is the value of one part of the window.
type point struct {
	when  string
	value float64
	known bool
}

// chart draws a figure.
func (v *visit) chart(m measure, parts []figures, unit string) chart {
	points := make([]point, len(parts))
	for i, f := range parts {
		value, known := m.of(f)
		points[i] = point{v.partOf(f.TS, unit), value, known}
	}
	return v.bars(v.T(m.name), m.kind, points)
}

// bars draws values. The highest bar fills the height.
func (v *visit) bars(name string, k kind, points []point) chart {
	most, top := 0.0, ""
	c := chart{Name: name, Width: chartStep * max(len(points), 1)}
	for _, p := range points {
		if p.known && p.value > most {
			most, top = p.value, p.when
		}
	}
	for i, p := range points {
		b := chartBar{X: strconv.Itoa(chartStep*i + 2), Y: "100", Height: "0", When: p.when, Value: v.amount(k, p.value, p.known)}
		if p.known && most > 0 {
			b.Height = lengthOf(p.value, most)
			b.Y = lengthOf(most-p.value, most)
		}
		c.Bars = append(c.Bars, b)
	}
	c.Sum = v.T("Nothing in this window.")
	if most > 0 {
		c.Sum = v.T("Highest: %s, %s.", v.amount(k, most, true), top)
	}
	if len(c.Bars) > 0 {
		c.First, c.Last = c.Bars[0].When, c.Bars[len(c.Bars)-1].When
	}
	return c
}

// partOf names a part of the window, by the clock of the account.
func (v *visit) partOf(ts int64, unit string) string {
	at := time.Unix(ts, 0).In(v.who.Zone)
	switch {
	case unit == "week":
		return v.T("week from %s", v.shortDate(at))
	case unit == "month" && v.Lang == "zh":
		return at.Format("2006年1月")
	case unit == "month":
		return at.Format("January 2006")
	}
	return v.shortDate(at)
}

// shortDate names a day: Thu 25 Mar.
func (v *visit) shortDate(at time.Time) string {
	sameYear := at.Year() == v.Now.In(at.Location()).Year()
	switch {
	case v.Lang == "zh" && sameYear:
		return at.Format("1月2日 ") + weekdays[at.Weekday()]
	case v.Lang == "zh":
		return at.Format("2006年1月2日 ") + weekdays[at.Weekday()]
	case sameYear:
		return at.Format("Mon 2 Jan")
	}
	return at.Format("Mon 2 Jan 2006")
}

// lengthOf returns the length of a bar, of 100.
func lengthOf(value, most float64) string { return strconv.FormatFloat(100*value/most, 'f', 1, 64) }
