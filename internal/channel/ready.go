package channel

import (
	"math"
	"strconv"
	"sync"
	"time"

	"tocsin/internal/calendar"
	"tocsin/internal/core/decide"
	"tocsin/internal/core/filter"
	"tocsin/internal/core/lint"
	"tocsin/internal/platform/db"
)

// Ready returns the channel with its enabled rules compiled, as the decision about events reads them. nil: the
// account has no channel of this id. Windows without a calendar are read in zone.
func Ready(tx *db.Tx, account, id int64, zone *time.Location) (*decide.Channel, error) {
	ch, found, err := Find(tx, account, id)
	if err != nil || !found {
		return nil, err
	}
	ready := &decide.Channel{
		Name:     ch.ChannelName,
		Disabled: ch.Status != "enabled",
		Grouping: ch.method(),
		Flapping: ch.Flaps(),
	}
	parent := strconv.FormatInt(id, 10)
	drops, err := Drops.Of(tx, account, parent)
	if err != nil {
		return nil, err
	}
	var list []decide.Rule
	var filters []filter.Filter
	for _, r := range drops {
		if r.Status == "enabled" {
			list = append(list, decide.Rule{ID: r.RuleID, Name: r.RuleName})
			filters = append(filters, r.Filters)
		}
	}
	ready.Drops = decide.NewRules(list, filters)
	ready.Silences, err = readySilences(tx, account, parent, zone)
	if err != nil {
		return nil, err
	}
	inhibits, err := Inhibits.Of(tx, account, parent)
	if err != nil {
		return nil, err
	}
	list, filters = nil, nil
	for _, r := range inhibits {
		if r.Status != "enabled" {
			continue
		}
		source, _ := filter.Compile(r.SourceFilters.Value) // checked when it was stored; the matcher works even with an error
		ready.Inhibits = append(ready.Inhibits, decide.Inhibit{Source: source, Equals: r.Equals})
		list = append(list, decide.Rule{ID: r.RuleID, Name: r.RuleName, Discard: r.IsDirectlyDiscard})
		filters = append(filters, r.TargetFilters.Value)
	}
	ready.Targets = decide.NewRules(list, filters)
	return ready, nil
}

// readySilences returns the enabled silence rules of a channel, compiled.
func readySilences(tx *db.Tx, account int64, parent string, zone *time.Location) (decide.Rules, error) {
	rules, err := Silences.Of(tx, account, parent)
	if err != nil {
		return decide.Rules{}, err
	}
	var list []decide.Rule
	var filters []filter.Filter
	for _, r := range rules {
		if r.Status != "enabled" {
			continue
		}
		days, err := calendar.Load(tx, account, calendarsOf(r.TimeFilters))
		if err != nil {
			return decide.Rules{}, err
		}
		list = append(list, decide.Rule{ID: r.RuleID, Name: r.RuleName, Discard: r.IsDirectlyDiscard, Holds: holds(r, zone, days)})
		filters = append(filters, r.Filters)
	}
	return decide.NewRules(list, filters), nil
}

// holds returns a function that reports whether a silence rule is in force at a time (Unix seconds), and until
// when that is so. The function stores its answer until it changes, because thousands of events ask for the
// same. It is safe for concurrent use.
func holds(r SilenceRule, zone *time.Location, days map[string]*calendar.Days) func(int64) (bool, int64) {
	if once := r.TimeFilter; once != nil {
		return func(now int64) (bool, int64) { return once.StartTime <= now && now < once.EndTime, once.EndTime }
	}
	var mu sync.Mutex
	var from, until int64
	var held bool
	return func(now int64) (bool, int64) {
		mu.Lock()
		defer mu.Unlock()
		if now < from || now >= until {
			from = now
			held, until = stretch(r.TimeFilters, now, zone, days)
		}
		return held, until
	}
}

// maxStretch is how far ahead the end of a window is searched, in minutes. A later call returns the next
// stretch.
const maxStretch = 25 * 60

