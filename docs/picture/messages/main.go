// Command messages draws the pictures of messages and of the page of a link, as a person sees them at 320 and 1200 pixels,
// in light and in dark. It needs Chromium, whose name is its argument. Run it from the project's root:
//
//	make pictures
//
// It fails if something must be scrolled sideways.
package main

import (
	"bytes"
	"fmt"
	"html"
	"html/template"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"log"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"tocsin/internal/core/render"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: messages CHROMIUM")
	}
	pages, err := documents()
	if err != nil {
		log.Fatal(err)
	}
	for name, page := range pages {
		for _, width := range []int{320, 1200} {
			if err := picture(os.Args[1], name, page, width); err != nil {
				log.Fatalf("%s at %d pixels: %v", name, width, err)
			}
		}
	}
}

// outage is an incident of many alerts, with names and texts as long as they come.
var outage = render.Incident{
	IncidentID: "69db2f72a0fe7db6448b1506", Title: "HighErrorRate::checkout::web00", Severity: "Critical", Progress: "Triggered",
	Description: "More than 5 % of the requests to POST /checkout fail.\nCustomers cannot pay.", Account: "Acme", Channel: "Payments",
	TimeZone: "Europe/Berlin", StartTime: 1795252440, Event: "i_new", AlertCount: 50,
	Headline: "Error rate of checkout is 9 %", Where: "web00, +49 hosts",
	Shared: map[string]string{
		"service": "checkout", "cluster": "eu-central-1", "team": "payments",
		"node_filesystem_avail_bytes_and_a_long_name": "/var/lib/docker/overlay2/0123456789abcdef0123456789abcdef0123456789abcdef",
	},
	Differ: []render.Difference{{Name: "host", Count: 50, Values: []string{"web00", "web01", "web02", "web03", "web04"}}},
	Links: []render.Link{
		{Name: "runbook", URL: "https://wiki.example.com/checkout"}, {Name: "graph", URL: "https://prometheus.example.com/graph"},
		{Name: "dashboard", URL: "https://grafana.example.com/d/1"}, {Name: "silence", URL: "https://grafana.example.com/silence"},
	},
	Notified: []string{"Ben Night (voice, email)", "chats and addresses (slack)"},
	Next:     "team Payments at 03:24 CET if no one acknowledges",
	Reason:   "on call in Production, layer Weekdays",
	AckLink:  "https://tocsin.example.com/ack/sample", Link: "https://tocsin.example.com/incidents/69db2f72a0fe7db6448b1506",
}

// documents returns the HTML of each picture by its name.
func documents() (map[string]string, error) {
	over, warning := outage, outage
	over.Progress = "Closed"
	over.AckLink = ""
	over.Next = ""
	over.AckedBy = "Ann Day"
	over.EndedBy, over.Duration = "the end of its alerts", 7500
	over.Event, over.Reason = "i_rslv", "notified of it before: on call in Production"
	warning.Severity = "Warning"
	warning.Where = "db1"
	warning.AlertCount = 1
	warning.Differ = nil
	warning.Links = nil
	warning.Headline, warning.Test = strings.Repeat("Verylongwordwithoutaspace", 6), true
	pages := map[string]string{}
	for name, i := range map[string]render.Incident{"mail": outage, "mail-end": over, "mail-long": warning} {
		t, err := render.Parse(render.Preset["email"], render.HTML)
		if err != nil {
			return nil, err
		}
		text, err := t.Render(i)
		if err != nil {
			return nil, err
		}
		pages[name] = string(text)
	}
	lines := []string{}
	for n := range 6 {
		lines = append(lines, fmt.Sprintf("Critical: Error rate of service-%d is 9 %% (web%02d) (Payments), since 2026-11-21 03:14 CET", n, n))
	}
	var err error
	pages["mail-storm"], err = filled("bundle.html", map[string]any{
		"Head": "47 incidents need you: 31 Critical in Payments, 16 Warning in Shop", "More": "and 41 more", "Link": outage.AckLink,
		"Colour": "#c80000", "Lines": lines,
	})
	if err != nil {
		return nil, err
	}
	view := map[string]any{
		"Title": outage.Problem(), "Person": "Ann Day", "About": outage, "Since": "2026-11-21 03:14 CET", "Ask": true, "Open": true,
		"Problem": "", "Lines": nil, "Done": "", "Minutes": 0, "Persons": nil,
	}
	pages["page"], err = filled("ack.html", view)
	return pages, err
}

