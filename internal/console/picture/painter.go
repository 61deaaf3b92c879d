package picture

import (
	"fmt"
	"html/template"
	"strconv"
	"strings"
	"time"

	"tocsin/internal/console/locale"
)

// Painter turns bars into what templates draw. Positions become rules of the page's style, because inline styles are
// forbidden.
type Painter struct {
	in       locale.Setting
	rules    *Positions
	cast     *Cast
	zone     *time.Location // of the texts
	Schedule int64          // bars link to why someone is on call; 0: no links
}

// NewPainter returns a painter whose texts have the times of a zone. Its positions are added to the rules of a page.
func NewPainter(in locale.Setting, rules *Positions, cast *Cast, zone *time.Location) *Painter {
	return &Painter{in: in, rules: rules, cast: cast, zone: zone}
}

// BarView is a bar as the template draws it.
type BarView struct {
	ID, Class, Text      string
	Full, Short, Initial string
	Fit, Href            string
	Silent               bool         // the same piece has another bar, which has its text
	Slivers              []sliverPath // short turns drawn as one; the members above but Text are empty
}

// sliverPath is short turns of one look: rectangles of a drawing that is 10000 wide and 100 high.
type sliverPath struct{ Class, Path string }

// Tick is a label of an axis, or a line.
type Tick struct {
	ID, Class, Label, Sub, Chip string
}

// Positions are rules of a page's style for the positions of its parts.
type Positions struct {
	text strings.Builder
	n    int
}

// Place adds a rule for a position in percent and returns the id that it is for. A width of 0 is left out.
func (p *Positions) Place(left, width float64) string {
	p.n++
	id := "g" + strconv.Itoa(p.n)
	p.text.WriteString("#" + id + "{left:" + decimal(left) + "%")
	if width > 0 {
		p.text.WriteString(";width:" + decimal(width) + "%")
	}
	p.text.WriteString("}")
	return id
}

// CSS returns the rules, which hold numbers alone.
func (p *Positions) CSS() template.CSS { return template.CSS(p.text.String()) }

func decimal(f float64) string { return strconv.FormatFloat(f, 'f', 2, 64) }

// The width in percent below which a bar is a sliver, in which no text has room.
const (
	LaneSliver  = 1.2 // on a lane
	StripSliver = 4.5 // on a strip
)

// manySlivers is how many slivers of one row are drawn as one: as bars, the hourly turns of two weeks would be most of a page.
const manySlivers = 16

// isSliver reports whether a bar is an ordinary short shift, not a gap, an override or the current shift.
func (b bar) isSliver(below float64) bool {
	return b.Width < below && b.Person != 0 && !b.Override && b.Split == 0 && b.More == 0
}

// Bars returns the views of bars. least is the width in percent below which a bar is no link, because a finger would miss
// it; short is the length in seconds below which a bar has no text; thin is the width of slivers.
func (p *Painter) Bars(bars []bar, class string, least float64, short int64, thin float64) (views []BarView) {
	var slivers []bar
	for _, b := range bars {
		if b.isSliver(thin) {
			slivers = append(slivers, b)
		}
	}
	if len(slivers) < manySlivers {
		slivers = nil
	} else {
		views = append(views, p.slivers(slivers, class))
	}
	for _, b := range bars {
		if slivers == nil || !b.isSliver(thin) {
			views = append(views, p.bar(b, class, least, short))
		}
	}
	return views
}

// slivers returns the view of many short turns: one path for all that look the same. Their words are in the list.
func (p *Painter) slivers(bars []bar, class string) BarView {
	w := BarView{Text: p.in.T("%d short turns, which the list names", len(bars))}
	paths := map[string]*strings.Builder{}
	var looks []string
	for _, b := range bars {
		look := class + " p-" + strconv.Itoa(p.cast.Mark(b.Person).Hue) + when(b.Ghost, " ghost") + when(b.Past, " done")
		if paths[look] == nil {
			paths[look], looks = &strings.Builder{}, append(looks, look)
		}
		top, high := 0, 100
		if b.Half != 0 {
			top, high = 52*(b.Half-1), 48
		}
		left, right := int(100*b.Left), int(100*(b.Left+b.Width))
		fmt.Fprintf(paths[look], "M%d %dh%dv%dH%dz", left, top, max(right-left-2, 1), high, left)
	}
	for _, look := range looks {
		w.Slivers = append(w.Slivers, sliverPath{look, paths[look].String()})
	}
	return w
}

