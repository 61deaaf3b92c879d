package channel

import (
	"math"

	"tocsin/internal/core/escalationplan"
)

const (
	minute        = 60 // seconds
	defaultWindow = 30 // minutes until the next layer, when the layer does not set them
	defaultRepeat = 30 // minutes until all layers are notified again, when the rule does not set them
	minRepeat     = 5
	maxRepeat     = 1440
)

// Timing returns the rule for the engine of escalations: in seconds, with the defaults filled in.
func (r *EscalateRule) Timing() escalationplan.Rule {
	timing := escalationplan.Rule{Wait: r.AggrWindow, Repeat: r.Repeat.timing()}
	for _, l := range r.Layers {
		timing.Layers = append(timing.Layers, l.timing())
	}
	return timing
}

func (r *Repeat) timing() (timing escalationplan.Repeat) {
	if r == nil {
		return timing
	}
	timing.Times, timing.Every = int(value(r.Times)), defaultRepeat*minute
	if r.Interval != nil {
		timing.Every = *r.Interval * minute
	}
	if value(r.UntilAcknowledged) {
		timing.Times = -1
	}
	return timing
}

func (l Layer) timing() escalationplan.Layer {
	window := value(l.EscalateWindow)
	if window == 0 {
		window = defaultWindow
	}
	return escalationplan.Layer{
		Times:  int(value(l.MaxTimes)),
		Every:  int64(math.Round(value(l.NotifyStep) * minute)),
		Window: window * minute,
		Force:  value(l.ForceEscalate),
	}
}
