package console

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"time"
)

// The lengths of the picture, in days, and the widths in percent below which a bar is too narrow for a finger: of a lane of
// two weeks and of a strip on the narrowest telephone.
const (
	usualDays, mostDays = 14, 42
	laneLink, stripLink = 2.4, 11
	sliver              = 2 * 3600 // seconds below which a bar on a lane has no text
)

// schedulePage is the picture of a schedule.
type schedulePage struct {
	titled
	Schedule schedule
	Window   pictureWindow
	Now      *shiftCard
	Next     []shiftCard
	Notices  []pictureNotice
	Lanes    []laneView
	Absent   []absentRow
	Axis     []tick
	Other    []tick // midnights of the other zone
	Changes  []tick // clock changes
	Grid     []tick
	NowID    string // of the line; empty: now is not in the window
	Days     []stripView
	List     []listRow
	Hours    []hoursRow
	Rules    int64
	Known    bool // whether Rules is known
	ByLayers bool // the picture has layers
}

// pictureWindow is what the address asks for.
type pictureWindow struct {
	From, To     int64
	Days         int
	Zone         *time.Location // of the texts and dates
	Also         *time.Location // the other zone that is shown; nil: none
	Own          bool           // Zone is the schedule's
	schedule     int64
	start        time.Time
	days         []day
	zone, also   string // as in the address
	Range        string
	City         string
	AlsoCity     string
	AlsoOffset   string
	DaysToChoose []int
}

// shiftCard is a shift in words.
type shiftCard struct {
	Who        []mark
	Start, End int64
	Origin     string
	Override   bool
	Bar        string // the id of how much of it is over
	shiftLinks
}

type pictureNotice struct {
	Class, Icon, Title, Text string
	Fill                     string // the address of a form that fills a gap
}

// laneView is a row of the picture.
type laneView struct {
	Name, Sub, Class string
	Bars             []barView
}

// absentRow is when a person of the schedule cannot be on call.
type absentRow struct {
	Who        mark
	Start, End int64
}

// stripView is a date of the narrow picture.
type stripView struct {
	Day, Weekday, Class, Chip string
	Date                      string // for programs
	Bars                      []barView
	Missing, Twice            string // ids; empty: none
	TwiceHour                 string // the hour that comes twice, on the clock
	NowID                     string
	Hours                     []tick // the labels above it; empty: as before
	Offset                    string
}

// listRow is a period in the list that has what the picture shows.
type listRow struct {
	Start, End int64
	Who        []mark
	Origin     string
	Gap        bool
	Fill, Why  string
	shiftLinks
}

// hoursRow is how long one person is on call.
type hoursRow struct {
	PersonID   int64  `json:"person_id"`
	Name       string `json:"person_name"`
	Seconds    int64  `json:"seconds"`
	Night      int64  `json:"night_seconds"`
	Weekend    int64  `json:"weekend_seconds"`
	Holiday    int64  `json:"holiday_seconds"`
	Shifts     int64  `json:"shifts"`
	Longest    int64  `json:"longest_seconds"`
	Difference int64  `json:"difference_seconds"`
	Mark       mark   `json:"-"`
	Bar        string `json:"-"`
}

func showSchedule(v *visit) (view, error) {
	id := number(v.r.PathValue("id"))
	now := v.Now.Unix()
	ahead, err := v.schedule(id, now, now+usualDays*86400)
	if err != nil {
		return nil, err
	}
	d := schedulePage{titled: titled(ahead.Name), Schedule: ahead, Window: v.pictureWindow(ahead), Known: v.MayReadSchedules()}
	s, err := v.schedule(id, d.Window.From-d.Window.margin(), d.Window.To+d.Window.margin())
	if err != nil {
		return nil, err
	}
	rules, err := v.uses([]schedule{s})
	if err != nil {
		return nil, err
	}
	d.Rules = rules[s.ID]
	c := v.newCast()
	c.add(ahead)
	c.add(s)
	if err := c.load(); err != nil {
		return nil, err
	}
	p := v.newPainter(c, d.Window.Zone)
	p.schedule = s.ID
	absences, err := v.absences(s, d.Window.From, d.Window.To)
	if err != nil {
		return nil, err
	}
	d.draw(p, s, absences)
	d.cards(p, ahead)
	d.Hours, err = v.hours(c, s.ID, d.Window.From, d.Window.To)
	return d, err
}

