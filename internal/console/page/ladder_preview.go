package page

import (
	"slices"

	"tocsin/internal/engine/escalation"
)

// Preview asks who would be notified, and for the names of the persons.
func (v *Visit) Preview(request escalation.PreviewRequest) (*escalation.Preview, map[int64]Person, error) {
	p, err := Call[escalation.Preview](v, "/incident/escalation/preview", request)
	if err != nil {
		return nil, nil, err
	}
	people, err := v.NamesOf(&p)
	return &p, people, err
}

// NamesOf returns the persons whom a preview names, with at most maxLadder of its steps.
func (v *Visit) NamesOf(p *escalation.Preview) (map[int64]Person, error) {
	p.Steps = p.Steps[:min(len(p.Steps), maxLadder)]
	var ids []int64
	for _, s := range p.Steps {
		for _, one := range s.Persons {
			ids = append(ids, one.PersonID)
		}
	}
	return v.People(slices.Compact(slices.Sorted(slices.Values(ids))))
}

// ladderStep is one notification of a layer.
type ladderStep struct{ escalation.Step }

// Number returns the number of the layer, from 1.
func (s ladderStep) Number() int { return s.LayerIdx + 1 }

// Seconds returns how long after the beginning the step is.
func (s ladderStep) Seconds() int64 { return int64(s.Minute*60 + .5) }

// Lost reports whether the step notifies no person and no other address.
func (s ladderStep) Lost() bool {
	return len(s.Persons) == 0 && len(s.Emails) == 0 && len(s.Chats) == 0
}

// Ladder returns the steps of a preview.
func (v *Visit) Ladder(p *escalation.Preview) []ladderStep {
	steps := make([]ladderStep, len(p.Steps))
	for i, s := range p.Steps {
		steps[i] = ladderStep{s}
	}
	return steps
}

// maxLadder is how many steps are shown: further repeats add nothing.
const maxLadder = 40
