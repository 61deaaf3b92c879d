package incident

import (
	"strings"

	"tocsin/internal/api"
	"tocsin/internal/channel"
	"tocsin/internal/platform/fault"
)

// SilencesRequest asks for the silences that were made of an alert or an incident.
type SilencesRequest struct {
	AlertID    string `json:"alert_id,omitzero" pattern:"^[0-9a-fA-F]{24}$" patternDescription:"24 hexadecimal digits" doc:"The alert that they were made from."`
	IncidentID string `json:"incident_id,omitzero" pattern:"^[0-9a-fA-F]{24}$" patternDescription:"24 hexadecimal digits" doc:"Or the incident that they, or their alerts, were made from."`
}

// Check requires either alert_id or incident_id.
func (in SilencesRequest) Check() error {
	if (in.AlertID == "") == (in.IncidentID == "") {
		return fault.Invalid("alert_id", "set either alert_id or incident_id")
	}
	return nil
}

// RespondersSilence is a silence that a responder made and that is not over.
type RespondersSilence struct {
	RuleID   string `json:"rule_id" doc:"The silence rule, for /alert/silence/undo."`
	RuleName string `json:"rule_name" doc:"Its name."`
	Until    int64  `json:"until" doc:"When it ends, Unix seconds."`
	MadeBy   int64  `json:"made_by" doc:"The person who made it."`
}

// SilencesReply has silences in force.
type SilencesReply struct {
	Items []RespondersSilence `json:"items" doc:"The silences, the oldest first."`
}

// listSilences lists the silences in force that responders made from an alert or an incident. An alert also has the silences
// of its incident.
func (r *Service) listSilences(c *api.Call, in SilencesRequest) (reply SilencesReply, err error) {
	reply.Items = []RespondersSilence{}
	var at int64
	alertID, incidentID := strings.ToLower(in.AlertID), strings.ToLower(in.IncidentID)
	if alertID != "" {
		all, err := SomeAlerts{[]string{alertID}}.alerts(c)
		if err != nil {
			return reply, err
		}
		at, incidentID = all[0].Channel, all[0].Incident
	} else {
		i, err := Permit(c.Tx, c.Who, incidentID)
		if err != nil {
			return reply, err
		}
		at = i.ChannelID
	}
	rules, err := channel.RespondersSilences(c, at)
	for _, rule := range rules {
		ofAlert := alertID != "" && rule.FromAlertID == alertID
		ofIncident := rule.FromIncidentID == incidentID && (alertID == "" || rule.FromAlertID == "")
		if ofAlert || ofIncident {
			reply.Items = append(reply.Items, RespondersSilence{rule.RuleID, rule.RuleName, rule.TimeFilter.EndTime, rule.UpdatedBy})
		}
	}
	return reply, err
}
