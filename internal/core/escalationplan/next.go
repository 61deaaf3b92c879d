package escalationplan

// Reason is why a layer is notified or not, or why an escalation waits or has ended.
type Reason string

// Why a layer is notified.
const (
	Turn   Reason = "turn"   // its time has come and the incident is not acknowledged
	Again  Reason = "again"  // it was notified before and the incident is still not acknowledged
	Forced Reason = "forced" // the incident is acknowledged, but the layer before it has Force
)

// Why a layer is not notified, or an escalation has ended.
const (
	Acknowledged Reason = "acknowledged" // a person has acknowledged the incident
	Resolved     Reason = "resolved"     // the incident is over
	Overtaken    Reason = "overtaken"    // the same layer is notified for a later step in this call, because Next was not called in between
	Exhausted    Reason = "exhausted"    // no step of the plan is left
)

// Why an escalation waits.
const (
	Waiting Reason = "waiting" // the next step is in the future
	Snoozed Reason = "snoozed" // the incident is snoozed
)

// Result is the outcome of a step whose moment has come.
type Result struct {
	Step        // its At is the moment of the step after all snoozes
	Tell bool   // notify the layer
	Why  Reason // Turn, Again, Forced; if it is not notified Acknowledged, Resolved or Overtaken
}

// Answer is what an escalation does at a moment, and when to call Next again.
type Answer struct {
	Due  []Result // the steps whose moment has come, in the order of the plan
	Next int64    // when to call again, unless the state changes before; 0: the escalation has ended
	Why  Reason   // Waiting or Snoozed; of one that has ended Acknowledged, Resolved or Exhausted
}

// Next returns what to do at now. done is the number of steps of the plan that are done: the sum of the lengths of
// Due of the earlier answers. A change of the state may move Next in either direction, so call again after one.
//
// While an incident is acknowledged no layer is notified again, and a layer takes over only from a layer with Force
// that was reached itself. An acknowledgement before the first layer's step skips that layer, and its Force still
// leads to the next; before a later round it ends the escalation. Steps within a snooze wait for its end. A step that is
// late because Next was not called in time is done late, but a layer is notified at most once per call.
func Next(r Rule, start int64, done int, s State, now int64) Answer {
	plan := Plan(r, start)
	acked := s.Acknowledged != 0 && s.Acknowledged <= now
	resolved := s.Resolved != 0 && s.Resolved <= now
	a := Answer{Due: []Result{}, Why: Exhausted}
	if resolved {
		a.Why = Resolved
	} else if acked {
		a.Why = Acknowledged
	}
	awake := s.snoozed(now)
	reached := r.Round == 0 || !acked || s.Acknowledged > start // whether the escalation reaches the layer of the step
	for i, step := range plan {
		if step.Layer > 0 && step.Repeat == 0 && i >= done {
			reached = reached && (!acked || r.Layers[step.Layer-1].Force)
		}
		if i < done {
			continue
		}
		step.At = s.shift(step.At, start, now)
		v := Result{step, true, Turn}
		switch {
		case resolved:
			v.Tell, v.Why = false, Resolved
		case acked && (!reached || step.Repeat > 0 || step.Layer == 0):
			v.Tell, v.Why = false, Acknowledged
		case acked:
			v.Why = Forced
		case step.Repeat > 0:
			v.Why = Again
		}
		if step.At <= now && (awake == now || resolved) {
			a.Due = append(a.Due, v)
		} else if v.Tell {
			a.Next, a.Why = max(step.At, awake), Waiting
			if awake > now {
				a.Why = Snoozed
			}
			break
		}
	}
	overtake(a.Due)
	return a
}

// overtake marks all steps that notify a layer as overtaken, except its last.
func overtake(due []Result) {
	for i := range due {
		for _, later := range due[i+1:] {
			if due[i].Tell && later.Tell && later.Layer == due[i].Layer {
				due[i].Tell, due[i].Why = false, Overtaken
			}
		}
	}
}
