package incident

import (
	"cmp"

	"tocsin/internal/activity"
	"tocsin/internal/alert"
	"tocsin/internal/api"
	"tocsin/internal/channel"
	"tocsin/internal/core/render"
)

// SilenceAlertRequest is a silence of an alert.
type SilenceAlertRequest struct {
	alert.OneRequest
	SilenceRequest
}

// alertToSilence reads an alert that the caller may read. The alert may be over: its next event is silenced then.
func alertToSilence(c *api.Call, alertID string) (s silenceable, err error) {
	all, err := SomeAlerts{[]string{alertID}}.alerts(c)
	if err != nil {
		return s, err
	}
	a := all[0]
	name := cmp.Or(render.AlertName(a.Title, a.Labels), a.Key)
	return silenceable{a.ID, a.Incident, name, a.Channel, all}, needChannel(c, a.Channel, "alert "+a.ID)
}

func (r *Service) silenceAlert(c *api.Call, in SilenceAlertRequest) (SilenceMade, error) {
	s, err := alertToSilence(c, in.AlertID)
	if err != nil {
		return SilenceMade{}, err
	}
	c.Touched("alert", s.alertID, s.title)
	return r.silence(c, s, in.SilenceRequest)
}

// UndoSilenceRequest names a silence to end.
type UndoSilenceRequest struct {
	RuleID string `json:"rule_id" pattern:"^[0-9a-fA-F]{24}$" patternDescription:"24 hexadecimal digits" doc:"The silence rule."`
}

// undoSilence ends a silence that a responder made. The silenced alerts are decided again immediately.
func (r *Service) undoSilence(c *api.Call, in UndoSilenceRequest) (api.Empty, error) {
	rule, err := channel.EndSilence(c, in.RuleID)
	if err != nil {
		return api.Empty{}, err
	}
	return api.Empty{}, r.publishSilence(c, &rule, func(ofAlert bool) activity.Event {
		kind := activity.IncidentUndone
		if ofAlert {
			kind = activity.AlertUndone
		}
		return activity.SilenceUndone{Kind: kind, RuleID: rule.RuleID, RuleName: rule.RuleName}
	})
}
