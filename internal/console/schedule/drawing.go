package schedule

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"tocsin/internal/absence"
	"tocsin/internal/console/page"
	"tocsin/internal/console/picture"
	schedules "tocsin/internal/schedule"
)

// draw adds the picture and the list.
func (d *schedulePage) draw(p *painter, s schedule, absences []absence.Absence) {
	w, now := d.Window, p.Now.Unix()
	pieces := w.within(p.cast.final(s))
	d.Axis, d.Grid = p.Axis(w.days, w.From, w.To), p.Axis(w.days, w.From, w.To)
	if w.Also != nil {
		d.Other = p.otherDays(w)
	}
	for _, day := range w.days {
		if day.Change != 0 {
			d.Changes = append(d.Changes, picture.Tick{ID: p.Placed.Place(w.at(day.Change), 0), Label: changeLabel(day.Change, w.Zone)})
		}
	}
	if now > w.From && now < w.To {
		d.NowID = p.Placed.Place(w.at(now), 0)
	}
	d.Lanes = append(p.finalLanes(pieces, w), p.layerLanes(s, pieces, w)...)
	if len(absences) > 0 {
		d.Lanes = append(d.Lanes, p.absenceLane(absences, w))
	}
	for _, a := range absences {
		d.Absent = append(d.Absent, absentRow{p.cast.Mark(a.PersonID), a.Start, a.End})
	}
	d.ByLayers = len(d.Lanes) > 1
	d.Days = p.strips(pieces, w)
	d.Periods = len(pieces)
	if listed := p.listed(pieces); len(listed) < len(pieces) {
		d.Whole, pieces = w.Link(0, 0)+"&periods=all#list", listed
	}
	d.List = p.list(s, pieces)
}

// mostPeriods is how many periods the list has unless all are asked for.
const mostPeriods = 72

// listed returns the periods of the list: when there are many, those that follow the present one.
func (p *painter) listed(pieces []picture.Piece) []picture.Piece {
	if len(pieces) <= mostPeriods || p.Query("periods") == "all" {
		return pieces
	}
	first := max(0, slices.IndexFunc(pieces, func(one picture.Piece) bool { return one.End > p.Now.Unix() }))
	first = min(first, len(pieces)-mostPeriods)
	return pieces[first:][:mostPeriods]
}

// at returns the position of a moment on the lanes.
func (w pictureWindow) at(t int64) float64 { return 100 * float64(t-w.From) / float64(w.To-w.From) }

// finalLanes returns the row that counts.
func (p *painter) finalLanes(pieces []picture.Piece, w pictureWindow) []laneView {
	return []laneView{{
		Name: p.T("On call"), Sub: p.T("who is paged"), Class: "final",
		Bars: p.Bars(picture.LaneBars(pieces, w.From, w.To, p.Now.Unix()), "solid", laneLink*usualDays/float64(max(w.Days, 1)), sliver,
			picture.LaneSliver),
	}}
}

// layerLanes returns the rows that explain it: overrides, then layers.
func (p *painter) layerLanes(s schedule, final []picture.Piece, w pictureWindow) (lanes []laneView) {
	add := func(name, sub, class string, pieces []picture.Piece) {
		bars := picture.LaneBars(pieces, w.From, w.To, p.Now.Unix())
		lanes = append(lanes, laneView{Name: name, Sub: sub, Class: class, Bars: p.Bars(bars, "soft", 101, sliver, picture.LaneSliver)})
	}
	var taken []picture.Piece
	for _, o := range s.Overrides() {
		if o.Start >= w.To || o.End <= w.From {
			continue
		}
		taken = append(taken, picture.Piece{Start: o.Start, End: o.End, Persons: []int64{o.By}, Origin: o.Reason, Override: true})
	}
	if len(taken) > 0 {
		add(p.T("Overrides"), p.T("%d here", len(taken)), "sub", taken)
	}
	computed := slices.Clone(page.ValueOf(s.ScheduleLayers))
	slices.SortStableFunc(computed, func(a, b schedules.ComputedLayer) int { return cmp.Compare(b.Mode, a.Mode) })
	for i, l := range computed {
		config := s.layerOf(l)
		if config.Hidden != 0 || l.Mode == overriding && len(page.ValueOf(l.Schedules)) == 0 {
			continue
		}
		name, sub := cmp.Or(l.LayerName, p.T("layer %d", i+1)), turnOf(p.Visit, config)
		pieces := piecesOf(page.ValueOf(l.Schedules))
		for j := range pieces {
			pieces[j].Override = l.Mode == overriding
		}
		add(name, sub, "sub", picture.Shadowed(pieces, final))
	}
	return lanes
}

