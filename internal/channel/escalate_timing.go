package channel

import (
	"math"

	"tocsin/internal/core/escalationplan"
)

const (
	minute        = 60 // seconds
	defaultWindow = 30 // minutes until the next layer, when the layer does not set them
)

// Timing returns the rule for the engine of escalations: in seconds, with the defaults filled in.
func (r *EscalateRule) Timing() escalationplan.Rule {
	timing := escalationplan.Rule{Wait: r.AggrWindow}
	for _, l := range r.Layers {
		timing.Layers = append(timing.Layers, l.timing())
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
