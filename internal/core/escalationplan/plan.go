// Package escalationplan computes the steps of an incident's escalation: which layer of a rule is notified now, which again,
// and when to compute next. It is pure: a function of the rule, the start of the escalation, the state of the incident
// and the present moment. Every answer has a reason.
//
// It must never know who is in a layer or how they are notified. A layer with no one on call has its steps like any
// other, and the caller handles that no one was notified.
//
// All moments are Unix seconds, all durations seconds.
package escalationplan

// Rule holds the parts of an escalation rule that escalation needs. No duration may be negative.
type Rule struct {
	Wait   int64 // from the start until the first layer is notified (aggr_window)
	Layers []Layer
	Repeat Repeat
	Round  int // how often the whole plan was done before
}

// Repeat is how the whole plan starts again after its last step, while no person has acknowledged the incident.
type Repeat struct {
	Times int   // how often, at most; -1: until a person acknowledges
	Every int64 // from the end of one round to the start of the next
}

// Again returns when the plan starts again, if its last step was done at now; 0: it does not. Rounds that were missed
// because Next was not called in time are not made up for.
func (r Rule) Again(now int64) int64 {
	if r.Repeat.Times >= 0 && r.Round >= r.Repeat.Times {
		return 0
	}
	return now + r.Repeat.Every
}

// Layer is one layer of a rule.
type Layer struct {
	Times  int   // how often it is notified again after the first time, at most (max_times)
	Every  int64 // between one time and the next (notify_step); 0: it is not notified again
	Window int64 // from its first time until the next layer takes over (escalate_window)
	Force  bool  // the next layer takes over although the incident is acknowledged (force_escalate)
}

// Step is one time at which one layer is notified.
type Step struct {
	Layer  int   // index in the rule's layers
	Repeat int   // 0: the first time; n: notified again for the n-th time
	At     int64 // when
}

// Plan returns all steps for an incident that no one acknowledges, in order. A layer is notified again only until the
// next one takes over. The last layer has no next one, and its Window is ignored.
func Plan(r Rule, start int64) []Step {
	plan := []Step{}
	first := start + r.Wait
	for i, l := range r.Layers {
		over := first + l.Window
		for n := 0; n <= l.Times; n++ {
			at := first + int64(n)*l.Every
			if n > 0 && (l.Every == 0 || i < len(r.Layers)-1 && at >= over) {
				break
			}
			plan = append(plan, Step{i, n, at})
		}
		first = over
	}
	return plan
}

// Skip lets the next layer take over at the moment of a step, because its layer has no one to notify. It returns the
// number of steps of the plan that are done then.
func (r *Rule) Skip(s Step) (done int) {
	l := &r.Layers[s.Layer]
	*l = Layer{Window: int64(s.Repeat) * l.Every, Force: true}
	for _, step := range Plan(*r, 0) {
		if step.Layer <= s.Layer {
			done++
		}
	}
	return done
}
