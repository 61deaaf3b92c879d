// Package rulefile reads files of alert rules of other programs, Prometheus' rule files and Grafana's exports, and lists of each
// rule what is carried, what is changed and how, and what is not carried and why.
//
// It is pure. It must never guess: what has no equal here is not carried.
package rulefile

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"tocsin/internal/core/evaluate"
	"tocsin/internal/core/event"
)

// Bounds of a file.
const (
	MaxBytes = 512 << 10
	MaxRules = 1000
)

// Rule is a rule in the form that it has here.
type Rule struct {
	Name         string
	CronPattern  string
	DelaySeconds int64
	Labels       map[string]string
	Annotations  map[string]string
	Description  string
	Enabled      bool
	Config       evaluate.Config

	Interval  time.Duration
	For, Keep time.Duration // as the file has them
}

// Item is one rule of a file.
type Item struct {
	Name    string
	Group   string
	Rule    *Rule    // nil: it is not carried
	Changes []string // what is carried otherwise, and what is left out
	Why     string   // why it is not carried
}

// reader reads a file.
type reader struct {
	severity func(word string) (severity string, known bool)
	names    map[string]int
	items    []Item
	said     bool // that errors of queries are unknown here
}

type file struct {
	Groups []group `yaml:"groups"`
}

type group struct {
	Name        string            `yaml:"name"`
	Interval    string            `yaml:"interval"`
	QueryOffset string            `yaml:"query_offset"`
	Limit       int               `yaml:"limit"`
	Labels      map[string]string `yaml:"labels"`
	Rules       []entry           `yaml:"rules"`
}

// entry is a rule of either program.
type entry struct {
	Record       string            `yaml:"record"`
	Alert        string            `yaml:"alert"`
	Expr         string            `yaml:"expr"`
	For          string            `yaml:"for"`
	KeepFiring   string            `yaml:"keep_firing_for"`
	Labels       map[string]string `yaml:"labels"`
	Annotations  map[string]string `yaml:"annotations"`
	Title        string            `yaml:"title"`
	Condition    string            `yaml:"condition"`
	Data         []grafanaData     `yaml:"data"`
	NoDataState  string            `yaml:"noDataState"`
	ExecErrState string            `yaml:"execErrState"`
	IsPaused     bool              `yaml:"isPaused"`
}

// Parse reads a file. severity returns the severity of a word. An error is of a text that is no such file; what a rule has that is
// not carried is in its item.
func Parse(text string, severity func(word string) (string, bool)) ([]Item, error) {
	if len(text) > MaxBytes {
		return nil, fmt.Errorf("must have at most %d bytes, got %d", MaxBytes, len(text))
	}
	var f file
	if err := yaml.Unmarshal([]byte(text), &f); err != nil {
		return nil, fmt.Errorf("is no rule file: %s", event.Cut(err.Error(), 300))
	}
	if len(f.Groups) == 0 {
		return nil, errors.New("is no rule file: it has no groups")
	}
	r := &reader{severity: severity, names: map[string]int{}}
	for _, g := range f.Groups {
		for i := range g.Rules {
			if len(r.items) == MaxRules {
				return nil, fmt.Errorf("must have at most %d rules", MaxRules)
			}
			r.items = append(r.items, r.item(&g, &g.Rules[i]))
		}
	}
	return r.items, nil
}

// item reads one rule.
func (r *reader) item(g *group, e *entry) Item {
	item := Item{Group: g.Name, Name: e.Alert}
	read := r.prometheus
	switch {
	case e.Title != "":
		item.Name = e.Title
		read = r.grafana
	case e.Record != "":
		item.Name = e.Record
		item.Why = "a recording rule makes series: leave it where it is"
		return item
	}
	rule, err := r.common(g, e, &item)
	if err == nil {
		err = read(g, e, rule, &item)
	}
	if err != nil {
		item.Changes = nil
		item.Why = err.Error()
		return item
	}
	rule.Name = item.Name
	if r.names[item.Name]++; r.names[item.Name] > 1 {
		rule.Name = fmt.Sprintf("%s (%d)", item.Name, r.names[item.Name])
		item.say("its name is %q, because another rule of the file has the name", rule.Name)
	}
	item.Rule = rule
	return item
}

