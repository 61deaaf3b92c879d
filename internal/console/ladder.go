package console

import (
	"slices"

	"tocsin/internal/channel"
	"tocsin/internal/engine/escalation"
)

// ladderView shows who would be notified, minute by minute.
type ladderView struct {
	titled
	Channel  channel.Shown
	Severity string
	Labels   string
	At       string
	Preview  *escalation.Preview
	People   map[int64]profile
}

// ladderStep is one notification of a layer.
type ladderStep struct{ escalation.Step }

// Ladder returns the steps of a preview.
func (v *visit) Ladder(p *escalation.Preview) []ladderStep {
	steps := make([]ladderStep, len(p.Steps))
	for i, s := range p.Steps {
		steps[i] = ladderStep{s}
	}
	return steps
}

// preview asks who would be notified, and for the names of the persons.
func (v *visit) preview(request escalation.PreviewRequest) (*escalation.Preview, map[int64]profile, error) {
	p, err := call[escalation.Preview](v, "/incident/escalation/preview", request)
	if err != nil {
		return nil, nil, err
	}
	people, err := v.namesOf(&p)
	return &p, people, err
}

// Number returns the number of the layer, from 1.
func (s ladderStep) Number() int { return s.LayerIdx + 1 }

// Seconds returns how long after the beginning the step is.
func (s ladderStep) Seconds() int64 { return int64(s.Minute*60 + .5) }

// Lost reports whether the step notifies no person and no other address.
func (s ladderStep) Lost() bool {
	return len(s.Persons) == 0 && len(s.Emails) == 0 && len(s.Chats) == 0
}

// maxLadder is how many steps are shown: further repeats add nothing.
const maxLadder = 40

func showLadder(v *visit) (view, error) {
	c, err := v.channel()
	if err != nil {
		return nil, err
	}
	d := ladderView{titled: titled(v.T("Who would be notified")), Channel: c, Severity: v.query("severity"), Labels: v.query("labels"),
		At: v.query("at")}
	if !slices.Contains([]string{"Critical", "Warning", "Info"}, d.Severity) {
		d.Severity = "Critical"
	}
	request := escalation.PreviewRequest{ChannelID: c.ChannelID, IncidentSeverity: d.Severity, Labels: labelsOf(d.Labels)}
	if d.At != "" {
		at, err := v.fromInput(d.At)
		if err != nil {
			return nil, err
		}
		request.At = at
	}
	d.Preview, d.People, err = v.preview(request)
	return d, err
}
