package decide

import (
	"slices"

	"tocsin/internal/core/event"
	"tocsin/internal/core/sentence"
)

// Again is why an alert that changes too often notifies again in its present incident.
type Again string

// Reasons why an alert notifies again.
const (
	NotAgain      Again = ""
	AgainFirst    Again = "first"    // the alert became active for the first time since it changes too often
	AgainBack     Again = "back"     // the alert is active after it was over for ten minutes
	AgainLasts    Again = "lasts"    // the alert has been active for ten minutes without a break
	AgainReleased Again = "released" // the alert is active and no longer counts as flapping
)

// Values of Alert.FlapsNotified: the latest activity of a flapping alert that persons were notified of. 0: none since the
// alert changes too often.
const (
	NotifiedEarlier int64 = 1 // the alert was active earlier
	NotifiedNow     int64 = 2 // the alert is active now, or another active alert of its incident notified
)

// lasting is how many seconds an alert that changes too often must be over, or active, until it notifies again.
const lasting = 600

// AwaitsQuiet reports whether the alert is over but does not end yet, because it changes too often.
func (a *Alert) AwaitsQuiet() bool { return a.Active() && a.Status == event.Ok && a.FlapsUntil > 0 }

// Changed returns when the alert last became active or over, in Unix seconds.
func (a *Alert) Changed() int64 {
	if len(a.Changes) == 0 { // the alert comes from an account file
		return a.Last
	}
	return a.Changes[len(a.Changes)-1]
}

// change records that the alert became active or over, and whether it changes too often from now on. The alert then counts
// as flapping until it has not changed for Flaps.Mute seconds. An active alert counts as flapping for at least lasting
// seconds.
func (d *decision) change(a *Alert) {
	a.Changes = append(slices.Clone(a.Changes), d.now)
	a.Changes = a.Changes[max(0, len(a.Changes)-100):]
	f := &d.channel.Flapping
	if !f.holds() || a.FlapsUntil <= d.now && d.changes(a) < f.Max {
		a.FlapsNotified = min(a.FlapsNotified, NotifiedEarlier)
		if a.Status == event.Ok {
			a.FlapsUntil = 0 // else the state ends once its beginning is notified
		}
		return
	}
	if a.FlapsUntil == 0 {
		d.begins, a.FlapsNotified = true, 0
	}
	a.FlapsUntil = d.now + f.Mute
	if a.Status != event.Ok {
		a.FlapsUntil = d.now + max(f.Mute, lasting) // an active alert is quiet only once persons were notified that it lasts
		a.FlapsNotified = min(a.FlapsNotified, NotifiedEarlier)
	}
}

// holds reports whether alerts that change too often get a treatment of their own.
func (f *Flaps) holds() bool { return !f.Off && f.Mute > 0 }

// changes returns how often the alert has changed lately.
func (d *decision) changes(a *Alert) (n int64) {
	for _, at := range a.Changes {
		if at > d.now-d.channel.Flapping.In && at <= d.now { // a clock that was set back leaves changes in the future
			n++
		}
	}
	return n
}

// tooOften adds to the trace how often the alert has changed.
func (d *decision) tooOften() {
	f := &d.channel.Flapping
	n := d.changes(d.Alert)
	if f.Off || n < 2 && d.Alert.FlapsUntil == 0 {
		return
	}
	d.looked("flapping", Step{Matched: n >= f.Max || d.Alert.FlapsUntil > 0, Why: sentence.New("changes", n, f.In/60, f.Max)})
}

// wait keeps an alert that is over in its incident, until the alert has been quiet for long enough.
func (d *decision) wait() {
	a := d.Alert
	a.Muted = ""
	a.MutedBy = ""
	a.MutedUntil = a.FlapsUntil
	d.Outcome, d.Flaps = Flapping, d.channel.Flapping
	d.tooOften()
	d.Trace[len(d.Trace)-1].Until = a.FlapsUntil
}

// waitOn decides again about an alert that is over and awaits quiet. The alert ends once it was quiet for long enough.
func (d *decision) waitOn() {
	a := d.Alert
	if d.now < a.FlapsUntil && d.channel.Flapping.holds() {
		a.MutedUntil = a.FlapsUntil
		d.Outcome, d.Unchanged = Flapping, true
		return
	}
	d.looked("flapping", Step{Matched: true, Why: sentence.New("was_quiet", (d.now-a.Changed())/60)})
	a.End = max(a.Start, d.now)
	a.calm()
	d.Outcome = Recovered
	d.Settled = true
	d.Frees = true
	d.Feed = []string{"a_close"}
}

// calm ends the state of an alert that changed too often. Its past changes do not count any more.
func (a *Alert) calm() {
	a.MutedUntil = 0
	a.FlapsUntil = 0
	a.FlapsNotified = 0
	a.Changes = a.Changes[max(0, len(a.Changes)-1):]
	if !a.Active() {
		a.Changes = nil
	}
}

// flapping decides whether an active alert that changes too often notifies again, and when it is decided again. Nothing
// mutes the alert. flapped reports whether the alert was flapping before.
func (d *decision) flapping(flapped bool) {
	a := d.Alert
	d.tooOften()
	over := !d.channel.Flapping.holds() || a.FlapsUntil <= d.now
	if !flapped && over {
		return
	}
	switch {
	case a.Incident == "": // the alert is new to its incident, which notifies as every other
		a.FlapsNotified = NotifiedNow
	case a.FlapsNotified != NotifiedNow:
		d.Again = d.again(over)
		if d.Again != NotAgain {
			a.FlapsNotified = NotifiedNow
		}
	}
	if over {
		d.Settled = true
		a.calm()
		return
	}
	d.Flaps, a.MutedUntil = d.channel.Flapping, a.FlapsUntil
	if a.FlapsNotified != NotifiedNow {
		a.MutedUntil = min(a.FlapsUntil, a.Changed()+lasting)
	}
}

// again returns why an active alert notifies again, although no person was notified of its beginning. over reports whether
// the alert no longer counts as flapping.
func (d *decision) again(over bool) Again {
	a := d.Alert
	before := int64(0) // for how long the alert was over
	if n := len(a.Changes); n > 1 {
		before = a.Changes[n-1] - a.Changes[n-2]
	}
	switch {
	case a.FlapsNotified == 0 && !over:
		return AgainFirst
	case before >= lasting || before >= d.channel.Flapping.Mute && d.channel.Flapping.holds():
		return AgainBack
	case d.now-a.Changed() >= lasting:
		return AgainLasts
	case over:
		return AgainReleased
	}
	return NotAgain
}