func (i *Item) say(format string, args ...any) {
	i.Changes = append(i.Changes, fmt.Sprintf(format, args...))
}

// common reads what rules of both programs have.
func (r *reader) common(g *group, e *entry, item *Item) (*Rule, error) {
	if item.Name == "" {
		return nil, errors.New("it has no name")
	}
	rule := &Rule{Enabled: !e.IsPaused, Labels: map[string]string{}, Annotations: map[string]string{}, Interval: time.Minute}
	for _, d := range []struct {
		name, text string
		into       *time.Duration
	}{{"interval", g.Interval, &rule.Interval}, {"for", e.For, &rule.For}, {"keep_firing_for", e.KeepFiring, &rule.Keep}} {
		if d.text == "" {
			continue
		}
		length, err := duration(d.text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", d.name, err)
		}
		*d.into = length
	}
	if g.Interval == "" {
		item.say("its group has no interval: it is evaluated each minute, which is Prometheus' default")
	}
	rule.CronPattern = "@every " + strconv.FormatFloat(rule.Interval.Seconds(), 'f', -1, 64) + "s"
	if _, err := evaluate.ParseSchedule(rule.CronPattern); err != nil {
		return nil, fmt.Errorf("interval: %w", err)
	}
	if g.QueryOffset != "" {
		offset, err := duration(g.QueryOffset)
		if err != nil || offset%time.Second != 0 || offset > 24*time.Hour {
			return nil, fmt.Errorf("query_offset %.20q is not of whole seconds, a day at most", g.QueryOffset)
		}
		rule.DelaySeconds = int64(offset / time.Second)
	}
	if g.Limit != 0 {
		item.say("the group's limit of %d alerts is not carried: a rule with more than %d instances has one alert about it",
			g.Limit, evaluate.MaxInstances)
	}
	return rule, nil
}

// counts returns the evaluations in a row that durations take.
func (r *Rule) counts() (c evaluate.Counts, err error) {
	c.Enabled = true
	c.AlertingCheckTimes = times(r.For, r.Interval)
	c.RecoveryCheckTimes = times(r.Keep, r.Interval)
	if most := max(c.AlertingCheckTimes, c.RecoveryCheckTimes); most > maxTimes {
		return c, fmt.Errorf("for and keep_firing_for take %d evaluations, more than %d", most, maxTimes)
	}
	return c, nil
}

const maxTimes = 10_000

func times(hold, interval time.Duration) int64 {
	if hold <= 0 {
		return 1
	}
	return int64((hold+interval-1)/interval) + 1
}

// level returns the severity of a rule by its label.
func (r *reader) level(labels map[string]string, item *Item) string {
	word := labels["severity"]
	severity, known := r.severity(word)
	switch {
	case word == "":
		item.say("it has no label severity: Warning")
	case !known || !slices.Contains([]string{event.Critical, event.Warning, event.Info}, severity):
		item.say("the severity %.60q is not known: Warning", word)
	case !strings.EqualFold(word, severity):
		item.say("the severity %.60q is %s", word, severity)
		return severity
	default:
		return severity
	}
	return event.Warning
}

var durations = regexp.MustCompile(`^(?:(\d+)y)?(?:(\d+)w)?(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?(?:(\d+)ms)?$`)

var units = []time.Duration{365 * 24 * time.Hour, 7 * 24 * time.Hour, 24 * time.Hour, time.Hour, time.Minute, time.Second, time.Millisecond}

// mostDuration is the longest time that a file may have.
const mostDuration = 100 * 365 * 24 * time.Hour

// duration reads a duration as Prometheus has it.
func duration(text string) (time.Duration, error) {
	parts := durations.FindStringSubmatch(text)
	if text == "" || parts == nil && text != "0" {
		return 0, fmt.Errorf("%.20q is no duration", text)
	}
	total := time.Duration(0)
	for i := range parts[min(1, len(parts)):] {
		n, _ := strconv.ParseInt("0"+parts[i+1], 10, 64) // too many digits are too long
		if n > int64(mostDuration/units[i]) {
			return 0, fmt.Errorf("%.20q is too long", text)
		}
		total += time.Duration(n) * units[i]
	}
	return min(total, mostDuration), nil
}
