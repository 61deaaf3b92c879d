package timeline

// Why explains one instant: what every layer contributes to it, or why it does
// not.
type Why struct {
	At     int64      // the instant explained, Unix seconds
	Piece  *Piece     // who is on call, with true bounds; nil when nobody is
	Layers []LayerWhy // one for every layer, in the order of Schedule.Layers
}

// LayerWhy is one layer's part in an explanation.
type LayerWhy struct {
	Verdict Verdict
	Turn    int64 // the turn in progress; -1 when there is none
	Group   int   // the group whose turn it is; -1 when there is none
	Entry   Entry // the entry in force, with true bounds; zero when the layer is silent
}

// Verdict says whether a layer is on call at an instant, and if not, why not.
type Verdict uint8

// The verdicts.
const (
	OnCall     Verdict = iota // the layer's turn is (part of) the answer
	Preempted                 // the layer has somebody on call, but an override replaces them (R19)
	NotStarted                // the layer begins later (R4)
	Ended                     // the layer is over (R4)
	Masked                    // the date mask excludes this moment (R10)
	Restricted                // the moment is outside the restricted hours (R14)
	Invalid                   // the layer does not pass Check and is not computed
)

// Why explains who is on call at an instant and what every layer had to say
// about it.
func (s *Schedule) Why(at int64) Why { return Why{} }

// Words returns the explanation as sentences for people: first the answer, then
// one for every layer, each with the number of the rule that decided. The
// schedule must be the one that was explained.
func (w Why) Words(s *Schedule) []string { return nil }
