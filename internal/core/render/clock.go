package render

import (
	"fmt"
	"regexp"
	"strings"
	"time"
)

// clock is when and where a message is read.
type clock struct {
	now      int64 // Unix seconds
	zone     string
	location *time.Location // of zone, once it is loaded
}

// moment is a time, Unix seconds.
type moment int64

// Unix returns Unix seconds.
func (m moment) Unix() int64 { return int64(m) }

// isZone matches what may be the name of a time zone.
var isZone = regexp.MustCompile(`^(?:[A-Za-z][A-Za-z0-9_+-]*(?:/[A-Za-z0-9_+-]+)*)?$`)

// date returns a time (Unix seconds): date LAYOUT SECONDS in the reader's time zone, with a layout of the language such
// as "2006-01-02 15:04:05", or date ZONE SECONDS, where an empty zone is UTC. The arguments may change places. A time
// that is 0 or no number is an empty text.
func (b *budget) date(form, of any) (string, error) {
	if _, ok := form.(string); !ok {
		form, of = of, form
	}
	layout, ok := form.(string)
	if !ok {
		return "", fmt.Errorf("a layout or a time zone is needed, got %T", form)
	}
	seconds := toInt64(of)
	if seconds == 0 {
		return "", nil
	}
	if err := b.spend(len(layout)); err != nil {
		return "", err
	}
	at := time.Unix(seconds, 0)
	if isZone.MatchString(layout) {
		location, err := b.load(layout)
		if err == nil {
			return at.In(location).Format("2006-01-02 15:04:05 MST"), nil
		}
		if b.left < 0 || !isLayout(layout) {
			return "", err
		}
	}
	if b.location == nil {
		location, err := b.load(b.zone)
		if b.left < 0 {
			return "", err
		}
		b.location = location
		if err != nil {
			b.location = time.UTC
		}
	}
	return b.made(at.In(b.location).Format(layout))
}

// load returns a time zone.
func (b *budget) load(zone string) (*time.Location, error) {
	if err := b.spend(zoneCost); err != nil {
		return nil, err
	}
	location, err := time.LoadLocation(zone)
	if err != nil {
		return nil, fmt.Errorf("unknown time zone %q", zone)
	}
	return location, nil
}

// isLayout reports whether a text has a part of a layout, such as Jan.
func isLayout(s string) bool { return time.Unix(1e9, 0).UTC().Format(s) != s }

// ago returns how long ago a time was (Unix seconds), such as 2h5m0s; empty for 0.
func (b *budget) ago(of any) string {
	seconds := toInt64(of)
	if seconds == 0 {
		return ""
	}
	const most = 1 << 33 // seconds that a duration can hold
	return (time.Duration(max(-most, min(b.now-seconds, most))) * time.Second).String()
}

var breaks = regexp.MustCompile(`(?i)<br\s*/?>`)

// lineBreak stands for <br> in the text of a template until it is rendered. No value contains it: see Clean.
const lineBreak = "\v"

// lines returns a rendered text with a line break for each <br> of the template. If there is one, and for some targets
// always, lines without text are removed, so that a template may have a line for a label that an incident lacks.
func (t *Target) lines(text string) string {
	if !t.tidy && !strings.Contains(text, lineBreak) {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		if strings.TrimSpace(strings.ReplaceAll(line, lineBreak, "x")) != "" {
			b.WriteString(line)
		}
	}
	return strings.ReplaceAll(b.String(), lineBreak, "\n")
}
