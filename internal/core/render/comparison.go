package render

import (
	"fmt"
	"hash/maphash"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"tocsin/internal/core/event"
)

const (
	maxCompared = 50  // labels that a Comparison compares; an event has no more
	maxSamples  = 5   // values that a Difference shows
	maxSample   = 100 // characters of such a value
	maxValues   = 50  // values of a label that LabelValues holds
)

// Difference is a label that does not have the same value in all alerts.
type Difference struct {
	Name   string
	Count  int      // of different values
	Values []string // the first ones in order, at most five
	None   int      // alerts without this label
}

// Text describes the values: "50 values: host00, host01, ...".
func (d Difference) Text() string {
	values := strings.Join(d.Values, ", ")
	if d.Count > len(d.Values) {
		values += ", ..."
	}
	text := fmt.Sprintf("%d values: %s", d.Count, values)
	if d.Count == 1 {
		text = values
	}
	if d.None > 0 {
		text += fmt.Sprintf(" (%d without it)", d.None)
	}
	return text
}

// Comparison finds the labels that alerts share, and those that differ. Its memory does not grow with the length of the
// values, and its time is linear in the number of labels: an incident may have 5,000 alerts.
type Comparison struct {
	alerts int
	seed   maphash.Seed
	labels map[string]*values
}

// values holds the values of one label.
type values struct {
	alerts   int    // that have the label
	first    string // the whole first value, for a label that all alerts share
	distinct map[uint64]struct{}
	samples  []string // sorted and cut
	all      []string // the first ones in the order of the alerts, cut
	min, max number
}

// number is a value that is a number, as it was written.
type number struct {
	text  string // empty: none yet
	value float64
}

// Add adds the labels of one alert. Of all alerts together, the first 50 label names are compared.
func (c *Comparison) Add(labels map[string]string) {
	if c.labels == nil {
		c.seed, c.labels = maphash.MakeSeed(), map[string]*values{}
	}
	c.alerts++
	names := maps.Keys(labels)
	if len(c.labels) < maxCompared { // the order matters only while names may be added
		names = slices.Values(slices.Sorted(names))
	}
	for name := range names {
		v := c.labels[name]
		if v == nil {
			if len(c.labels) == maxCompared {
				continue
			}
			v = &values{first: labels[name], distinct: map[uint64]struct{}{}}
			c.labels[name] = v
		}
		v.alerts++
		v.add(labels[name], c.seed)
	}
}

func (v *values) add(value string, seed maphash.Seed) {
	sum := maphash.String(seed, value)
	if _, known := v.distinct[sum]; known {
		return
	}
	v.distinct[sum] = struct{}{}
	value = event.Cut(value, maxSample)
	v.addNumber(value)
	if len(v.all) < maxValues {
		v.all = append(v.all, value)
	}
	at, _ := slices.BinarySearch(v.samples, value)
	if at == maxSamples {
		return
	}
	v.samples = slices.Insert(v.samples, at, value)
	v.samples = v.samples[:min(len(v.samples), maxSamples)]
}

// addNumber compares a value with the least and the greatest number.
func (v *values) addNumber(value string) {
	n, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
	if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
		return
	}
	if v.min.text == "" || n < v.min.value {
		v.min = number{value, n}
	}
	if v.max.text == "" || n > v.max.value {
		v.max = number{value, n}
	}
}

// Values returns the values of each label.
func (c *Comparison) Values() map[string]LabelValues {
	all := make(map[string]LabelValues, len(c.labels))
	for name, v := range c.labels {
		all[name] = LabelValues{slices.Clone(v.all), v.min.text, v.max.text}
	}
	return all
}

// Shared returns the labels that have the same value in all alerts.
func (c *Comparison) Shared() map[string]string {
	shared := map[string]string{}
	for name, v := range c.labels {
		if v.alerts == c.alerts && len(v.distinct) == 1 {
			shared[name] = v.first
		}
	}
	return shared
}

// Differ returns the other labels, ordered by name.
func (c *Comparison) Differ() (all []Difference) {
	for _, name := range slices.Sorted(maps.Keys(c.labels)) {
		if v := c.labels[name]; v.alerts < c.alerts || len(v.distinct) > 1 {
			all = append(all, Difference{name, len(v.distinct), slices.Clone(v.samples), c.alerts - v.alerts})
		}
	}
	return all
}