// absenceLane returns the row of who cannot be on call.
func (p *painter) absenceLane(absences []absence.Absence, w pictureWindow) laneView {
	var away []picture.Piece
	for _, a := range absences {
		away = append(away, picture.Piece{Start: max(a.Start, w.From), End: min(a.End, w.To), Persons: []int64{a.PersonID}})
	}
	pieces := slices.DeleteFunc(picture.Applied(nil, nil, away, w.From, w.To), func(p picture.Piece) bool { return len(p.Persons) == 0 })
	for i := range pieces {
		pieces[i].Ghost, pieces[i].Origin = true, p.T("absent")
	}
	bars := p.Bars(picture.LaneBars(pieces, w.From, w.To, p.Now.Unix()), "soft", 101, sliver, picture.LaneSliver)
	return laneView{Name: p.T("Absences"), Sub: p.T("who cannot be on call"), Class: "sub", Bars: bars}
}

// layerOf returns the configuration of a computed layer: the first of its name and mode.
func (s schedule) layerOf(l schedules.ComputedLayer) schedules.LayerConfig {
	layers := s.Layers()
	i := slices.IndexFunc(layers, func(c schedules.Layer) bool { return c.LayerName == l.LayerName && c.Mode == l.Mode })
	if i < 0 {
		return schedules.LayerConfig{Mode: l.Mode}
	}
	return layers[i].LayerConfig
}

// turnOf returns how long a turn of a layer lasts, in words.
func turnOf(v *page.Visit, l schedules.LayerConfig) string {
	if l.Mode == overriding {
		return v.T("override")
	}
	switch {
	case l.RotationUnit == "hour" && l.RotationValue == 1:
		return v.T("changes every hour")
	case l.RotationUnit == "hour":
		return v.T("changes every %d hours", l.RotationValue)
	case l.RotationUnit == "day" && l.RotationValue == 1:
		return v.T("changes every day")
	case l.RotationUnit == "day":
		return v.T("changes every %d days", l.RotationValue)
	case l.RotationUnit == "week" && l.RotationValue == 1:
		return v.T("changes every week")
	case l.RotationUnit == "week":
		return v.T("changes every %d weeks", l.RotationValue)
	case l.RotationUnit == "month" && l.RotationValue == 1:
		return v.T("changes every month")
	case l.RotationUnit == "month":
		return v.T("changes every %d months", l.RotationValue)
	}
	return ""
}

// otherDays returns the midnights of the other zone. The first one after a change of the offset shows the new one.
func (p *painter) otherDays(w pictureWindow) (ticks []picture.Tick) {
	offset := ""
	for _, d := range picture.DaysFrom(w.From, w.Days+2, w.Also) {
		if d.End <= w.From || d.Start >= w.To {
			continue
		}
		at := time.Unix(d.Start, 0).In(w.Also)
		t := picture.Tick{Label: p.T(at.Format("Mon")) + " " + strconv.Itoa(at.Day())}
		start, end := max(d.Start, w.From), min(d.End, w.To)
		left, width := w.at(start), w.at(end)-w.at(start)
		if width*float64(w.Days) < 60 || w.Days > usualDays {
			t.Label = ""
		}
		if is := offsetOf(p.Visit, end-1, w.Zone, w.Also); is != offset && len(ticks) > 0 {
			t.Chip = is
		}
		offset = offsetOf(p.Visit, end-1, w.Zone, w.Also)
		t.ID = p.Placed.Place(left, width)
		if d.Start < w.From {
			t.Class = "cut"
		}
		ticks = append(ticks, t)
	}
	return ticks
}

