package insight

import (
	"cmp"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/console/page"
	"tocsin/internal/console/picture"
	"tocsin/internal/insight"
)

var insightPages = []page.Page{{Path: "/insight", Template: "insight", Tab: "insight", Show: showInsight}}

// insightView is the figures of a window, beside those of the window before.
type insightView struct {
	page.Titled
	By, Label      string
	Window         string // of the address: days or month
	From           string // a date of the account
	Days           int
	Start, End     string // the first and the last day
	Before         string // the first day of the window before
	Running        bool   // the window is not over
	Bys, Spans     []insightLink
	Units, Labels  []insightLink
	Earlier, Later string
	Figures        []compared
	Charts         []picture.Chart
	Measures       []string
	Rows           []insightRow
	Top            []topValue
	ShowsTop       bool
	Export         string // the address to which a form asks for a file
}

// insightLink is one choice of the page.
type insightLink struct {
	Text, Link string
	Current    bool
}

// insightRow is a team, a channel or a person with the figures of both windows.
type insightRow struct {
	Name, Link string
	Figures    []compared
	Bar        string // the length of the bar of incidents, of 100
	incidents  int64
}

// topValue is a value of a label, with the length of its bar, and where to look at its alerts.
type topValue struct {
	insight.Top
	Bar       string
	Incidents string // the address of the list of incidents with the value
	Alert     string // the latest alert with the value; empty: it is not among the latest of all
}

// insightQuery is what the address asks for.
type insightQuery struct {
	by, unit, label string
	days            int  // of a month as many as it has
	month           bool // of the calendar
	from            time.Time
}

// insightUnits are the parts that a window may be divided into, the usual one first.
var insightUnits = map[string][]string{"7": {"day"}, "28": {"day", "week"}, "month": {"day", "week"}, "90": {"week", "month"}}

// name returns the window as the address names it.
func (q insightQuery) name() string {
	if q.month {
		return "month"
	}
	return strconv.Itoa(q.days)
}

// spanned returns the query of another window, which holds a date.
func (q insightQuery) spanned(name string, from time.Time) insightQuery {
	q.month = name == "month"
	q.unit = insightUnits[name][0]
	q.from = from
	if q.month {
		q.from = from.AddDate(0, 0, 1-from.Day())
	}
	q.days, _ = strconv.Atoi(name)
	if q.month {
		q.days = q.from.AddDate(0, 1, -1).Day()
	}
	return q
}

// moved returns the query of the window that is so many windows later.
func (q insightQuery) moved(windows int) insightQuery {
	unit := q.unit
	if q.month {
		q = q.spanned("month", q.from.AddDate(0, windows, 0))
	} else {
		q.from = q.from.AddDate(0, 0, windows*q.days)
	}
	q.unit = unit
	return q
}

// readInsightQuery reads the address. What it cannot mean is refused: figures of another window would mislead.
func readInsightQuery(v *page.Visit) (q insightQuery, err error) {
	refuse := func(text string) (insightQuery, error) {
		return q, &api.Refusal{Status: http.StatusBadRequest, Code: "InvalidParameter", Message: v.T(text)}
	}
	q.by, q.label = cmp.Or(v.Query("by"), "account"), cmp.Or(v.Query("label"), "check")
	if !slices.Contains([]string{"account", "team", "channel", "responder"}, q.by) {
		return refuse("Figures are by account, team, channel or responder.")
	}
	name := cmp.Or(v.Query("days"), "7")
	units, known := insightUnits[name]
	if !known {
		return refuse("A window has 7, 28 or 90 days, or is a month.")
	}
	unit := cmp.Or(v.Query("unit"), units[0])
	if !slices.Contains(units, unit) {
		return refuse("7 days are divided into days, 28 and a month into days or weeks, 90 into weeks or months.")
	}
	days, _ := strconv.Atoi(name)
	today := v.Now.In(v.Who.Zone)
	from := time.Date(today.Year(), today.Month(), today.Day()-max(days-1, 0), 0, 0, 0, 0, v.Who.Zone)
	if text := v.Query("from"); text != "" {
		from, err = time.ParseInLocation(time.DateOnly, text, v.Who.Zone)
		if err != nil {
			return refuse("Enter a date.")
		}
	}
	q = q.spanned(name, from)
	q.unit = unit
	return q, nil
}

// link returns the address of the figures.
func (q insightQuery) link() string {
	values := url.Values{"by": {q.by}, "days": {q.name()}, "from": {q.from.Format(time.DateOnly)}, "unit": {q.unit}}
	if q.label != "check" {
		values.Set("label", q.label)
	}
	return "/insight?" + values.Encode()
}

// window returns the request of the figures that begin so many windows later.
func (q insightQuery) window(later int) (request insight.Request) {
	of := q.moved(later)
	request.StartTime, request.EndTime = of.from.Unix(), of.from.AddDate(0, 0, of.days).Unix()
	return request
}

func showInsight(v *page.Visit) (page.View, error) {
	q, err := readInsightQuery(v)
	if err != nil {
		return nil, err
	}
	d := insightView{Titled: page.Titled(v.T("Insight")), By: q.by, Label: q.label, Days: q.days, From: q.from.Format(time.DateOnly),
		Window: q.name()}
	last := q.from.AddDate(0, 0, q.days)
	d.Start = v.ShortDate(q.from)
	d.End = v.ShortDate(last.AddDate(0, 0, -1))
	d.Before = v.ShortDate(q.moved(-1).from)
	d.Running = last.After(v.Now)
	d.Export = strings.Replace(q.link(), "/insight?", "/insight/export?", 1)
	d.choices(v, q)
	if q.by == "account" {
		err = d.readAccount(v, q)
	} else {
		err = d.readRows(v, q)
	}
	return d, err
}