// margin returns how far beyond the window the schedule is read, in seconds, so that shifts which begin before it or end
// after it have their true times. Operations compute 45 days at most.
func (w pictureWindow) margin() int64 { return max(0, min(8*86400, (45*86400-(w.To-w.From))/2)) }

// within returns the pieces that are in the window, with gaps in it.
func (w pictureWindow) within(pieces []piece) []piece {
	return withGaps(slices.DeleteFunc(pieces, func(p piece) bool { return p.End <= w.From || p.Start >= w.To }), w.From, w.To)
}

// absences returns when persons of a schedule cannot be on call in a window.
func (v *visit) absences(s schedule, from, to int64) ([]absence, error) {
	persons := s.members()
	if len(persons) == 0 || !v.MayReadSchedules() {
		return nil, nil
	}
	var reply struct {
		Items []absence `json:"items"`
	}
	request := map[string]any{"person_ids": persons[:min(len(persons), 1000)], "start": from, "end": to, "limit": 100}
	err := v.call("/person/absence/list", request, &reply)
	slices.Reverse(reply.Items) // the earliest first
	return reply.Items, err
}

// schedule reads a schedule with its timelines in a window.
func (v *visit) schedule(id, from, to int64) (s schedule, err error) {
	err = v.call("/schedule/info", map[string]any{"schedule_id": id, "start": from, "end": to}, &s)
	return s, err
}

// pictureWindow reads the window and the zones of the address. Dates are those of the zone that the texts are in, and the
// links name both, so that an address shows the same days to all.
func (v *visit) pictureWindow(s schedule) (w pictureWindow) {
	w.schedule, w.zone, w.also = s.ID, v.query("tz"), v.query("also")
	own := v.zoneOf(s.Zone)
	w.Zone, w.Also = own, v.Zone
	if zone, err := time.LoadLocation(w.zone); err == nil && w.zone != "" && w.zone != "Local" {
		w.Zone = zone
	}
	if w.Own = w.Zone.String() == own.String(); !w.Own {
		w.Also = own
	}
	if zone, err := time.LoadLocation(w.also); err == nil && w.also != "" && w.also != "Local" {
		w.Also = zone
	}
	if w.Also.String() == w.Zone.String() {
		w.Also = nil
	}
	w.Days = min(max(int(cmp.Or(number(v.query("days")), usualDays)), 1), mostDays)
	from, err := time.ParseInLocation(time.DateOnly, v.query("from"), w.Zone)
	if err != nil || from.Year() < 2002 || from.Year() > 2280 { // the operations take seconds of ten digits
		here := v.Now.In(w.Zone)
		from = time.Date(here.Year(), here.Month(), here.Day()-(int(here.Weekday())+6)%7, 12, 0, 0, 0, w.Zone) // Monday
	}
	w.start = time.Date(from.Year(), from.Month(), from.Day(), 12, 0, 0, 0, w.Zone)
	w.days = daysFrom(w.start.Unix(), w.Days, w.Zone)
	w.From, w.To = w.days[0].Start, w.days[len(w.days)-1].End
	last := time.Unix(w.days[len(w.days)-1].Start, 0).In(w.Zone)
	w.Range = v.monthDay(w.start) + " – " + v.fullDate(last)
	w.City, w.DaysToChoose = city(w.Zone), []int{7, 14, 28}
	if w.Also != nil {
		w.AlsoCity, w.AlsoOffset = city(w.Also), v.offset(w.From, w.Zone, w.Also)
		if last := v.offset(w.To-1, w.Zone, w.Also); last != w.AlsoOffset {
			w.AlsoOffset += " → " + last
		}
	}
	return w
}

// offset returns by how much the clock of another zone is ahead at a moment.
func (v *visit) offset(at int64, zone, other *time.Location) string {
	_, a := time.Unix(at, 0).In(zone).Zone()
	_, b := time.Unix(at, 0).In(other).Zone()
	return v.T("%+g h", float64(b-a)/3600)
}

