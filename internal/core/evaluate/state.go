package evaluate

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// stateVersion is the version of the text of a state.
const stateVersion = 1

// storedState is a State as JSON. Moments are in Unix milliseconds.
type storedState struct {
	Version   int              `json:"v"`
	Config    string           `json:"c,omitempty"`
	Queries   string           `json:"q,omitempty"`
	Since     int64            `json:"u,omitempty"` // not known since
	Instances []storedInstance `json:"i,omitempty"`
}

type storedInstance struct {
	Check    string            `json:"c"`
	Query    string            `json:"q,omitempty"`
	Labels   map[string]string `json:"l"`
	Severity string            `json:"s,omitempty"`
	Above    []uint16          `json:"a,omitempty"` // of Info, Warning and Critical
	Below    []uint16          `json:"b,omitempty"`
	Absent   uint16            `json:"n,omitempty"`
	Clear    uint16            `json:"r,omitempty"`
	Since    int64             `json:"t,omitempty"`
	Missing  int64             `json:"m,omitempty"`
	Sent     int64             `json:"e,omitempty"`
	Repeats  int64             `json:"x,omitempty"`
	Mask     uint16            `json:"k,omitempty"`
}

// Changed reports whether the state differs from that which State returned last, or that of New. It costs nothing, while
// State writes everything.
func (w *Watch) Changed() bool { return w.modified }

// State returns what the watch has to remember. Evaluations that change nothing leave it as it is.
func (w *Watch) State() State {
	w.modified = false
	stored := storedState{Version: stateVersion, Since: w.since}
	for n := range w.checks {
		c := &w.checks[n]
		for _, i := range slices.SortedFunc(maps.Values(c.instances), func(a, b *instance) int { return cmp.Compare(a.key, b.key) }) {
			stored.Instances = append(stored.Instances, storedInstance{Check: c.name, Query: i.query, Labels: i.labels,
				Severity: i.severity.String(), Above: counts(i.above), Below: counts(i.below), Absent: i.absent, Clear: i.clear,
				Since: i.since, Missing: i.missing, Sent: i.sent, Repeats: i.repeats, Mask: i.mask})
		}
	}
	if len(stored.Instances) == 0 && stored.Since == 0 {
		return ""
	}
	if len(stored.Instances) > 0 {
		stored.Config = w.config.Config
		stored.Queries = w.config.Queries
	}
	text, _ := json.Marshal(stored) // of texts and integers alone: it cannot fail
	return State(text)
}

// counts returns the counts of Info, Warning and Critical; nil when all are zero.
func counts(all [severities]uint16) []uint16 {
	if all == ([severities]uint16{}) {
		return nil
	}
	return all[info:]
}

// restore reads a state into a new watch.
func (w *Watch) restore(state State) error {
	w.config = w.current
	if state == "" {
		return nil
	}
	var stored storedState
	if err := json.Unmarshal([]byte(state), &stored); err != nil {
		return fmt.Errorf("state of a watch: %w", err)
	}
	if stored.Version != stateVersion {
		return fmt.Errorf("state of a watch: unknown version %d", stored.Version)
	}
	w.since = stored.Since
	if len(stored.Instances) > 0 {
		w.config = digests{stored.Config, stored.Queries}
	}
	for n := range stored.Instances {
		if err := w.restoreInstance(&stored.Instances[n]); err != nil {
			return fmt.Errorf("state of a watch: instance %d: %w", n, err)
		}
	}
	return nil
}

func (w *Watch) restoreInstance(stored *storedInstance) error {
	c := w.check(stored.Check)
	if c == nil {
		return fmt.Errorf("unknown check %.20q", stored.Check)
	}
	i := newInstance(stored.Query, stored.Labels)
	i.severity = severityOf(stored.Severity)
	if i.severity.String() != stored.Severity {
		return fmt.Errorf("unknown severity %.20q", stored.Severity)
	}
	copy(i.above[info:], stored.Above)
	copy(i.below[info:], stored.Below)
	for level := info; level < severities; level++ {
		i.above[level] = min(i.above[level], maxTimes)
		i.below[level] = min(i.below[level], maxTimes)
	}
	i.absent = min(stored.Absent, maxTimes)
	i.clear = min(stored.Clear, maxTimes)
	i.since = stored.Since
	i.missing = stored.Missing
	i.sent = stored.Sent
	i.repeats = stored.Repeats
	if w.config.Queries == w.current.Queries {
		i.mask = stored.Mask
	}
	i.settle()
	if i.severity == none && i.above[info] == 0 && c.kind != nodata {
		return nil
	}
	id := labelsID(stored.Labels)
	if c.instances[id] != nil {
		return fmt.Errorf("the labels %s are there twice", text(stored.Labels))
	}
	c.add(id, i)
	if i.severity != none && c.kind != tooMany {
		w.opened++
	}
	return nil
}