// stretch reports whether now (Unix seconds) is in one of the windows, and when that changes, at most maxStretch
// ahead. It evaluates only the minutes at which a window may begin or end: its start, its end, midnight, and
// the minutes to which the clocks jump.
func stretch(windows []TimeFilter, now int64, zone *time.Location, days map[string]*calendar.Days) (in bool, until int64) {
	at := time.Unix(now, 0)
	in = InWindow(windows, at, zone, days)
	marks := [dayEnd]bool{0: true}
	zones := map[string]*time.Location{zone.String(): zone}
	for _, w := range windows {
		if start, end, ok := w.minutes(); ok {
			marks[start], marks[end%dayEnd] = true, true
		}
		if of := days[w.calendar()]; of != nil {
			zones[of.Zone().String()] = of.Zone()
		}
	}
	next := at.Truncate(time.Minute).Unix()
	var clocks []localClock
	for _, z := range zones {
		clocks = append(clocks, localClock{zone: z, minute: -1})
		clocks[len(clocks)-1].changes(next, &marks)
	}
	for range maxStretch {
		next += 60
		may := false
		for i := range clocks {
			may = clocks[i].changes(next, &marks) || may
		}
		if may && InWindow(windows, time.Unix(next, 0), zone, days) != in {
			break
		}
	}
	return in, next
}

// localClock is the time of day in a zone, read minute by minute.
type localClock struct {
	zone        *time.Location
	offset      int64 // in seconds, from one moment until another
	from, until int64
	minute      int64 // of the last reading
}

// changes reads the clock and reports whether it is at one of the marked minutes, or jumped since the last reading.
func (c *localClock) changes(at int64, marks *[dayEnd]bool) bool {
	if at < c.from || at >= c.until {
		c.set(at)
	}
	before := c.minute
	c.minute = ((at+c.offset)%86400 + 86400) % 86400 / 60
	return marks[c.minute] || c.minute != (before+1)%dayEnd
}

// set notes the offset of the zone at a moment, and between which clock changes it holds.
func (c *localClock) set(at int64) {
	local := time.Unix(at, 0).In(c.zone)
	_, offset := local.Zone()
	c.offset = int64(offset)
	c.from = math.MinInt64
	c.until = math.MaxInt64
	start, end := local.ZoneBounds()
	if !start.IsZero() {
		c.from = start.Unix()
	}
	if !end.IsZero() {
		c.until = end.Unix()
	}
}

// Active returns when one of the windows is open between two moments, in order.
func Active(windows []TimeFilter, from, until time.Time, zone *time.Location, days map[string]*calendar.Days) (spans []lint.Span) {
	for at, end := from.Unix(), until.Unix(); at < end; {
		in, change := stretch(windows, at, zone, days)
		if in && len(spans) > 0 && spans[len(spans)-1].Until == at {
			spans[len(spans)-1].Until = min(change, end)
		} else if in {
			spans = append(spans, lint.Span{From: at, Until: min(change, end)})
		}
		at = change
	}
	return spans
}

// The defaults of flapping (docs/lifecycle.md).
const (
	flapChanges = 4
	flapIn      = 60 // minutes
	flapMute    = 15 // minutes
)

// Flaps returns the settings of flapping in seconds, with the defaults filled in.
func (s Settings) Flaps() decide.Flaps {
	if s.Flapping == nil {
		return decide.Flaps{Max: flapChanges, In: flapIn * 60, Mute: flapMute * 60}
	}
	f := s.Flapping
	ready := decide.Flaps{Off: value(f.IsDisabled), Max: flapChanges, In: flapIn * 60, Mute: value(f.MuteMins) * 60}
	if f.MaxChanges != nil {
		ready.Max = *f.MaxChanges
	}
	if f.InMins != nil {
		ready.In = *f.InMins * 60
	}
	return ready
}

// GroupsBySource reports whether alerts of a source's group become one incident for as long as the incident is open. No
// other alert joins such an incident.
func (s Settings) GroupsBySource() bool {
	m := s.method()
	return m.ByFields && len(m.Cases) == 0 && m.Window == 0 && len(m.Equals) > 0 && decide.BySource(m.Equals[0])
}

// method returns the settings of grouping in seconds. The zero value makes each alert its own incident.
func (s Settings) method() decide.Method {
	g := s.Group
	if g == nil || g.Method != "p" {
		return decide.Method{}
	}
	m := decide.Method{
		ByFields: true,
		Equals:   g.Equals,
		Strict:   value(g.AllEqualsRequired),
		Window:   value(g.TimeWindow) * 60,
		Sliding:  value(g.WindowType) == "sliding",
		Storms:   g.StormThresholds,
	}
	if n := value(g.StormThreshold); n > 0 {
		m.Storms = append(m.Storms, n)
	}
	for _, c := range g.Cases {
		matcher, _ := filter.Compile(c.If.Value) // checked when it was stored
		m.Cases = append(m.Cases, decide.Branch{If: matcher, Equals: c.lists()})
	}
	return m
}
