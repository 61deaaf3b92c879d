package browser

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"tocsin/test/browser/page"
)

// contiguous wants a list without gaps and overlaps.
func contiguous(t *testing.T, rows []listed) {
	t.Helper()
	if len(rows) < 2 {
		t.Fatalf("the list has %d rows", len(rows))
	}
	for i, r := range rows {
		if r.Who == "" || i > 0 && !r.From.Equal(rows[i-1].Until) {
			t.Errorf("the list has a gap or an overlap at %v: %+v", r.From, r)
		}
	}
}

// dayWidths returns how wide the picture draws its days, in percent.
func dayWidths(p *page.Page) []float64 {
	return page.Eval[[]float64](p, `(days => days.map(d => 100 * d.getBoundingClientRect().width / days[0].parentElement.getBoundingClientRect().width))([...document.querySelectorAll('.axis .days > li')])`)
}

// Across the spring change the day is 23 hours wide, with a mark and a line at the change; no one is on call twice or not at
// all. On a phone the missing hour is drawn.
func TestClockGoesForward(t *testing.T) {
	w := begin(t)
	p := signedIn(t, w)
	p.Open(picture(t, w, weekly, "?from=2027-03-22&days=14&tz=Europe/Berlin"))
	p.See("23 h")
	p.See("Clocks go forward")
	if got := page.Eval[string](p, `document.querySelector('.clockline b').textContent`); got != "02→03" {
		t.Errorf("the line says %q", got)
	}
	if widths := dayWidths(p); math.Abs(widths[6]/widths[5]-23./24) > .005 || math.Abs(widths[7]/widths[5]-1) > .005 {
		t.Errorf("the days are %v wide", widths)
	}
	if off := page.Eval[float64](p, `document.querySelector('.axis .days').getBoundingClientRect().left - document.querySelector('.lane.final .track').getBoundingClientRect().left`); math.Abs(off) > 1 {
		t.Errorf("the days lie %.1f pixels beside the shifts", off)
	}
	contiguous(t, list(p))
	sound(t, p)
	p.Phone()
	if wide := page.Eval[float64](p, `document.querySelector('.strips .missing').getBoundingClientRect().width`); wide < 8 {
		t.Errorf("the missing hour is %.1f pixels wide", wide)
	}
	sound(t, p)
}

// Across the autumn change the day is 25 hours wide, the repeated hour is labelled twice, and the shift of the change lasts
// as long as it does.
func TestClockGoesBack(t *testing.T) {
	w := begin(t)
	p := signedIn(t, w)
	p.Open(picture(t, w, daily, "?from=2027-10-25&days=14&tz=Europe/Berlin"))
	p.See("25 h")
	if widths := dayWidths(p); math.Abs(widths[6]/widths[5]-25./24) > .005 {
		t.Errorf("the days are %v wide", widths)
	}
	rows, long := list(p), 0
	contiguous(t, rows)
	for _, r := range rows {
		if r.From.Before(berlin(t, "2027-10-31 03:00")) && r.Until.After(berlin(t, "2027-10-31 03:00")) {
			long++
			if r.Length != "1 d 1 h" || r.Until.Sub(r.From) != 25*time.Hour {
				t.Errorf("the shift of the change is %s long: %+v", r.Length, r)
			}
		}
	}
	if long != 1 {
		t.Errorf("%d shifts have the change", long)
	}
	p.Phone()
	if got := page.Eval[[]string](p, `[...document.querySelectorAll('.strips .twice b')].map(b => b.innerText)`); fmt.Sprint(got) != "[02 02]" {
		t.Errorf("the hour that comes twice is labelled %v", got)
	}
	sound(t, p)
}