// Link returns the address of the picture, later by a number of days, with another length; 0: the same.
func (w pictureWindow) Link(later, days int) string {
	q := url.Values{"days": {strconv.Itoa(cmp.Or(days, w.Days))}, "tz": {w.Zone.String()}}
	q.Set("from", w.start.AddDate(0, 0, later).Format(time.DateOnly))
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

// Backward and Forward are the addresses of the windows before and after; Today that of the present one.
func (w pictureWindow) Backward() string { return w.Link(-w.Days, 0) }
func (w pictureWindow) Forward() string  { return w.Link(w.Days, 0) }
func (w pictureWindow) Today() string {
	return fmt.Sprintf("/schedules/%d?%s", w.schedule, url.Values{"days": {strconv.Itoa(w.Days)}, "tz": {w.Zone.String()}}.Encode())
}

// everyone stands in an address for all who are on call, and for no one in a gap.
const everyone = -1

// overrideLink returns the address of a form for an override with everything filled in.
func overrideLink(schedule int64, p piece, whom, by int64) string {
	q := url.Values{"start": {strconv.FormatInt(p.Start, 10)}, "end": {strconv.FormatInt(p.End, 10)}}
	if whom == everyone {
		q.Set("whom", "all")
	} else if whom != 0 {
		q.Set("whom", strconv.FormatInt(whom, 10))
	}
	if by != 0 {
		q.Set("by", strconv.FormatInt(by, 10))
	}
	return fmt.Sprintf("/schedules/%d/override?%s", schedule, q.Encode())
}

// cards adds who is on call now, who is next, and what is wrong in the next two weeks.
func (d *schedulePage) cards(p *painter, ahead schedule) {
	now := p.Now.Unix()
	pieces := withGaps(p.cast.final(ahead), now, now+usualDays*86400)
	if e := ahead.Current; e != nil && len(e.persons()) > 0 {
		card := shiftCard{Who: p.cast.marks(e.persons()), Start: e.Start, End: e.End}
		card.shiftLinks = p.shiftLinks(ahead, piece{Start: e.Start, End: e.End, Persons: e.persons()})
		card.Origin, card.Override = p.cast.origin(ahead, piece{Start: now, End: now + 1, Persons: e.persons()})
		if e.End > e.Start {
			card.Bar = p.place(0, 100*float64(now-e.Start)/float64(e.End-e.Start))
		}
		d.Now = &card
	}
	for _, piece := range pieces {
		if piece.Start > now && len(piece.Persons) > 0 && len(d.Next) < 3 {
			d.Next = append(d.Next, shiftCard{
				Who: p.cast.marks(piece.Persons), Start: piece.Start, End: piece.End, Origin: piece.Origin, Override: piece.Override,
			})
		}
		if len(piece.Persons) == 0 && len(d.Notices) == 0 && len(ahead.Layers) > 0 {
			n := pictureNotice{Class: "crit", Icon: "triangle-alert", Title: p.T("No one is on call for %s", p.Span(piece.End-piece.Start)),
				Text: p.clock(piece.Start) + " → " + p.clock(piece.End)}
			if p.MayPlan() {
				n.Fill = overrideLink(ahead.ID, piece, everyone, 0)
			}
			d.Notices = append(d.Notices, n)
		}
	}
	for _, day := range d.Window.days {
		if day.change == 0 || len(d.Notices) == 2 {
			continue
		}
		title := p.T("Clocks go forward")
		if day.shift < 0 {
			title = p.T("Clocks go back")
		}
		at := time.Unix(day.Start, 0).In(d.Window.Zone)
		d.Notices = append(d.Notices, pictureNotice{Icon: "alarm-clock", Title: title,
			Text: p.T("%s in %s: %s", p.T(at.Format("Mon"))+" "+p.monthDay(at), d.Window.City, p.changeLabel(day.change, d.Window.Zone))})
	}
}

// hours returns how long each person of a schedule is on call in a window, the longest first.
func (v *visit) hours(c *cast, schedule, from, to int64) ([]hoursRow, error) {
	var reply struct {
		Items []hoursRow `json:"items"`
	}
	if !v.MayReadSchedules() {
		return nil, nil
	}
	if err := v.call("/schedule/stats", map[string]any{"schedule_ids": []int64{schedule}, "start": from, "end": to}, &reply); err != nil {
		return nil, err
	}
	most := int64(1)
	for _, r := range reply.Items {
		most = max(most, r.Seconds)
	}
	rows := slices.SortedStableFunc(slices.Values(reply.Items), func(a, b hoursRow) int { return cmp.Compare(b.Seconds, a.Seconds) })
	for i := range rows {
		r := &rows[i]
		r.Mark = c.mark(r.PersonID)
		r.Bar = v.place(0, 100*float64(r.Seconds)/float64(most))
	}
	return rows, nil
}
