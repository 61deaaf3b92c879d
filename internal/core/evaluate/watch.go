package evaluate

import (
	"cmp"
	"hash/fnv"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"
)

// Bounds of a watch.
const (
	MaxInstances = 10_000 // that fire, and series of a nodata check
	MaxQuestions = 100    // of one evaluation; the next ones are asked in later evaluations

	forgetAfter = 7 * 24 * time.Hour // a missing series that does not fire
)

// limits are the bounds of a watch; tests lower them.
type limits struct{ instances, questions int }

// Watch evaluates one rule on one datasource. It must not be used by two goroutines at the same time.
type Watch struct {
	rule    Rule
	limits  limits
	windows []window
	queries []Query
	checks  [checkCount]check
	config  digests // of the rule that the instances were last judged by
	current digests // of the rule

	step     uint64
	since    int64 // of the first evaluation that was not known; 0: the last one was known
	opened   int   // instances that fire
	modified bool

	rows      joinedRows
	signals   []signal
	asked     []int    // signals that wait for the answers of recovery queries
	lastAsked string   // the key of the last one
	failed    *Failure // of a recovery query, or of an answer that was cut
}

// The checks of a watch. A check that is off ends the instances that it had.
const (
	threshold = iota
	anydata
	nodata
	tooMany
	checkCount
)

var checkNames = [checkCount]string{CheckThreshold, CheckAnydata, CheckNodata, CheckTooMany}

// New returns the watch of a rule with the state that a watch of the rule, or of the rule before it was changed, had. The
// rule must have passed Check and CheckWindows.
func New(rule Rule, state State) (*Watch, error) {
	windows, err := parseWindows(rule.Windows)
	if err != nil {
		return nil, err
	}
	w := &Watch{rule: rule, queries: rule.Config.Queries, windows: windows, limits: limits{MaxInstances, MaxQuestions}}
	if w.rule.Zone == nil {
		w.rule.Zone = time.UTC
	}
	if err := w.compile(); err != nil {
		return nil, err
	}
	if err := w.restore(state); err != nil {
		return nil, err
	}
	return w, nil
}

// Adopt makes the open instances of the watch those given, which were stored when they began. A state that is older than
// they are lacks some, and has others that have ended since; what it counted for these is not trusted.
func (w *Watch) Adopt(open []Instance) {
	w.modified = true
	w.opened = 0
	adopted := map[*instance]bool{}
	for _, o := range open {
		c := w.check(o.Check)
		if level := severityOf(o.Severity); c != nil && level != none {
			adopted[c.adopt(&o, level)] = true
		}
	}
	for n := range w.checks {
		for id, i := range w.checks[n].instances {
			switch {
			case adopted[i] && n != tooMany:
				w.opened++
			case adopted[i] || i.severity == none:
			case n == nodata:
				i.memory = memory{mask: i.mask}
			default:
				delete(w.checks[n].instances, id)
			}
		}
	}
}

// adopt makes an instance open as it was stored.
func (c *check) adopt(o *Instance, level severity) *instance {
	id := labelsID(o.Labels)
	i := c.instances[id]
	if i == nil {
		i = newInstance(o.Query, o.Labels)
		c.add(id, i)
	}
	since := o.Since.UnixMilli()
	if i.severity != level || i.since != since {
		i.memory = memory{severity: level, since: since, sent: since, mask: i.mask}
		if c.kind == nodata {
			i.missing = since
		}
	}
	i.query = o.Query
	if o.Value != nil {
		i.value = *o.Value
	}
	return i
}

func (w *Watch) check(name string) *check {
	if n := slices.Index(checkNames[:], name); n >= 0 {
		return &w.checks[n]
	}
	return nil
}

// Instances returns what is pending or firing, ordered by check and key.
func (w *Watch) Instances() []Instance {
	var all []Instance
	for n := range w.checks {
		c := &w.checks[n]
		for _, i := range c.instances {
			if i.severity == none && i.above[info] == 0 {
				continue // a series of the baseline
			}
			all = append(all, c.shown(i))
		}
	}
	slices.SortFunc(all, func(a, b Instance) int { return cmp.Or(cmp.Compare(a.Check, b.Check), cmp.Compare(a.Key, b.Key)) })
	return all
}

// Pending returns how many instances are pending.
func (w *Watch) Pending() (n int) {
	for _, c := range w.checks {
		for _, i := range c.instances {
			if i.severity == none && i.above[info] > 0 {
				n++
			}
		}
	}
	return n
}

// shown returns an instance as it is shown.
func (c *check) shown(i *instance) Instance {
	shown := Instance{Check: c.name, Query: i.query, Key: i.key, Labels: i.labels, Firing: i.severity != none,
		Severity: i.severity.String(), Since: time.UnixMilli(i.since).UTC(), Value: finite(i.value)}
	if i.absent > 0 || c.kind == nodata {
		shown.Kept = time.UnixMilli(i.missing).UTC()
	}
	if !shown.Firing {
		shown.Severity = i.reaching().String()
		shown.Count = int(i.above[info])
		shown.Of = c.begin
		return shown
	}
	shown.Count = int(i.clear)
	shown.Of = c.end
	if i.absent > 0 && c.goes() {
		shown.Count = int(i.absent)
		shown.Of = max(c.end, 2)
	}
	return shown
}

// finite returns a number that JSON has; nil for others.
func finite(f float64) *float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil
	}
	return &f
}

// Key returns the key of a label set: 16 hexadecimal digits.
func Key(labels map[string]string) string {
	h := fnv.New64a()
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		for _, part := range []string{name, labels[name]} {
			_, _ = h.Write([]byte(part)) // a hash never fails
			_, _ = h.Write([]byte{0xff}) // is in no text of UTF-8
		}
	}
	text := strconv.FormatUint(h.Sum64(), 16)
	return "0000000000000000"[len(text):] + text
}