// filled returns a page of the notifications with its values.
func filled(file string, values any) (string, error) {
	t, err := template.ParseFiles(filepath.Join("internal/engine/notify", file))
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	err = t.Execute(&b, values)
	return b.String(), err
}

var measured = regexp.MustCompile(`data-size="(\d+) (\d+)"`)

// picture draws a document in a width, in light and in dark: beside each other, or below each other if it is wide.
func picture(chromium, name, page string, width int) error {
	dir, err := os.MkdirTemp("", "pictures")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }() // only a profile of the browser
	file := filepath.Join(dir, "page.html")
	out, err := run(chromium, file, sheet(page, width, 400), "--dump-dom")
	if err != nil {
		return err
	}
	size := measured.FindStringSubmatch(out)
	if size == nil {
		return fmt.Errorf("it could not be measured")
	}
	wide, _ := strconv.Atoi(size[1])
	high, _ := strconv.Atoi(size[2])
	if wide > width {
		return fmt.Errorf("it is %d pixels wide", wide)
	}
	target, err := filepath.Abs(fmt.Sprintf("docs/picture/%s-%d.png", name, width))
	if err != nil {
		return err
	}
	total := fmt.Sprintf("--window-size=%d,%d", 2*width+30, high+20)
	if width > 600 {
		total = fmt.Sprintf("--window-size=%d,%d", width+20, 2*high+30)
	}
	_, err = run(chromium, file, sheet(page, width, high), "--screenshot="+target, total)
	if err != nil {
		return err
	}
	return shrink(target)
}

// shrink stores a picture with its 256 most frequent colours, which makes it a fifth of its size.
func shrink(file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	full, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		return err
	}
	count, bounds := map[color.RGBA]int{}, full.Bounds()
	for y := range bounds.Dy() {
		for x := range bounds.Dx() {
			count[color.RGBAModel.Convert(full.At(x, y)).(color.RGBA)]++
		}
	}
	frequent := slices.SortedFunc(maps.Keys(count), func(a, b color.RGBA) int { return count[b] - count[a] })
	palette := color.Palette{}
	for _, c := range frequent[:min(256, len(frequent))] {
		palette = append(palette, c)
	}
	small := image.NewPaletted(bounds, palette)
	draw.Draw(small, bounds, full, image.Point{}, draw.Src)
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, small); err != nil {
		return err
	}
	return os.WriteFile(file, b.Bytes(), 0o644)
}

// sheet returns a page with the document in two frames, light and dark, which measures the first.
func sheet(page string, width, height int) string {
	frame := func(scheme string) string {
		return fmt.Sprintf(`<iframe width="%d" height="%d" style="border:0;margin:10px 0 0 10px;float:left;`+
			`color-scheme:%s;background:%s" srcdoc="%s"></iframe>`,
			width, height, scheme, map[string]string{"light": "#fff", "dark": "#121212"}[scheme], html.EscapeString(page))
	}
	return `<!doctype html><html><head><meta charset="utf-8"></head><body style="margin:0;background:#888;overflow:hidden">` +
		frame("light") + frame("dark") +
		`<script>onload = function () { var d = document.querySelector("iframe").contentDocument.documentElement;
			document.body.setAttribute("data-size", d.scrollWidth + " " + Math.max(d.scrollHeight, d.offsetHeight)) }</script></body></html>`
}

// run lets Chromium open a page and returns what it prints.
func run(chromium, file, page string, args ...string) (string, error) {
	if err := os.WriteFile(file, []byte(page), 0o600); err != nil {
		return "", err
	}
	args = append(args, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-lcd-text",
		"--user-data-dir="+filepath.Dir(file)+"/profile",
		"--virtual-time-budget=2000", "file://"+file)
	out, err := exec.Command(chromium, args...).Output()
	return string(out), err
}
