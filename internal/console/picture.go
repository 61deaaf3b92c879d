package console

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"tocsin/internal/absence"
	schedules "tocsin/internal/schedule"
)

// draw adds the picture and the list.
func (d *schedulePage) draw(p *painter, s schedule, absences []absence.Absence) {
	w, now := d.Window, p.Now.Unix()
	pieces := w.within(p.cast.final(s))
	d.Axis, d.Grid = p.days(w.days, w.From, w.To), p.days(w.days, w.From, w.To)
	if w.Also != nil {
		d.Other = p.otherDays(w)
	}
	for _, day := range w.days {
		if day.change != 0 {
			d.Changes = append(d.Changes, tick{ID: p.place(w.at(day.change), 0), Label: p.changeLabel(day.change, w.Zone)})
		}
	}
	if now > w.From && now < w.To {
		d.NowID = p.place(w.at(now), 0)
	}
	d.Lanes = append(p.finalLanes(pieces, w), p.layerLanes(s, pieces, w)...)
	if len(absences) > 0 {
		d.Lanes = append(d.Lanes, p.absenceLane(absences, w))
	}
	for _, a := range absences {
		d.Absent = append(d.Absent, absentRow{p.cast.mark(a.PersonID), a.Start, a.End})
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
func (p *painter) listed(pieces []piece) []piece {
	if len(pieces) <= mostPeriods || p.query("periods") == "all" {
		return pieces
	}
	first := max(0, slices.IndexFunc(pieces, func(one piece) bool { return one.End > p.Now.Unix() }))
	first = min(first, len(pieces)-mostPeriods)
	return pieces[first:][:mostPeriods]
}

// at returns the position of a moment on the lanes.
func (w pictureWindow) at(t int64) float64 { return 100 * float64(t-w.From) / float64(w.To-w.From) }

// finalLanes returns the row that counts.
func (p *painter) finalLanes(pieces []piece, w pictureWindow) []laneView {
	return []laneView{{
		Name: p.T("On call"), Sub: p.T("who is paged"), Class: "final",
		Bars: p.bars(laneBars(pieces, w.From, w.To, p.Now.Unix()), "solid", laneLink*usualDays/float64(max(w.Days, 1)), sliver, laneSliver),
	}}
}

// layerLanes returns the rows that explain it: overrides, then layers.
func (p *painter) layerLanes(s schedule, final []piece, w pictureWindow) (lanes []laneView) {
	add := func(name, sub, class string, pieces []piece) {
		bars := laneBars(pieces, w.From, w.To, p.Now.Unix())
		lanes = append(lanes, laneView{Name: name, Sub: sub, Class: class, Bars: p.bars(bars, "soft", 101, sliver, laneSliver)})
	}
	var taken []piece
	for _, o := range s.Overrides() {
		if o.Start >= w.To || o.End <= w.From {
			continue
		}
		taken = append(taken, piece{Start: o.Start, End: o.End, Persons: []int64{o.By}, Origin: o.Reason, Override: true})
	}
	if len(taken) > 0 {
		add(p.T("Overrides"), p.T("%d here", len(taken)), "sub", taken)
	}
	computed := slices.Clone(valueOf(s.ScheduleLayers))
	slices.SortStableFunc(computed, func(a, b schedules.ComputedLayer) int { return cmp.Compare(b.Mode, a.Mode) })
	for i, l := range computed {
		config := s.layerOf(l)
		if config.Hidden != 0 || l.Mode == overriding && len(valueOf(l.Schedules)) == 0 {
			continue
		}
		name, sub := cmp.Or(l.LayerName, p.T("layer %d", i+1)), p.turnOf(config)
		pieces := p.cast.pieces(valueOf(l.Schedules))
		for j := range pieces {
			pieces[j].Override = l.Mode == overriding
		}
		add(name, sub, "sub", shadowed(pieces, final))
	}
	return lanes
}

// absenceLane returns the row of who cannot be on call.
func (p *painter) absenceLane(absences []absence.Absence, w pictureWindow) laneView {
	var away []piece
	for _, a := range absences {
		away = append(away, piece{Start: max(a.Start, w.From), End: min(a.End, w.To), Persons: []int64{a.PersonID}})
	}
	pieces := slices.DeleteFunc(applied(nil, nil, away, w.From, w.To), func(p piece) bool { return len(p.Persons) == 0 })
	for i := range pieces {
		pieces[i].Ghost, pieces[i].Origin = true, p.T("absent")
	}
	bars := p.bars(laneBars(pieces, w.From, w.To, p.Now.Unix()), "soft", 101, sliver, laneSliver)
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
func (v *visit) turnOf(l schedules.LayerConfig) string {
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
func (p *painter) otherDays(w pictureWindow) (ticks []tick) {
	offset := ""
	for _, d := range daysFrom(w.From, w.Days+2, w.Also) {
		if d.End <= w.From || d.Start >= w.To {
			continue
		}
		at := time.Unix(d.Start, 0).In(w.Also)
		t := tick{Label: p.T(at.Format("Mon")) + " " + strconv.Itoa(at.Day())}
		start, end := max(d.Start, w.From), min(d.End, w.To)
		left, width := w.at(start), w.at(end)-w.at(start)
		if width*float64(w.Days) < 60 || w.Days > usualDays {
			t.Label = ""
		}
		if is := p.offset(end-1, w.Zone, w.Also); is != offset && len(ticks) > 0 {
			t.Chip = is
		}
		offset = p.offset(end-1, w.Zone, w.Also)
		t.ID = p.place(left, width)
		if d.Start < w.From {
			t.Class = "cut"
		}
		ticks = append(ticks, t)
	}
	return ticks
}

// changeLabel returns what the clock does at a clock change, such as 02→03.
func (v *visit) changeLabel(at int64, zone *time.Location) string {
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
func (p *painter) strips(pieces []piece, w pictureWindow) (rows []stripView) {
	offset, now := "", p.Now.Unix()
	for i, d := range w.days {
		row := stripView{}
		row.Weekday, row.Day, row.Class, row.Chip = p.date(d, i == 0)
		row.Date = time.Unix(d.Start, 0).In(w.Zone).Format(time.DateOnly)
		row.Bars = p.bars(stripBars(pieces, d, now), "solid", stripLink, sliver/2, stripSliver)
		if s := d.missing(); s.Width > 0 {
			row.Missing = p.place(s.Left, s.Width)
		}
		if s := d.twice(); s.Width > 0 {
			row.Twice = p.place(s.Left, s.Width)
			row.TwiceHour = time.Unix(d.change, 0).In(w.Zone).Format("15")
		}
		if d.Start <= now && now < d.End {
			row.NowID = p.place(d.at(now, false), 0)
		}
		is := "-"
		if w.Also != nil {
			is = p.offset(d.Start+15*3600, w.Zone, w.Also)
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
func (p *painter) hourTicks(d day, w pictureWindow) (ticks []tick) {
	for hour := 0; hour < 24; hour += 6 {
		t := tick{ID: p.place(float64(hour)/.24, 25), Label: fmt.Sprintf("%02d", hour)}
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
func (p *painter) list(s schedule, pieces []piece) (rows []listRow) {
	for _, piece := range pieces {
		row := listRow{Start: piece.Start, End: piece.End, Who: p.cast.marks(piece.Persons), Origin: piece.Origin, Gap: len(piece.Persons) == 0}
		row.Why = fmt.Sprintf("/schedules/%d/why?at=%d", s.ScheduleID, max(piece.Start, min(p.Now.Unix(), piece.End-1)))
		row.shiftLinks = p.shiftLinks(s, piece)
		if row.Gap && piece.End > p.Now.Unix() && p.MayPlan() {
			row.Fill = overrideLink(s.ScheduleID, piece, everyone, 0)
		}
		rows = append(rows, row)
	}
	return rows
}
