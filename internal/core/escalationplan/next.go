package escalationplan

// Reason is why a layer is told or not, or why an escalation waits or has ended.
type Reason string

// Why a layer is told.
const (
	Turn   Reason = "turn"   // its turn has come and nobody has taken care
	Again  Reason = "again"  // it was told before and nobody has taken care
	Forced Reason = "forced" // the incident is acknowledged, but the layer before it is to be followed all the same
)

// Why a layer is not told, or an escalation has ended.
const (
	Acknowledged Reason = "acknowledged" // somebody has taken care
	Resolved     Reason = "resolved"     // the incident is over
	Overtaken    Reason = "overtaken"    // the same layer is told for a later step now, because nobody looked in between
	Exhausted    Reason = "exhausted"    // the plan is done with
)

// Why an escalation waits.
const (
	Waiting Reason = "waiting" // the next step has not come
	Snoozed Reason = "snoozed" // the incident is snoozed
)

// Result is what becomes of a step whose moment has come.
type Result struct {
	Step        // its At is the moment at which it came due, behind all snoozes
	Tell bool   // tell the layer
	Why  Reason // Turn, Again, Forced; when it is not told Acknowledged, Resolved or Overtaken
}

// Answer is what an escalation does at a moment and when to ask again.
type Answer struct {
	Due  []Result // the steps whose moment has come, in the order of the plan
	Next int64    // when to ask again, unless the state changes before; 0: the escalation has ended
	Why  Reason   // Waiting or Snoozed; of one that has ended Acknowledged, Resolved or Exhausted
}

// Next tells what to do at now. done is how many steps of the plan have been answered for before: the
// lengths of Due of the earlier answers, taken together. A state that changes between two calls may move
// Next to either side, so ask again when it does.
//
// While an incident is acknowledged no layer is told again, and a layer takes over only from one with Force
// that was reached itself. An acknowledgement before the first layer's turn leaves that layer out, and Force
// then still leads to the next. Steps that come due in a snooze wait for its end. A step that nobody asked
// about in time is done late rather than not at all, but a layer is told no more than once at a time.
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
	reached := true // whether the escalation comes to the layer of the step
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

// overtake leaves only the last of the steps in which a layer is told.
func overtake(due []Result) {
	for i := range due {
		for _, later := range due[i+1:] {
			if due[i].Tell && later.Tell && later.Layer == due[i].Layer {
				due[i].Tell, due[i].Why = false, Overtaken
			}
		}
	}
}
