package incident

import (
	"sync"

	"tocsin/internal/activity"
	"tocsin/internal/alert"
	"tocsin/internal/core/decide"
	"tocsin/internal/core/render"
	"tocsin/internal/core/sentence"
)

// Flapping holds the settings by which an alert of an incident changes too often.
type Flapping struct {
	MaxChanges int64 `json:"max_changes" doc:"So many changes between active and over were too many."`
	InMins     int64 `json:"in_mins" doc:"Within so many minutes."`
	MuteMins   int64 `json:"mute_mins" doc:"The alert ends once it has not changed for so many minutes."`
}

// Words states that an alert changes too often, and when the next message comes.
func (f *Flapping) Words() sentence.Value {
	return sentence.New("changes_too_often", f.MaxChanges, f.InMins, f.MuteMins)
}

// reasons describe why an incident notifies again.
var reasons = sync.OnceValue(func() map[decide.Again]sentence.Value {
	return map[decide.Again]sentence.Value{
		decide.AgainFirst:    sentence.New("again_first"),
		decide.AgainBack:     sentence.New("again_back"),
		decide.AgainLasts:    sentence.New("again_lasts"),
		decide.AgainReleased: sentence.New("again_released"),
	}
})

// Flaps notes in an incident that an alert changes too often (flaps is not zero), or no longer does (settled). If the alert
// is to notify again, the incident notifies again. While another of its alerts fires, persons were notified of the incident
// anyway.
func (d Writer) Flaps(incident string, a *decide.Alert, flaps decide.Flaps, settled bool, again decide.Again) error {
	r, found, err := d.find(incident)
	if err != nil || !found || r.Progress == Closed {
		return err
	}
	switch {
	case flaps != decide.Flaps{} && r.Flapping == nil:
		r.Flapping = &Flapping{MaxChanges: flaps.Max, InMins: flaps.In / 60, MuteMins: flaps.Mute / 60}
		err = d.save(&r)
	case settled:
		err = d.settle(&r)
	}
	if err != nil || again == decide.NotAgain {
		return err
	}
	other, err := alert.OtherFires(d.Tx, d.Account, incident, a.ID)
	if err != nil || other {
		return err
	}
	return d.publish(&r, activity.FiresAgain{
		Title: render.AlertName(a.Title, a.Labels), Why: string(again), Reason: reasons()[again], Since: a.Changed(),
	})
}

// settle notes that no alert of an incident changes too often, once that holds.
func (d Writer) settle(r *Incident) error {
	if r.Flapping == nil {
		return nil
	}
	flaps, err := alert.Flaps(d.Tx, d.Account, r.IncidentID)
	if err != nil || flaps {
		return err
	}
	r.Flapping = nil
	return d.save(r)
}

// flappingOf returns the settings by which one of some alerts changes too often, from its incident; nil: no alert does.
func (d Writer) flappingOf(alerts []decide.Alert) (*Flapping, error) {
	for i := range alerts {
		if alerts[i].FlapsUntil == 0 || alerts[i].Incident == "" {
			continue
		}
		if r, found, err := d.find(alerts[i].Incident); err != nil || found && r.Flapping != nil {
			return r.Flapping, err
		}
	}
	return nil, nil
}