// Who lives in Shanghai sees a schedule of Berlin with the days of both. The difference changes with the clock of Berlin, and
// the picture marks from which day on. The address shows the same days to who opens it in Los Angeles.
func TestTwoZonesAtOnce(t *testing.T) {
	w := begin(t)
	p := open(t, w)
	p.SignIn(w.KeyOf(t, "李娜"))
	p.Language("en")
	p.Open(picture(t, w, stacked, "?from=2027-03-22&days=14"))
	p.See("Times in Berlin (schedule) · Shanghai +7 h → +6 h")
	if got := page.Eval[[]string](p, `[...document.querySelectorAll('.axis.two li:has(.chip)')].map(l => l.innerText.replace(/\s+/g, ' '))`); len(got) != 1 || !strings.Contains(got[0], "+6 h") || !strings.Contains(got[0], "28") {
		t.Errorf("the change of the difference is marked at %q", got)
	}
	sound(t, p)
	p.Follow("[aria-label=Later]")
	p.See("Shanghai +6 h")
	path := p.Path()
	axes := `[...document.querySelectorAll('.axis')].map(a => a.innerText.replace(/\s+/g, ' ')).join('\n')`
	there := page.Eval[string](p, axes)
	other := open(t, w)
	other.Zone("America/Los_Angeles")
	other.SignIn(w.KeyOf(t, "Maya Thompson"))
	other.Open(path)
	if here := page.Eval[string](other, axes); here != there || !strings.Contains(there, "Shanghai") {
		t.Errorf("one sees\n%s\nthe other\n%s", there, here)
	}
	p.Phone()
	p.Open(picture(t, w, stacked, "?from=2027-03-22&days=14"))
	if got := page.Eval[[]string](p, `[...document.querySelectorAll('.strips .ax > span')].map(s => s.innerText)`); fmt.Sprint(got) != "[Shanghai +7 h Shanghai +6 h]" {
		t.Errorf("the strips say %q", got)
	}
	sound(t, p)
}

// A shift that began before the first day still has its name.
func TestShiftThatBeganEarlierHasItsName(t *testing.T) {
	w := begin(t)
	p := signedIn(t, w)
	p.Open(picture(t, w, weekly, "?from=2027-03-24&days=7&tz=Europe/Berlin"))
	first := page.Eval[[]string](p, `(b => [b.className, [...b.querySelectorAll('.full, .short')].filter(e => e.checkVisibility()).map(e => e.innerText).join()])(document.querySelector('.lane.final .b'))`)
	if who := onCall(t, w, weekly, berlin(t, "2027-03-24 12:00")); !strings.Contains(first[0], "before") || first[1] == "" || !strings.Contains(who, strings.Fields(first[1])[0]) {
		t.Errorf("the first bar is %q, %s is on call", first, who)
	}
	p.Phone()
	if got := page.Eval[string](p, `document.querySelector('.strips .b .hidden').textContent`); !strings.Contains(got, onCall(t, w, weekly, berlin(t, "2027-03-24 12:00"))) {
		t.Errorf("the first strip says %q", got)
	}
	sound(t, p)
}

// Two who are on call together have half of the height each, large enough for a finger, and a screen reader speaks both names.
func TestTwoOnCallAtOnce(t *testing.T) {
	w := begin(t)
	p := signedIn(t, w)
	for name, wide := range map[string]bool{".lane.final": true, ".strips .row": false} {
		if p.Size(1360, 900); !wide {
			p.Phone()
		}
		p.Open(picture(t, w, stacked, "?from=2026-11-30&days=7&tz=Europe/Berlin"))
		halves := page.Eval[[]struct {
			High float64
			Text string
		}](p, `[...document.querySelectorAll('`+name+` .b:is(.hi, .lo):not([aria-hidden]) .t')].map(b => ({High: b.getBoundingClientRect().height, Text: b.innerText}))`)
		heard := ""
		for _, h := range halves {
			if h.High < 24 {
				t.Errorf("%s: a half is %.1f pixels high: %s", name, h.High, h.Text)
			}
			heard += h.Text + "\n"
		}
		for _, who := range strings.Split(onCall(t, w, stacked, berlin(t, "2026-12-02 12:00")), ", ") {
			if !strings.Contains(heard, who) {
				t.Errorf("%s: %s is not heard:\n%s", name, who, heard)
			}
		}
		sound(t, p)
	}
}

// An override of three quarters of an hour can be seen on a wide screen and on a phone, is no sliver to aim at, and is
// reached with keys in the list.
func TestShortOverride(t *testing.T) {
	w := begin(t)
	from := berlin(t, "2026-11-26 10:00")
	w.Do(t, "/schedule/override/create", map[string]any{
		"schedule_id": scheduleOf(t, w, weekly), "person_id": personOf(t, "Anna Schäfer"), "by": personOf(t, "Zoë Lefèvre"),
		"start": from.Unix(), "end": from.Add(45 * time.Minute).Unix(), "reason": "Dentist",
	}, nil)
	p := signedIn(t, w)
	shown := func(row string, least float64) {
		t.Helper()
		bar := page.Eval[struct {
			Wide  float64
			Links int
		}](p, `(b => ({Wide: b.getBoundingClientRect().width, Links: b.querySelectorAll('a').length}))([...document.querySelectorAll('`+row+` .b.over')].find(b => b.textContent.includes('45 min')))`)
		if bar.Wide < least || bar.Links > 0 {
			t.Errorf("%s: the override is %.1f pixels wide and has %d links", row, bar.Wide, bar.Links)
		}
	}
	p.Open(picture(t, w, weekly, "?from=2026-11-23&days=14&tz=Europe/Berlin"))
	shown(".lane.final", 5)
	p.Click("Show as list")
	found := false
	for _, r := range list(p) {
		if r.From.Equal(from) && r.Length == "45 min" && r.Who == "Zoë Lefèvre" {
			found = true
			tabToLink(t, p, r.Why)
			p.Enter()
			p.At(r.Why)
			p.See("Zoë Lefèvre is on call in place of Anna Schäfer.")
			sound(t, p)
			break
		}
	}
	if !found {
		t.Errorf("the list has no override: %+v", list(p))
	}
	p.Phone()
	p.Open(picture(t, w, weekly, "?from=2026-11-23&days=14&tz=Europe/Berlin"))
	shown(".strips .row", 8)
	sound(t, p)
}