// choices sets the links to other figures.
func (d *insightView) choices(v *page.Visit, q insightQuery) {
	add := func(list *[]insightLink, text string, to insightQuery, current bool) {
		*list = append(*list, insightLink{v.T(text), to.link(), current})
	}
	for _, by := range [][2]string{{"account", "All"}, {"team", "Teams"}, {"channel", "Channels"}, {"responder", "Responders"}} {
		to := q
		to.by = by[0]
		add(&d.Bys, by[1], to, to.by == q.by)
	}
	end := q.from.AddDate(0, 0, q.days)
	for _, days := range []int{7, 28, 90} {
		to := q.spanned(strconv.Itoa(days), end.AddDate(0, 0, -days))
		d.Spans = append(d.Spans, insightLink{v.T("%d days", days), to.link(), !q.month && days == q.days})
	}
	d.Spans = append(d.Spans, insightLink{v.T("Month"), q.spanned("month", q.from).link(), q.month})
	for _, unit := range insightUnits[q.name()] {
		to := q
		to.unit = unit
		add(&d.Units, map[string]string{"day": "By day", "week": "By week", "month": "By month"}[unit], to, unit == q.unit)
	}
	for _, label := range []string{"check", "resource"} {
		to := q
		to.label = label
		d.Labels = append(d.Labels, insightLink{label, to.link(), label == q.label})
	}
	d.Earlier = q.moved(-1).link()
	if !d.Running {
		d.Later = q.moved(1).link()
	}
}

// readAccount reads the figures of the whole account, their charts, and the labels of its alerts.
func (d *insightView) readAccount(v *page.Visit, q insightQuery) error {
	request := q.window(0)
	request.AggregateUnit = q.unit
	now, err := page.Call[insight.Account](v, "/insight/account", request)
	if err != nil {
		return err
	}
	before, err := page.Call[insight.Account](v, "/insight/account", q.window(-1))
	if err != nil {
		return err
	}
	d.Figures = compare(v, accountMeasures, figures{now.Total}, figures{before.Total})
	for _, m := range accountMeasures {
		if m.charted {
			c := chart(v, m, figuresOf(now.Items), q.unit)
			c.ID = "chart-" + strconv.Itoa(len(d.Charts))
			d.Charts = append(d.Charts, c)
		}
	}
	if !v.Who.MayAny([]auth.Permission{auth.ChannelsRead}) {
		return nil
	}
	d.ShowsTop = true
	top, err := page.Call[api.Items[insight.Top]](v, "/insight/alert/topk-by-label", insight.TopRequest{Request: q.window(0), Label: q.label})
	if err != nil {
		return err
	}
	most := int64(1)
	for _, t := range top.Items {
		most = max(most, t.TotalAlertCnt)
	}
	latest, err := latestAlerts(v, q)
	for _, t := range top.Items {
		d.Top = append(d.Top, topValue{
			t, picture.LengthOf(float64(t.TotalAlertCnt), float64(most)), q.incidents(t.Label), latest[t.Label],
		})
	}
	return err
}

// readRows reads the figures of teams, channels or persons; those of either window are shown.
func (d *insightView) readRows(v *page.Visit, q insightQuery) error {
	now, err := readFigures(v, q.by, q.window(0))
	if err != nil {
		return err
	}
	before, err := readFigures(v, q.by, q.window(-1))
	if err != nil {
		return err
	}
	measures := rowMeasures
	if q.by == "responder" {
		measures = personMeasures
	}
	for _, m := range measures {
		d.Measures = append(d.Measures, v.T(m.name))
	}
	earlier := map[int64]figures{}
	for _, f := range before {
		earlier[f.id(q.by)] = f
	}
	most := int64(1)
	for _, f := range now {
		d.Rows = append(d.Rows, insightRowOf(v, q.by, measures, f, earlier[f.id(q.by)]))
		delete(earlier, f.id(q.by))
		most = max(most, f.TotalIncidentCnt)
	}
	for _, f := range before {
		if _, gone := earlier[f.id(q.by)]; gone {
			none := figures{insight.Dimension{Row: f.Row}}
			d.Rows = append(d.Rows, insightRowOf(v, q.by, measures, none, f))
		}
	}
	slices.SortStableFunc(d.Rows, func(a, b insightRow) int { return cmp.Compare(b.incidents, a.incidents) })
	for i := range d.Rows {
		d.Rows[i].Bar = picture.LengthOf(float64(d.Rows[i].incidents), float64(most))
	}
	return nil
}

// insightRowOf names what the figures are about and links to it.
func insightRowOf(v *page.Visit, by string, measures []measure, now, before figures) insightRow {
	r := insightRow{Figures: compare(v, measures, now, before), incidents: now.TotalIncidentCnt}
	id := strconv.FormatInt(now.id(by), 10)
	switch by {
	case "team":
		r.Name, r.Link = cmp.Or(now.TeamName, v.T("Channels without a team")), "/teams/"+id
	case "channel":
		r.Name, r.Link = cmp.Or(now.ChannelName, v.T("No channel")), "/channels/"+id
	default:
		r.Name, r.Link = cmp.Or(now.ResponderName, v.T("person %d", now.ResponderID)), "/people/"+id
	}
	if now.id(by) == 0 || now.TeamName+now.ChannelName+now.ResponderName == "" {
		r.Link = ""
	}
	return r
}
