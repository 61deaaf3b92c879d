package insight

import "math"

// Total holds the figures of many incidents. The sums are exact; means and shares are computed from them.
type Total struct {
	Incidents          int64
	Acknowledged       int64
	Closed             int64
	AutoClosed         int64
	ManuallyClosed     int64
	TimeoutClosed      int64
	Merged             int64 // into others; merged incidents are not among the closed
	Escalated          int64
	ManuallyEscalated  int64
	TimeoutEscalated   int64
	Reassigned         int64
	Interruptions      int64
	SleepInterruptions int64
	Notifications      int64
	EngagedSeconds     int64
	SecondsToAck       int64
	SecondsToClose     int64
	Alerts             int64
	Events             int64
	WithEvents         int64 // incidents that have events: each took one to open
}

// Add adds the figures of an incident with the alerts and events that it has.
func (t *Total) Add(f *Figures, alerts, events int64) {
	t.Incidents++
	t.Alerts += alerts
	t.Events += events
	t.WithEvents += one(events > 0)
	t.Interruptions += f.Interruptions
	t.SleepInterruptions += f.SleepInterruptions
	t.Notifications += f.Notifications
	t.EngagedSeconds += f.EngagedSeconds
	t.Acknowledged += one(f.Acknowledged)
	t.SecondsToAck += f.SecondsToAck
	t.Closed += one(f.Closed)
	t.SecondsToClose += f.SecondsToClose
	t.AutoClosed += one(f.ClosedBy == Auto)
	t.ManuallyClosed += one(f.ClosedBy == Manually)
	t.TimeoutClosed += one(f.ClosedBy == Timeout)
	t.Merged += one(f.ClosedBy == Merged)
	t.Escalated += one(f.Escalations() > 0)
	t.ManuallyEscalated += one(f.ManualEscalations > 0)
	t.TimeoutEscalated += one(f.TimeoutEscalations > 0)
	t.Reassigned += one(f.Reassignments > 0)
}

// AddPerson adds the figures of one person about an incident.
func (t *Total) AddPerson(p *Person) {
	t.Incidents++
	t.Interruptions += p.Interruptions
	t.SleepInterruptions += p.SleepInterruptions
	t.Notifications += p.Notifications
	t.EngagedSeconds += p.EngagedSeconds
	t.Acknowledged += one(p.Acknowledged)
	t.SecondsToAck += p.SecondsToAck
	t.Escalated += one(p.ManuallyEscalated || p.TimeoutEscalated)
	t.ManuallyEscalated += one(p.ManuallyEscalated)
	t.TimeoutEscalated += one(p.TimeoutEscalated)
	t.Reassigned += one(p.Reassigned)
}

// MeanSecondsToAck returns the mean of the acknowledged incidents; 0 without any.
func (t *Total) MeanSecondsToAck() float64 { return ratio(t.SecondsToAck, t.Acknowledged) }

// MeanSecondsToClose returns the mean of the closed incidents; 0 without any.
func (t *Total) MeanSecondsToClose() float64 { return ratio(t.SecondsToClose, t.Closed) }

// AcknowledgementPct returns the share of the acknowledged incidents in percent; 0 without any incident.
func (t *Total) AcknowledgementPct() float64 { return ratio(100*t.Acknowledged, t.Incidents) }

// NoiseReductionPct returns which share of the events opened no incident, in percent; 0 without events.
func (t *Total) NoiseReductionPct() float64 { return ratio(100*(t.Events-t.WithEvents), t.Events) }

// ratio returns a quotient with two decimals; 0 when there is nothing to divide by.
func ratio(sum, count int64) float64 {
	if count == 0 {
		return 0
	}
	return math.Round(100*float64(sum)/float64(count)) / 100
}

func one(yes bool) int64 {
	if yes {
		return 1
	}
	return 0
}
