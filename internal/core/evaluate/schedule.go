package evaluate

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// Schedule is when a rule is evaluated.
type Schedule struct {
	Pattern string        // that it was read from
	Every   time.Duration // the distance of the moments of a grid; 0: a pattern of cron
	cron    cron.Schedule
}

// The bounds of @every.
const (
	leastEvery = time.Second
	mostEvery  = 31 * 24 * time.Hour
)

var fields = cron.NewParser(cron.SecondOptional | cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow)

// ParseSchedule reads a pattern of cron with five fields, or six with seconds first, or @every with whole seconds. The
// pattern has no time zone: moments are in the zone of the time that Next is given.
func ParseSchedule(pattern string) (Schedule, error) {
	if text, ok := strings.CutPrefix(pattern, "@every "); ok {
		every, err := time.ParseDuration(strings.TrimSpace(text))
		if err != nil || every%time.Second != 0 || every < leastEvery || every > mostEvery {
			return Schedule{}, fmt.Errorf("@every must have whole seconds from %v to %v, got %.60q", leastEvery, mostEvery, text)
		}
		return Schedule{Pattern: pattern, Every: every}, nil
	}
	if strings.Contains(pattern, "=") { // cron.Parse would take a time zone, and panics on half of one
		return Schedule{}, errors.New("must have no time zone: the rule has a timezone of its own")
	}
	parsed, err := fields.Parse(pattern)
	if err != nil {
		return Schedule{}, fmt.Errorf("must have five or six fields, or be @every and a duration: %w", err)
	}
	s := Schedule{Pattern: pattern, cron: parsed}
	if s.Next(reference).IsZero() {
		return Schedule{}, fmt.Errorf("has no moment within five years, got %.60q", pattern)
	}
	return s, nil
}

// reference is a moment from which patterns are measured, so that a pattern has one interval at all times.
var reference = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)

// Next returns the first moment after a time.
func (s Schedule) Next(after time.Time) time.Time {
	if s.Every > 0 {
		return after.Truncate(s.Every).Add(s.Every)
	}
	return s.cron.Next(after)
}

// Interval returns the shortest distance between two moments in a row, as far as a hundred of them show it.
func (s Schedule) Interval() time.Duration {
	if s.Every > 0 {
		return s.Every
	}
	shortest := mostEvery
	last := s.Next(reference)
	for range 100 {
		next := s.Next(last)
		if next.IsZero() {
			break
		}
		shortest = min(shortest, next.Sub(last))
		last = next
	}
	return shortest
}