// tabToLink presses the Tab key until a link has the focus.
func tabToLink(t *testing.T, p *page.Page, path string) {
	t.Helper()
	for range 400 {
		p.Key("\t")
		if page.Eval[string](p, `document.activeElement.getAttribute('href') ?? ''`) == path {
			return
		}
	}
	t.Fatalf("the Tab key does not reach %s", path)
}

// A click into the picture asks about the moment under the pointer, on lanes and on strips, also where no one is on call.
func TestWhyAtAnyMoment(t *testing.T) {
	w := begin(t)
	p := signedIn(t, w)
	path := picture(t, w, gaps, "?from=2026-11-30&days=14&tz=Europe/Berlin")
	p.Open(path)
	p.Click(".lane.final .track")
	p.At(picture(t, w, gaps, "/why?tz=Europe%2FBerlin&at="))
	moment := page.Eval[time.Time](p, `document.querySelector('#answer time').dateTime`)
	if off := moment.Sub(berlin(t, "2026-12-07 00:00")); off < -15*time.Minute || off > 15*time.Minute { // a pixel is 17 minutes
		t.Errorf("the middle of two weeks is %v", moment)
	}
	sound(t, p)
	p.Phone()
	p.Open(path)
	p.Click(`.track[data-day="2026-12-09"]`)
	p.At(picture(t, w, gaps, "/why?tz=Europe%2FBerlin&moment=2026-12-09T"))
	moment = page.Eval[time.Time](p, `document.querySelector('#answer time').dateTime`)
	if moment.Sub(berlin(t, "2026-12-09 12:00")).Abs() > 10*time.Minute {
		t.Errorf("the middle of a day is %v", moment)
	}
	p.See(onCall(t, w, gaps, moment))
	p.Open(path)
	p.Click("Show as list")
	gap := list(p)[0]
	if gap.Who != "" {
		t.Fatalf("there is no gap at %v: %+v", gap.From, gap)
	}
	p.Follow(`a[href="` + gap.Why + `"]:not(.b a)`)
	p.See("No one is on call until")
	sound(t, p)
}

// A person who is away is named at the picture of the schedule, and the explanation names who stands in.
func TestAbsenceIsShown(t *testing.T) {
	w := begin(t)
	p := signedIn(t, w)
	p.Open(picture(t, w, daily, "?from=2026-12-07&days=28&tz=Europe/Berlin"))
	p.See("Absent in these days: Ελένη Παπαδοπούλου, Sun 13 Dec, 00:00 CET – Sun 20 Dec, 00:00 CET")
	if got := page.Eval[string](p, `[...document.querySelectorAll('.lane')].at(-1).innerText`); !strings.Contains(got, "Absences") || !strings.Contains(got, "Ελένη") {
		t.Errorf("the last lane says %s", got)
	}
	sound(t, p)
	at := int64(0)
	for hours := range 7 * 24 {
		var reply struct {
			Layers []struct {
				StandIn string `json:"stand_in"`
			} `json:"layers"`
		}
		moment := berlin(t, "2026-12-13 00:00").Add(time.Duration(hours) * time.Hour).Unix()
		w.Do(t, "/schedule/explain", map[string]any{"schedule_id": scheduleOf(t, w, daily), "at": moment}, &reply)
		if len(reply.Layers) > 0 && reply.Layers[0].StandIn != "" {
			at = moment
			break
		}
	}
	p.Open(picture(t, w, daily, fmt.Sprintf("/why?at=%d", at)))
	p.See("standing in for Ελένη Παπαδοπούλου")
	sound(t, p)
}
