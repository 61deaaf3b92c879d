package insight

import (
	"math"
	"strconv"

	"tocsin/internal/api"
	"tocsin/internal/console/page"
	"tocsin/internal/console/picture"
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

// readFigures returns the figures of teams, channels or persons.
func readFigures(v *page.Visit, by string, request insight.Request) ([]figures, error) {
	switch by {
	case "team":
		reply, err := page.Call[api.Items[insight.Dimension]](v, "/insight/team", request)
		return figuresOf(reply.Items), err
	case "channel":
		reply, err := page.Call[api.Items[insight.Dimension]](v, "/insight/channel", request)
		return figuresOf(reply.Items), err
	}
	reply, err := page.Call[api.Items[insight.Responder]](v, "/insight/responder", request)
	all := make([]figures, len(reply.Items))
	for i, r := range reply.Items {
		all[i] = figures{insight.Dimension{Row: r.Row, Handled: r.Handled}}
	}
	return all, err
}

// measure is one figure: its name, how it is written, and its value, which is unknown when nothing was counted for it.
type measure struct {
	name    string
	kind    picture.Kind
	charted bool
	of      func(figures) (value float64, known bool)
}

// counted returns the value of a figure that is always known.
func counted(of func(figures) int64) func(figures) (float64, bool) {
	return func(f figures) (float64, bool) { return float64(of(f)), true }
}

var (
	incidentCount = measure{"Incidents", picture.Count, true, counted(func(f figures) int64 { return f.TotalIncidentCnt })}
	ackTime       = measure{"Mean time to acknowledge", picture.Seconds, true, func(f figures) (float64, bool) {
		return f.MeanSecondsToAck, f.TotalIncidentsAcknowledged > 0
	}}
	closeTime = measure{"Mean time to close", picture.Seconds, false, func(f figures) (float64, bool) {
		return f.MeanSecondsToClose, f.TotalIncidentsClosed > 0
	}}
	ackShare = measure{"Acknowledged", picture.Percent, false, func(f figures) (float64, bool) {
		return f.AcknowledgementPct, f.TotalIncidentCnt > 0
	}}
	escalatedCount = measure{"Escalated", picture.Count, false, counted(func(f figures) int64 { return f.TotalIncidentsEscalated })}
	interruptions  = measure{"Interruptions", picture.Count, true, counted(func(f figures) int64 { return f.TotalInterruptions })}
	atNight        = measure{"Interruptions at night", picture.Count, false,
		counted(func(f figures) int64 { return f.TotalSleepInterruptions })}
	noise = measure{"Noise reduction", picture.Percent, false, func(f figures) (float64, bool) {
		return f.NoiseReductionPct, f.TotalAlertEventCnt > 0
	}}

	accountMeasures = []measure{incidentCount, ackTime, closeTime, ackShare, escalatedCount, interruptions, atNight, noise}
	rowMeasures     = []measure{incidentCount, ackTime, closeTime, interruptions, atNight, noise}
	personMeasures  = []measure{incidentCount, ackTime, ackShare, escalatedCount, interruptions, atNight}
)

// compared is a figure and, in words, how it differs from the window before.
type compared struct{ Name, Value, Difference string }

func compare(v *page.Visit, measures []measure, now, before figures) (all []compared) {
	for _, m := range measures {
		a, known := m.of(now)
		b, knownBefore := m.of(before)
		c := compared{Name: v.T(m.name), Value: picture.Amount(v.Setting, m.kind, a, known)}
		switch {
		case known && knownBefore:
			c.Difference = difference(v, m.kind, a, b)
		case known:
			c.Difference = v.T("no value before")
		case knownBefore:
			c.Difference = v.T("%s before", picture.Amount(v.Setting, m.kind, b, true))
		}
		all = append(all, c)
	}
	return all
}

// difference writes with a sign how a figure differs from the one before, as it is written.
func difference(v *page.Visit, k picture.Kind, now, before float64) string {
	if picture.Amount(v.Setting, k, now, true) == picture.Amount(v.Setting, k, before, true) {
		return v.T("as before")
	}
	sign := "−"
	if now > before {
		sign = "+"
	}
	by := math.Abs(now - before)
	if k == picture.Percent {
		return v.T("%s points", sign+strconv.FormatFloat(by, 'f', 1, 64))
	}
	return sign + picture.Amount(v.Setting, k, by, true)
}

// chart draws a figure.
func chart(v *page.Visit, m measure, parts []figures, unit string) picture.Chart {
	points := make([]picture.Point, len(parts))
	for i, f := range parts {
		value, known := m.of(f)
		points[i] = picture.Point{When: v.PartOf(f.TS, unit), Value: value, Known: known}
	}
	return picture.ChartOfPoints(v.Setting, v.T(m.name), m.kind, points)
}