// changeLabel returns what the clock does at a clock change, such as 02→03.
func changeLabel(at int64, zone *time.Location) string {
	layout := "15:04"
	before, after := time.Unix(at-1, 0).In(zone), time.Unix(at, 0).In(zone)
	_, a := before.Zone()
	until := time.Unix(at, 0).In(time.FixedZone("", a))
	if until.Minute() == 0 && after.Minute() == 0 {
		layout = "15"
	}
	return until.Format(layout) + "→" + after.Format(layout)
}

// strips returns one row for each date.
func (p *painter) strips(pieces []picture.Piece, w pictureWindow) (rows []stripView) {
	offset, now := "", p.Now.Unix()
	for i, d := range w.days {
		row := stripView{}
		row.Weekday, row.Day, row.Class, row.Chip = p.Date(d, i == 0)
		row.Date = time.Unix(d.Start, 0).In(w.Zone).Format(time.DateOnly)
		row.Bars = p.Bars(picture.StripBars(pieces, d, now), "solid", stripLink, sliver/2, picture.StripSliver)
		if s := d.Missing(); s.Width > 0 {
			row.Missing = p.Placed.Place(s.Left, s.Width)
		}
		if s := d.Twice(); s.Width > 0 {
			row.Twice = p.Placed.Place(s.Left, s.Width)
			row.TwiceHour = time.Unix(d.Change, 0).In(w.Zone).Format("15")
		}
		if d.Start <= now && now < d.End {
			row.NowID = p.Placed.Place(d.At(now, false), 0)
		}
		is := "-"
		if w.Also != nil {
			is = offsetOf(p.Visit, d.Start+15*3600, w.Zone, w.Also)
		}
		if is != offset {
			offset, row.Offset = is, is
			row.Hours = p.hourTicks(d, w)
		}
		rows = append(rows, row)
	}
	return rows
}

// hourTicks returns the hours above a strip, and those of the other zone below them.
func (p *painter) hourTicks(d picture.Day, w pictureWindow) (ticks []picture.Tick) {
	for hour := 0; hour < 24; hour += 6 {
		t := picture.Tick{ID: p.Placed.Place(float64(hour)/.24, 25), Label: fmt.Sprintf("%02d", hour)}
		if w.Also != nil {
			at := time.Unix(d.Start+15*3600, 0)
			_, a := at.In(w.Zone).Zone()
			_, b := at.In(w.Also).Zone()
			t.Sub = time.Date(2000, 1, 1, hour, 0, b-a, 0, time.UTC).Format("15:04")
			if (b-a)%3600 == 0 {
				t.Sub = t.Sub[:2]
			}
		}
		ticks = append(ticks, t)
	}
	return ticks
}

// list returns the periods in words.
func (p *painter) list(s schedule, pieces []picture.Piece) (rows []listRow) {
	for _, piece := range pieces {
		row := listRow{Start: piece.Start, End: piece.End, Who: p.cast.Marks(piece.Persons), Origin: piece.Origin, Gap: len(piece.Persons) == 0}
		row.Why = fmt.Sprintf("/schedules/%d/why?at=%d", s.ScheduleID, max(piece.Start, min(p.Now.Unix(), piece.End-1)))
		row.shiftLinks = shiftLinksOf(p.Visit, s, piece)
		if row.Gap && piece.End > p.Now.Unix() && p.MayPlan() {
			row.Fill = overrideLink(s.ScheduleID, piece, everyone, 0)
		}
		rows = append(rows, row)
	}
	return rows
}
