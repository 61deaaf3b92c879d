package console

import (
	"slices"
)

// ladderView shows who would be notified, minute by minute.
type ladderView struct {
	titled
	Channel  channelRow
	Severity string
	Labels   string
	At       string
	Preview  preview
	People   map[int64]profile
}

type preview struct {
	At    int64 `json:"at"`
	Rules []struct {
		ID      string `json:"rule_id"`
		Name    string `json:"rule_name"`
		Matched bool   `json:"matched"`
		Why     string `json:"why"`
	} `json:"rules"`
	Steps []ladderStep `json:"steps"`
	Ends  string       `json:"ends"`
}

type ladderStep struct {
	At      int64   `json:"at"`
	Minute  float64 `json:"minute"`
	Layer   int     `json:"layer_idx"`
	Repeat  int     `json:"repeat"`
	Persons []struct {
		ID  int64  `json:"person_id"`
		Why string `json:"why"`
	} `json:"persons"`
	Emails   []string `json:"emails"`
	Chats    []string `json:"chats"`
	Nobody   []string `json:"nobody"`
	Then     string   `json:"then"`
	Problems []string `json:"problems"`
}

// Number returns the number of the layer, from 1.
func (s ladderStep) Number() int { return s.Layer + 1 }

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
	request := map[string]any{"channel_id": c.ID, "incident_severity": d.Severity, "labels": labelsOf(d.Labels)}
	if d.At != "" {
		at, err := v.fromInput(d.At)
		if err != nil {
			return nil, err
		}
		request["at"] = at
	}
	if err := v.call("/incident/escalation/preview", request, &d.Preview); err != nil {
		return nil, err
	}
	d.People, err = v.namesOf(&d.Preview)
	return d, err
}
