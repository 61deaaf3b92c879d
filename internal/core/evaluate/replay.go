package evaluate

import (
	"errors"
	"fmt"
	"time"
)

// Episode is an instance of the past, from its begin to its end.
type Episode struct {
	Begin    Transition
	Severity string // the highest that it had
	End      time.Time
	To       To // recovered, gone or closed; empty: it was open at the last moment
}

// Replay steps a watch of a rule through moments of the past, in order, and returns what would have begun, in order. answers
// returns the answers about a moment. unknown is the number of moments without a whole answer.
func Replay(rule Rule, moments []time.Time, answers func(at time.Time) []Answer) (episodes []Episode, unknown int, err error) {
	rule.RepeatInterval = 0
	w, err := New(rule, "")
	if err != nil {
		return nil, 0, err
	}
	open := map[string]int{}
	for _, at := range moments {
		result := w.Step(at, answers(at))
		if len(result.Ask) > 0 {
			return nil, 0, errors.New("a recovery by query cannot be evaluated on the past; use another mode")
		}
		if !result.Outcome.Known {
			unknown++
		}
		for _, t := range result.Transitions {
			key := t.Check + t.Key
			if t.To == Begin {
				if len(episodes) >= MaxInstances {
					return nil, 0, fmt.Errorf("the rule would have begun more than %d times; ask for a shorter time", MaxInstances)
				}
				open[key] = len(episodes)
				episodes = append(episodes, Episode{Begin: t, Severity: t.Severity})
				continue
			}
			e := &episodes[open[key]]
			switch {
			case t.To.Ends():
				e.End, e.To = t.At, t.To
			case severityOf(t.Severity) > severityOf(e.Severity):
				e.Severity = t.Severity
			}
		}
	}
	return episodes, unknown, nil
}
