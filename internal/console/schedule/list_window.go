package schedule

import (
	"net/url"
	"time"

	"tocsin/internal/console/page"
	"tocsin/internal/console/picture"
)

// listWindow is the time for which the list shows schedules. From and To are Unix seconds.
type listWindow struct {
	From, To int64
	Span     string // week, fortnight or month
	Range    string // of its days; empty: it begins now
	Teams    bool   // only schedules of the visitor's teams
	start    time.Time
	query    string
}

// readListWindow reads the window of the address. Without a date a week begins now, and a month is that of the calendar.
func readListWindow(v *page.Visit) listWindow {
	w := listWindow{Span: v.Query("span"), Teams: v.Query("teams") == "mine", query: v.Query("q")}
	if w.Span != "fortnight" && w.Span != "month" {
		w.Span = "week"
	}
	from, err := time.ParseInLocation(time.DateOnly, v.Query("from"), v.Zone)
	dated := err == nil && from.Year() >= 2002 && from.Year() <= 2280 // the operations take seconds of ten digits
	if !dated {
		from = v.Now.In(v.Zone)
	}
	w.start = time.Date(from.Year(), from.Month(), from.Day(), 0, 0, 0, 0, v.Zone)
	if w.Span == "month" {
		w.start = w.start.AddDate(0, 0, 1-w.start.Day())
	}
	end := w.moved(1)
	w.From, w.To = w.start.Unix(), end.Unix()
	if w.Span == "week" && !dated {
		w.From, w.To = v.Now.Unix(), v.Now.Unix()+week*86400
		return w
	}
	w.Range = v.MonthDay(w.start) + " – " + v.FullDate(end.AddDate(0, 0, -1))
	return w
}

// moved returns the beginning of a window that is later by a number of windows.
func (w listWindow) moved(windows int) time.Time {
	switch w.Span {
	case "month":
		return w.start.AddDate(0, windows, 0)
	case "fortnight":
		return w.start.AddDate(0, 0, 14*windows)
	}
	return w.start.AddDate(0, 0, week*windows)
}

// Link returns the address of the list with another span, from a date; an empty date: from now.
func (w listWindow) Link(span, from string) string {
	q := url.Values{}
	for name, value := range map[string]string{"span": span, "from": from, "q": w.query, "teams": map[bool]string{true: "mine"}[w.Teams]} {
		if value != "" {
			q.Set(name, value)
		}
	}
	return "/schedules?" + q.Encode()
}

// Spans are the spans to choose from.
func (w listWindow) Spans() []string { return []string{"week", "fortnight", "month"} }

// FromDate returns the first date.
func (w listWindow) FromDate() string { return w.start.Format(time.DateOnly) }

// Backward is the address of the window before this one.
func (w listWindow) Backward() string { return w.Link(w.Span, w.moved(-1).Format(time.DateOnly)) }

// Forward is the address of the window after this one.
func (w listWindow) Forward() string { return w.Link(w.Span, w.moved(1).Format(time.DateOnly)) }

// OfTeams returns the address of the list of all schedules, or of those of the visitor's teams.
func (w listWindow) OfTeams(mine bool) string {
	w.Teams = mine
	from := ""
	if w.Range != "" {
		from = w.FromDate()
	}
	return w.Link(w.Span, from)
}

// days returns the days of the axis. Those of a long window are weeks, which leave room for their labels.
func (w listWindow) days(zone *time.Location) []picture.Day {
	all := picture.DaysFrom(w.From, int((w.To-w.From+43200)/86400)+1, zone)
	if w.Span == "week" {
		return all
	}
	var weeks []picture.Day
	for i := 0; i < len(all); i += week {
		one := all[i]
		one.End = all[min(i+week, len(all))-1].End
		weeks = append(weeks, one)
	}
	return weeks
}