func (p *Painter) bar(b bar, class string, least float64, short int64) BarView {
	w := BarView{ID: p.rules.Place(b.Left, b.Width), Silent: b.Split == 1}
	from, until := p.Moment(b.Start), p.Moment(b.End)
	if b.Person == 0 {
		w.Class = "gap"
		w.Full = p.in.T("No one · %s", p.in.Span(b.End-b.Start))
		w.Short = p.in.T("No one")
		w.Initial = "!"
		w.Fit = fit(w.Full)
		w.Text = p.in.T("No one is on call from %s until %s (%s)", from, until, p.in.Span(b.End-b.Start))
	} else {
		m := p.cast.Mark(b.Person)
		w.Class = class + " p-" + strconv.Itoa(m.Hue)
		w.Full = m.Name
		w.Short = m.Short
		w.Initial = m.Initials
		w.Fit = m.Fit
		w.Text = p.in.T("%s, %s until %s (%s)", m.Name, from, until, p.in.Span(b.End-b.Start))
		if b.Origin != "" {
			w.Text += " · " + b.Origin
		}
		if b.More > 0 {
			w.Initial = m.Initials + " +" + strconv.Itoa(b.More)
			w.Short = m.Short + " +" + strconv.Itoa(b.More)
			w.Full = m.Name + " +" + strconv.Itoa(b.More)
			w.Text += " · " + p.in.T("and %d more", b.More)
		}
		w.Class += when(m.Striped, " alt") + when(b.Override, " over") + when(b.Ghost, " ghost") + when(b.End-b.Start < short, " tiny") +
			when(b.Half == 1, " hi") + when(b.Half == 2, " lo")
	}
	w.Class += when(b.Past, " done") + when(b.CutStart, " before") + when(b.CutEnd, " after") + when(b.Split == 2, " cont")
	if p.Schedule != 0 && b.Width >= least && !w.Silent {
		w.Href = fmt.Sprintf("/schedules/%d/why?at=%d", p.Schedule, max(b.Start, min(p.in.Now.Unix(), b.End-1)))
	}
	return w
}

// when returns a text if something holds.
func when(holds bool, text string) string {
	if holds {
		return text
	}
	return ""
}

// Moment returns a moment as text in the zone of the picture, which it names.
func (p *Painter) Moment(at int64) string { return p.in.Labelled(time.Unix(at, 0).In(p.zone)) }

// Axis returns the labels of dates on a lane.
func (p *Painter) Axis(days []Day, from, to int64) (ticks []Tick) {
	for i, d := range days {
		if d.End <= from || d.Start >= to {
			continue
		}
		start, end := max(d.Start, from), min(d.End, to)
		left, width := 100*float64(start-from)/float64(to-from), 100*float64(end-start)/float64(to-from)
		t := Tick{ID: p.rules.Place(left, width)}
		t.Label, t.Sub, t.Class, t.Chip = p.Date(d, i == 0)
		if (end-start)*5 < d.Length()*3 {
			t.Label, t.Sub = "", ""
		}
		ticks = append(ticks, t)
	}
	return ticks
}

// Date returns the texts of a date: the day of the week, the day of the month, with the month where it is new, and the
// length of a day with a clock change.
func (p *Painter) Date(d Day, withMonth bool) (weekday, date, class, chip string) {
	at := time.Unix(d.Start, 0).In(d.zone)
	weekday, date = p.in.T(at.Format("Mon")), strconv.Itoa(at.Day())
	if withMonth || at.Day() == 1 {
		date = p.in.MonthDay(at)
	}
	if at.Weekday() == time.Saturday || at.Weekday() == time.Sunday {
		class = " weekend"
	}
	if now := p.in.Now.Unix(); d.Start <= now && now < d.End {
		class += " today"
	}
	if d.Length() != 86400 {
		chip = p.in.T("%g h", float64(d.Length())/3600)
	}
	return weekday, date, class, chip
}
