package schedule

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"time"

	"tocsin/internal/console/page"
	"tocsin/internal/console/picture"
)

// pictureWindow is what the address asks for.
type pictureWindow struct {
	From, To     int64
	Days         int
	Zone         *time.Location // of the texts and dates
	Also         *time.Location // the other zone that is shown; nil: none
	Own          bool           // Zone is the schedule's
	schedule     int64
	start        time.Time
	days         []picture.Day
	zone, also   string // as in the address
	Range        string
	City         string
	AlsoCity     string
	AlsoOffset   string
	DaysToChoose []int
	Month        bool // the window is a month of the calendar
}

// readWindow reads the window and the zones of the address. Dates are those of the zone that the texts are in, and the
// links name both, so that an address shows the same days to all.
func readWindow(v *page.Visit, s schedule) (w pictureWindow) {
	w.schedule = s.ScheduleID
	w.zone = v.Query("tz")
	w.also = v.Query("also")
	own := v.NamedZone(s.TimeZone)
	w.Zone, w.Also = own, v.Zone
	if zone, err := time.LoadLocation(w.zone); err == nil && w.zone != "" && w.zone != "Local" {
		w.Zone = zone
	}
	w.Own = w.Zone.String() == own.String()
	if !w.Own {
		w.Also = own
	}
	if zone, err := time.LoadLocation(w.also); err == nil && w.also != "" && w.also != "Local" {
		w.Also = zone
	}
	if w.Also.String() == w.Zone.String() {
		w.Also = nil
	}
	w.Days = min(max(int(cmp.Or(page.Number(v.Query("days")), usualDays)), 1), mostDays)
	from, err := time.ParseInLocation(time.DateOnly, v.Query("from"), w.Zone)
	if err != nil || from.Year() < 2002 || from.Year() > 2280 { // the operations take seconds of ten digits
		here := v.Now.In(w.Zone)
		from = time.Date(here.Year(), here.Month(), here.Day()-(int(here.Weekday())+6)%7, 12, 0, 0, 0, w.Zone) // Monday
	}
	w.Month = v.Query("span") == "month"
	if w.Month {
		if v.Query("from") == "" {
			from = v.Now.In(w.Zone)
		}
		from = time.Date(from.Year(), from.Month(), 1, 12, 0, 0, 0, w.Zone)
		w.Days = from.AddDate(0, 1, -1).Day()
	}
	w.start = time.Date(from.Year(), from.Month(), from.Day(), 12, 0, 0, 0, w.Zone)
	w.days = picture.DaysFrom(w.start.Unix(), w.Days, w.Zone)
	w.From, w.To = w.days[0].Start, w.days[len(w.days)-1].End
	last := time.Unix(w.days[len(w.days)-1].Start, 0).In(w.Zone)
	w.Range = v.MonthDay(w.start) + " – " + v.FullDate(last)
	w.City, w.DaysToChoose = city(w.Zone), []int{7, 14, 28}
	if w.Also != nil {
		w.AlsoCity, w.AlsoOffset = city(w.Also), offsetOf(v, w.From, w.Zone, w.Also)
		if last := offsetOf(v, w.To-1, w.Zone, w.Also); last != w.AlsoOffset {
			w.AlsoOffset += " → " + last
		}
	}
	return w
}

// offsetOf returns by how much the clock of another zone is ahead at a moment.
func offsetOf(v *page.Visit, at int64, zone, other *time.Location) string {
	_, a := time.Unix(at, 0).In(zone).Zone()
	_, b := time.Unix(at, 0).In(other).Zone()
	return v.T("%+g h", float64(b-a)/3600)
}

// margin returns how far beyond the window the schedule is read, in seconds, so that shifts which begin before it or end
// after it have their true times. Operations compute 45 days at most.
func (w pictureWindow) margin() int64 { return max(0, min(8*86400, (45*86400-(w.To-w.From))/2)) }

// within returns the pieces that are in the window, with gaps in it.
func (w pictureWindow) within(pieces []picture.Piece) []picture.Piece {
	return picture.WithGaps(slices.DeleteFunc(pieces, func(p picture.Piece) bool { return p.End <= w.From || p.Start >= w.To }), w.From, w.To)
}

// Link returns the address of the picture, later by a number of days, with another length; 0: the same.
func (w pictureWindow) Link(later, days int) string {
	q := url.Values{"days": {strconv.Itoa(cmp.Or(days, w.Days))}, "tz": {w.Zone.String()}}
	q.Set("from", w.start.AddDate(0, 0, later).Format(time.DateOnly))
	if w.Month && days == 0 {
		q.Set("span", "month")
	}
	if w.Also != nil {
		q.Set("also", w.Also.String())
	}
	return fmt.Sprintf("/schedules/%d?%s", w.schedule, q.Encode())
}

// FromDate returns the first date.
func (w pictureWindow) FromDate() string { return w.start.Format(time.DateOnly) }

// Swap returns the address of the picture with its zones exchanged.
func (w pictureWindow) Swap() string {
	if w.Also == nil {
		return w.Link(0, 0)
	}
	w.Zone, w.Also = w.Also, w.Zone
	return w.Link(0, 0)
}

// Backward is the address of the window before this one.
func (w pictureWindow) Backward() string {
	if w.Month {
		return w.month(-1)
	}
	return w.Link(-w.Days, 0)
}

// Forward is the address of the window after this one.
func (w pictureWindow) Forward() string {
	if w.Month {
		return w.month(1)
	}
	return w.Link(w.Days, 0)
}

// month returns the address of a month of the calendar, later by a number of months.
func (w pictureWindow) month(later int) string {
	w.Month = true
	w.start = time.Date(w.start.Year(), w.start.Month()+time.Month(later), 1, 12, 0, 0, 0, w.Zone)
	return w.Link(0, 0)
}

// ThisMonth is the address of the month in which the window begins.
func (w pictureWindow) ThisMonth() string { return w.month(0) }

// Today is the address of the present window.
func (w pictureWindow) Today() string {
	if w.Month {
		return fmt.Sprintf("/schedules/%d?%s", w.schedule, url.Values{"span": {"month"}, "tz": {w.Zone.String()}}.Encode())
	}
	return fmt.Sprintf("/schedules/%d?%s", w.schedule, url.Values{"days": {strconv.Itoa(w.Days)}, "tz": {w.Zone.String()}}.Encode())
}
