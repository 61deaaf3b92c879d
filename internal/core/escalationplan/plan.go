// Package escalationplan says what the escalation of an incident does next: which layer of a rule is to be told
// now, which again, and when to look again. It is pure: a function of the rule, the moment the escalation
// began, what has become of the incident since and the present moment, with a reason beside every answer.
//
// It must never know who is in a layer or how anybody is told: a layer without anybody on call takes its
// turn like any other, and that nobody was told is for the caller to notice.
//
// All moments are Unix seconds, all stretches of time seconds.
package escalationplan

// Rule is what escalation needs to know of an escalation rule. No stretch of time may be negative.
type Rule struct {
	Wait   int64 // from the start until the first layer is told (aggr_window)
	Layers []Layer
}

// Layer is one layer of a rule.
type Layer struct {
	Times  int   // how often it is told again after the first time, at most (max_times)
	Every  int64 // between one time and the next (notify_step); 0: it is not told again
	Window int64 // from its first time until the next layer takes over (escalate_window)
	Force  bool  // the next layer takes over although the incident is acknowledged (force_escalate)
}

// Step is one time at which one layer is told.
type Step struct {
	Layer  int   // index in the rule's layers
	Repeat int   // 0: the first time; n: told again for the n-th time
	At     int64 // when
}

// Plan is everything that is done about an incident of which nobody takes care, in order. A layer is told
// again only until the next one takes over: from that moment on it is the next one's turn. The last layer
// has no next one, and its Window means nothing.
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

// Skip lets the next layer take over at the moment of a step, because there is nobody in its layer to tell. It gives
// how many steps of the plan are done with then.
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
