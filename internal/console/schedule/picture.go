package schedule

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"time"

	"tocsin/internal/absence"
	"tocsin/internal/api"
	"tocsin/internal/console/page"
	"tocsin/internal/console/picture"
	schedules "tocsin/internal/schedule"
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
	page.Titled
	Schedule schedule
	Window   pictureWindow
	Now      *shiftCard
	Next     []shiftCard
	Notices  []pictureNotice
	Lanes    []laneView
	Absent   []absentRow
	Axis     []picture.Tick
	Other    []picture.Tick // midnights of the other zone
	Changes  []picture.Tick // clock changes
	Grid     []picture.Tick
	NowID    string // of the line; empty: now is not in the window
	Days     []stripView
	List     []listRow
	Whole    string // the address with all periods; empty: the list has them
	Periods  int    // how many there are
	Hours    []hoursRow
	Rules    int64
	Known    bool   // whether Rules is known
	Unused   string // where the visitor lets an escalation rule use it; empty: a rule does, or the visitor may not
	ByLayers bool   // the picture has layers
}

// shiftCard is a shift in words.
type shiftCard struct {
	Who        []picture.Mark
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
	Bars             []picture.BarView
}

// absentRow is when a person of the schedule cannot be on call.
type absentRow struct {
	Who        picture.Mark
	Start, End int64
}

// stripView is a date of the narrow picture.
type stripView struct {
	Day, Weekday, Class, Chip string
	Date                      string // for programs
	Bars                      []picture.BarView
	Missing, Twice            string // ids; empty: none
	TwiceHour                 string // the hour that comes twice, on the clock
	NowID                     string
	Hours                     []picture.Tick // the labels above it; empty: as before
	Offset                    string
}

// listRow is a period in the list that has what the picture shows.
type listRow struct {
	Start, End int64
	Who        []picture.Mark
	Origin     string
	Gap        bool
	Fill, Why  string
	shiftLinks
}

// hoursRow is how long one person is on call.
type hoursRow struct {
	schedules.PersonStats
	Mark picture.Mark
	Bar  string
}

func showSchedule(v *page.Visit) (page.View, error) {
	id := v.ID()
	now := v.Now.Unix()
	ahead, err := readSchedule(v, id, now, now+usualDays*86400)
	if err != nil {
		return nil, err
	}
	d := schedulePage{Titled: page.Titled(ahead.Name()), Schedule: ahead, Window: readWindow(v, ahead), Known: v.MayReadSchedules()}
	s, err := readSchedule(v, id, d.Window.From-d.Window.margin(), d.Window.To+d.Window.margin())
	if err != nil {
		return nil, err
	}
	rules, err := uses(v, []schedule{s})
	if err != nil {
		return nil, err
	}
	d.Rules = rules[s.ScheduleID]
	if d.Known && d.Rules == 0 {
		d.Unused, err = v.EscalationPath()
		if err != nil {
			return nil, err
		}
	}
	c := newCast(v)
	c.add(ahead)
	c.add(s)
	if err := c.load(); err != nil {
		return nil, err
	}
	p := newPainter(v, c, d.Window.Zone)
	p.Schedule = s.ScheduleID
	absences, err := absences(v, s, d.Window.From, d.Window.To)
	if err != nil {
		return nil, err
	}
	d.draw(p, s, absences)
	d.cards(p, ahead)
	d.Hours, err = hours(v, c, s.ScheduleID, d.Window.From, d.Window.To)
	return d, err
}

// absences returns when persons of a schedule cannot be on call in a window.
func absences(v *page.Visit, s schedule, from, to int64) ([]absence.Absence, error) {
	persons := s.members()
	if len(persons) == 0 || !v.MayReadSchedules() {
		return nil, nil
	}
	return absencesOf(v, absence.ListRequest{PersonIDs: persons[:min(len(persons), 1000)], Start: from, End: to})
}

// absencesOf returns the absences that a request asks for, the earliest first.
func absencesOf(v *page.Visit, request absence.ListRequest) ([]absence.Absence, error) {
	request.Limit = 100
	reply, err := page.Call[api.Paged[absence.Absence]](v, "/person/absence/list", request)
	all := slices.Clone(reply.Items)
	slices.Reverse(all)
	return all, err
}

