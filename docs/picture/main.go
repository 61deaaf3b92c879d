// Command picture draws docs/timeline.svg, the picture in docs/timeline.md: one schedule over nine days in which the clocks
// change, computed by the engine that the product uses. Run it from the project's root:
//
//	go run ./docs/picture > docs/timeline.svg
//
// A test compares the file with the output.
package main

import (
	"fmt"
	"html"
	"io"
	"os"
	"strings"
	"time"
	_ "time/tzdata"

	"tocsin/internal/core/oncall"
)

func main() { draw(os.Stdout) }

const (
	left, top  = 118, 54
	width      = 1000 // of the nine days, in pixels
	row, gap   = 34, 12
	totalWidth = left + width + 16
)

// The people, with a colour each that is readable in light and dark.
var colours = map[string]string{"Ana": "#2f6fb3", "Ben": "#2a8a5f", "Cleo": "#8a5bb5", "Dev": "#b3642f", "Eli": "#a83d5c"}

// schedule returns a team in London: office hours in rotation, nights that wrap over midnight, a weekend shift that
// overlaps Friday night, and one evening that Eli takes over.
func schedule() (s oncall.Schedule, from, to time.Time) {
	london, err := time.LoadLocation("Europe/London")
	if err != nil {
		panic(err) // the zones are built in
	}
	at := func(day, hour int) int64 { return time.Date(2026, 10, day, hour, 0, 0, 0, london).Unix() }
	group := func(names ...string) (groups []oncall.Group) {
		for i, n := range names {
			groups = append(groups, oncall.Group{Name: n, Members: []oncall.Member{{PersonIDs: []int64{int64(i + 1)}}}})
		}
		return groups
	}
	const hour = 3600
	weekdays := oncall.Weekdays(0b0111110)
	s = oncall.Schedule{Zone: london, Layers: []oncall.Layer{
		{
			Name:         "Office",
			Start:        at(19, 0),
			Unit:         oncall.Day,
			Value:        1,
			Mask:         weekdays,
			RestrictMode: oncall.RestrictDay,
			Restrict:     []oncall.Period{{Start: 9 * hour, End: 18 * hour}},
			Groups:       group("Ana", "Ben", "Cleo"),
		},
		{
			Name:         "Night",
			Start:        at(19, 18),
			Unit:         oncall.Day,
			Value:        1,
			Mask:         weekdays,
			Continuous:   true,
			RestrictMode: oncall.RestrictDay,
			Restrict:     []oncall.Period{{Start: 18 * hour, End: 9 * hour}},
			Groups:       group("Dev", "Eli"),
		},
		{
			Name:         "Weekend",
			Start:        at(17, 0),
			Unit:         oncall.Week,
			Value:        1,
			RestrictMode: oncall.RestrictWeek,
			Restrict:     []oncall.Period{{Start: 5 * 24 * hour, End: 7 * 24 * hour}},
			Groups:       group("Cleo", "Ana"),
		},
		{Name: "Override", Mode: oncall.Override, Start: at(27, 15), End: at(28, 0), Groups: group("Eli")},
	}}
	return s, time.Date(2026, 10, 22, 0, 0, 0, 0, london), time.Date(2026, 10, 31, 0, 0, 0, 0, london)
}

// header is the beginning of the picture: its size twice, the styles and the pattern of gaps.
const header = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" ` +
	`aria-label="A computed on-call timeline: four layers and the final timeline, over the end of summer time">
<style>text{font:13px system-ui,sans-serif;fill:#24292f}.m{font-size:11px;fill:#57606a}.n{fill:#fff;font-weight:600}</style>
<defs><pattern id="g" width="7" height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">` +
	`<rect width="7" height="7" fill="#fbe9e7"/><path d="M0 0V7" stroke="#d1493f" stroke-width="2"/></pattern></defs>
<rect width="100%%" height="100%%" fill="#fff"/>
`

// footer is the legend, at a position, and the end of the picture.
const footer = `<text class="m" x="%d" y="%d">Striped: no one is on call, and Tocsin shows it. Night shifts wrap over midnight; ` +
	`two layers at once stack; an override replaces all; Sunday has 25 hours.</text>
</svg>
`

func draw(w io.Writer) {
	s, from, to := schedule()
	line := s.Window(from.Unix(), to.Unix())
	x := func(unix int64) float64 {
		return left + width*float64(unix-from.Unix())/float64(to.Unix()-from.Unix())
	}
	height := top + (len(s.Layers)+1)*(row+gap) + 40
	fmt.Fprintf(w, header, totalWidth, height, totalWidth, height)
	days(w, from, to, x, height)
	for i := range s.Layers {
		y := top + i*(row+gap)
		label(w, y, s.Layers[i].Name)
		for _, e := range line.Layers[i] {
			bar(w, x(e.Start), x(e.End), y, s.Layers[i].Groups[e.Group].Name, 0.55)
		}
	}
	y := top + len(s.Layers)*(row+gap) + 8
	label(w, y, "On call")
	at := from.Unix()
	for _, p := range append(line.Final, oncall.Piece{Start: to.Unix()}) {
		if p.Start > at {
			fmt.Fprintf(w, `<rect x="%.1f" y="%d" width="%.1f" height="%d" fill="url(#g)"><title>no one</title></rect>`+"\n",
				x(at), y, x(p.Start)-x(at), row)
		}
		if p.End > p.Start {
			bar(w, x(p.Start), x(p.End), y, p.Group.Name, 1)
			at = p.End
		}
	}
	fmt.Fprintf(w, footer, left, height-10)
}

// days draws the dates, the midnights and the clock change.
func days(w io.Writer, from, to time.Time, x func(int64) float64, height int) {
	for d := from; d.Before(to); d = d.AddDate(0, 0, 1) {
		next := d.AddDate(0, 0, 1)
		fmt.Fprintf(w, `<path d="M%.1f %dV%d" stroke="#d0d7de"/>`+"\n", x(d.Unix()), top-24, height-30)
		fmt.Fprintf(w, `<text x="%.1f" y="%d">%s</text><text class="m" x="%.1f" y="%d">%s</text>`+"\n", x(d.Unix())+6, top-28,
			d.Format("Mon 2 Jan"), x(d.Unix())+6, top-13, hours(next.Sub(d)))
	}
	fmt.Fprintf(w, `<text class="m" x="8" y="%d">%s</text>`+"\n", top-28, html.EscapeString(from.Location().String()))
}

func hours(d time.Duration) string {
	if d == 24*time.Hour {
		return ""
	}
	return fmt.Sprintf("%g hours", d.Hours())
}

func label(w io.Writer, y int, name string) {
	fmt.Fprintf(w, `<text x="8" y="%d">%s</text>`+"\n", y+row/2+5, html.EscapeString(name))
}

// bar draws one shift. Two people on call at once share its height.
func bar(w io.Writer, x1, x2 float64, y int, names string, opacity float64) {
	people := strings.Split(names, "+")
	h := float64(row) / float64(len(people))
	for i, name := range people {
		top := float64(y) + h*float64(i)
		fmt.Fprintf(w, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="3" fill="%s" opacity="%.2f"><title>%s</title></rect>`+"\n", x1+0.5,
			top+0.5, x2-x1-1, h-1, colours[name], opacity, name)
		if x2-x1 > 34 {
			fmt.Fprintf(w, `<text class="n" x="%.1f" y="%.1f" font-size="12">%s</text>`+"\n", x1+6, top+h/2+4.5, name)
		}
	}
}
