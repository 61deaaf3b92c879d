package route

import (
	"fmt"
	"slices"

	"tocsin/internal/core/filter"
	"tocsin/internal/core/sentence"
)

// CaseResult is the result of one case for an alert.
type CaseResult struct {
	Case     string  // case_0, case_1 and so on, or default
	Matched  bool    // the alert met its conditions; for the default: no case sent the alert anywhere
	Channels []int64 // where it sends the alert; none when no channel has the name of the label
	Why      sentence.Value
	Over     bool // it needed more steps than a rule has, and counts as not met
}

// Ready is a route compiled once for all alerts. It is safe for concurrent use.
type Ready struct {
	Route
	conditions []*filter.Matcher // of the cases
}

// Compile compiles a route. Malformed conditions work as filter.Compile describes.
func Compile(r Route) *Ready {
	ready := &Ready{r, make([]*filter.Matcher, len(r.Cases))}
	for i, c := range r.Cases {
		ready.conditions[i], _ = filter.Compile(filter.Filter{c.If})
	}
	return ready
}

// Match returns the channels that an alert goes to, in the order of the cases, each once. None: the alert is dropped.
// The first case that matches decides, unless it falls through. byName returns the channels of an exact name, for
// name_mapping. results has one element for each case that was evaluated. A case over the meter's budget is not met.
func (r *Ready) Match(
	meter *filter.Meter, alert filter.Fields, byName func(name string) []int64,
) (channels []int64, results []CaseResult) {
	for i, c := range r.Cases {
		result := CaseResult{Case: fmt.Sprintf("case_%d", i)}
		result.Matched, result.Why = meter.AskEach(r.conditions[i], alert)
		result.Over = meter.Over()
		if !result.Matched {
			results = append(results, result)
			continue
		}
		result.Channels = c.ChannelIDs
		if c.RoutingMode == NameMapping {
			name, _ := alert.Label(c.NameMappingLabel)
			result.Channels = byName(name)
			result.Why = sentence.Join(result.Why, sentence.New("named_channels", c.NameMappingLabel, name, len(result.Channels)))
		}
		results = append(results, result)
		channels = join(channels, result.Channels)
		if !c.Fallthrough {
			break
		}
	}
	switch {
	case len(channels) > 0:
	case r.Default == nil || len(r.Default.ChannelIDs) == 0:
		results = append(results, CaseResult{Case: "default", Why: sentence.New("no_case_no_default")})
	default:
		results = append(results, CaseResult{
			Case: "default", Matched: true, Channels: r.Default.ChannelIDs, Why: sentence.New("no_case"),
		})
		channels = join(channels, r.Default.ChannelIDs)
	}
	return channels, results
}

// join returns all with the ids of more that it does not have.
func join(all, more []int64) []int64 {
	for _, id := range more {
		if !slices.Contains(all, id) {
			all = append(all, id)
		}
	}
	return all
}
