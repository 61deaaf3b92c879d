package explain

import (
	"math"
	"slices"

	"tocsin/internal/activity"
	"tocsin/internal/core/decide"
	"tocsin/internal/core/event"
	"tocsin/internal/core/sentence"
	"tocsin/internal/engine/notify"
)

// state is what was so of an incident at a moment, as its feed records it.
type state struct {
	responders []int64 // who has acknowledged it
	byHand     bool    // persons made others responsible: no rule escalates it
	severity   string
	known      string // the highest severity that its persons were notified of
	joined     activity.Joined
}

// apply changes the state by an entry of the feed.
func (st *state) apply(e activity.Entry) {
	switch event := e.Event.(type) {
	case activity.Opened:
		st.severity, st.known = event.Severity, event.Severity
	case activity.Acknowledged:
		st.responders, st.known = append(slices.Clone(st.responders), e.Person), st.severity
	case activity.Unacknowledged:
		st.responders = slices.DeleteFunc(slices.Clone(st.responders), func(id int64) bool { return id == e.Person || event.Unanswered != "" })
		st.known = st.severity
	case activity.Reopened:
		st.responders, st.known = nil, st.severity
	case activity.Assigned:
		st.byHand = event.How != "escalate" && event.EscalateRuleID == ""
		if st.byHand {
			st.known = st.severity
		}
	case activity.SeverityChanged:
		st.severity = event.To
		if rose(event.To, st.known) {
			st.known = event.To
		}
	case activity.Joined:
		st.joined = event
	}
}

// rose reports whether a severity is higher than another.
func rose(to, from string) bool { return event.Rank(to) > event.Rank(from) }

// at returns the state at a moment (Unix milliseconds), and whether the severity rose at that moment. known is false when
// the feed does not reach that far.
func (s *Story) at(moment int64) (st state, risen, known bool) {
	for _, e := range s.feed {
		if e.CreatedAt > moment {
			return st, risen, true
		}
		if change, ok := e.Event.(activity.SeverityChanged); ok && e.CreatedAt == moment {
			risen = rose(change.To, change.From)
		}
		st.apply(e)
	}
	return st, risen, s.more == 0
}

// grouped returns what follows from a verdict by which an alert is in an open incident.
func (x *Explanation) grouped(v *Outcome) sentence.Value {
	n := slices.IndexFunc(x.Incidents, func(s Story) bool { return s.IncidentID == v.IncidentID })
	if n < 0 {
		return sentence.New("so_nobody_new")
	}
	st, risen, known := x.Incidents[n].at(v.DecidedAt)
	joins := slices.ContainsFunc(v.trace, func(step decide.Step) bool { return step.Stage == "group" && step.Joins })
	switch {
	case !known:
		return sentence.New("so_nobody_new")
	case risen:
		return sentence.New("so_rose")
	case x.Incidents[n].firesAgain(v.DecidedAt):
		return sentence.New("so_again")
	case !joins:
		return sentence.New("so_open_already")
	case len(st.responders) == 0:
		return sentence.New("so_next_message")
	case st.joined.Until*1000 <= v.DecidedAt:
		return sentence.New("so_nobody_new")
	}
	return sentence.New("so_one_message", x.clock.Minute(st.joined.Until))
}

// firesAgain reports whether persons were notified at a moment (Unix milliseconds) because an alert fires again.
func (s *Story) firesAgain(moment int64) bool {
	return slices.ContainsFunc(s.feed, func(e activity.Entry) bool {
		_, again := e.Event.(activity.FiresAgain)
		return again && e.CreatedAt == moment
	})
}

// then returns what follows from an entry of the feed, as a further sentence; empty: nothing. st is the state before it.
func (x *Explanation) then(s *Story, e activity.Entry, st *state) sentence.Value {
	switch event := e.Event.(type) {
	case activity.SeverityChanged:
		return s.risen(e, event, st)
	case activity.Joined:
		shows := func(n Notice) bool {
			return (n.Cause == notify.Rise || n.Cause == notify.Reminder) && n.CreatedAt >= e.CreatedAt && n.CreatedAt < event.Until*1000
		}
		if i := slices.IndexFunc(s.Notices, shows); i >= 0 && s.Notices[i].Cause == notify.Rise {
			return sentence.New("join_rise")
		} else if i >= 0 {
			return sentence.New("join_reminder")
		}
		return sentence.New("join_message", x.clock.Minute(event.Until))
	}
	return ""
}

// nextRise returns when the severity rises again after an entry of the feed, Unix milliseconds.
func (s *Story) nextRise(after activity.Entry) int64 {
	for _, e := range s.feed {
		if change, ok := e.Event.(activity.SeverityChanged); ok && e.ID > after.ID && rose(change.To, change.From) {
			return e.CreatedAt
		}
	}
	return math.MaxInt64
}

// risen returns what follows from a change of the severity, an entry of the feed.
func (s *Story) risen(e activity.Entry, change activity.SeverityChanged, st *state) sentence.Value {
	switch {
	case !rose(change.To, change.From):
		return sentence.New("rise_lower")
	case !rose(change.To, st.known):
		return sentence.New("rise_known")
	case len(st.responders) > 0 || st.byHand:
		return sentence.New("rise_responders")
	}
	var before, after *notify.Notification // the last page before the rise, and the first one after it
	added, until := false, s.nextRise(e)
	for i := range s.Notices {
		n := &s.Notices[i].stored
		switch {
		case n.Cause != notify.Page || n.Created >= until:
		case n.Created < e.CreatedAt:
			before = n
		case n.Event == activity.IncidentSeverity:
			added = true
		case after == nil:
			after = n
		}
	}
	switch {
	case after != nil && before == nil && !added:
		return sentence.New("rise_rule", ruleNamed(after.Detail.RuleName, after.Detail.Rule))
	case after != nil && before != nil && after.Detail.Rule != before.Detail.Rule:
		return sentence.New("rise_replaces", ruleNamed(after.Detail.RuleName, after.Detail.Rule),
			ruleNamed(before.Detail.RuleName, before.Detail.Rule))
	case added:
		return sentence.New("rise_methods", change.To)
	}
	return sentence.New("rise_chosen")
}