// readSchedule reads a schedule with its timelines in a window.
func readSchedule(v *page.Visit, id, from, to int64) (schedule, error) {
	request := schedules.InfoRequest{ScheduleID: id, Window: schedules.Window{Start: &from, End: &to}}
	reply, err := page.Call[schedules.Schedule](v, "/schedule/info", request)
	return schedule{reply}, err
}

// storedSchedule reads a schedule for what is stored of it.
func storedSchedule(v *page.Visit, id int64) (schedule, error) {
	reply, err := page.Call[schedules.Schedule](v, "/schedule/info", schedules.InfoRequest{ScheduleID: id})
	return schedule{reply}, err
}

// everyone stands in an address for all who are on call, and for no one in a gap.
const everyone = -1

// overrideLink returns the address of a form for an override with everything filled in.
func overrideLink(schedule int64, p picture.Piece, whom, by int64) string {
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
	pieces := picture.WithGaps(p.cast.final(ahead), now, now+usualDays*86400)
	if e := ahead.CurOncall; e != nil && len(personsOf(e.Group)) > 0 {
		persons := personsOf(e.Group)
		card := shiftCard{Who: p.cast.Marks(persons), Start: e.Start, End: e.End}
		card.shiftLinks = shiftLinksOf(p.Visit, ahead, picture.Piece{Start: e.Start, End: e.End, Persons: persons})
		card.Origin, card.Override = p.cast.origin(ahead, picture.Piece{Start: now, End: now + 1, Persons: persons})
		if e.End > e.Start {
			card.Bar = p.Placed.Place(0, 100*float64(now-e.Start)/float64(e.End-e.Start))
		}
		d.Now = &card
	}
	for _, piece := range pieces {
		if piece.Start > now && len(piece.Persons) > 0 && len(d.Next) < 3 {
			d.Next = append(d.Next, shiftCard{
				Who: p.cast.Marks(piece.Persons), Start: piece.Start, End: piece.End, Origin: piece.Origin, Override: piece.Override,
			})
		}
		if len(piece.Persons) == 0 && len(d.Notices) == 0 && len(ahead.Layers()) > 0 {
			n := pictureNotice{Class: "crit", Icon: "triangle-alert", Title: p.T("No one is on call for %s", p.Span(piece.End-piece.Start)),
				Text: p.Moment(piece.Start) + " → " + p.Moment(piece.End)}
			if p.MayPlan() {
				n.Fill = overrideLink(ahead.ScheduleID, piece, everyone, 0)
			}
			d.Notices = append(d.Notices, n)
		}
	}
	for _, day := range d.Window.days {
		if day.Change == 0 || len(d.Notices) == 2 {
			continue
		}
		title := p.T("Clocks go forward")
		if day.Shift < 0 {
			title = p.T("Clocks go back")
		}
		at := time.Unix(day.Start, 0).In(d.Window.Zone)
		d.Notices = append(d.Notices, pictureNotice{Icon: "alarm-clock", Title: title,
			Text: p.T("%s in %s: %s", p.T(at.Format("Mon"))+" "+p.MonthDay(at), d.Window.City, changeLabel(day.Change, d.Window.Zone))})
	}
}

// hours returns how long each person of a schedule is on call in a window, the longest first.
func hours(v *page.Visit, c *cast, schedule, from, to int64) ([]hoursRow, error) {
	if !v.MayReadSchedules() {
		return nil, nil
	}
	request := schedules.StatsRequest{ScheduleIDs: []int64{schedule}, Start: from, End: to}
	reply, err := page.Call[schedules.Stats](v, "/schedule/stats", request)
	return c.hoursRows(reply.Items), err
}

// hoursRows returns figures of persons with their colours, the longest first.
func (c *cast) hoursRows(list []schedules.PersonStats) []hoursRow {
	most := int64(1)
	for _, r := range list {
		most = max(most, r.Seconds)
	}
	rows := make([]hoursRow, len(list))
	for i, r := range list {
		rows[i].PersonStats, rows[i].Mark = r, c.Mark(r.PersonID)
	}
	slices.SortStableFunc(rows, func(a, b hoursRow) int { return cmp.Compare(b.Seconds, a.Seconds) })
	for i := range rows {
		rows[i].Bar = c.Placed.Place(0, 100*float64(rows[i].Seconds)/float64(most))
	}
	return rows
}
