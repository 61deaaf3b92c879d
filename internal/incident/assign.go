package incident

import (
	"slices"
	"strings"
	"time"

	"tocsin/internal/absence"
	"tocsin/internal/activity"
	"tocsin/internal/api"
	"tocsin/internal/channel"
	"tocsin/internal/configstore"
	"tocsin/internal/core/sentence"
	"tocsin/internal/person"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/id"
)

// AssignRequest asks to make persons responsible, and no others.
type AssignRequest struct {
	IncidentID  string     `json:"incident_id,omitzero" pattern:"^([0-9a-fA-F]{24})?$" patternDescription:"24 hexadecimal digits" doc:"One incident."`
	IncidentIDs []string   `json:"incident_ids,omitzero" maxItems:"100" pattern:"^[0-9a-fA-F]{24}$" patternDescription:"24 hexadecimal digits" doc:"Several, at most 100; at least one is needed, here or there."`
	AssignedTo  AssignedTo `json:"assigned_to" doc:"Who is to be responsible."`
}

// Check holds the request against its bounds.
func (in AssignRequest) Check() error {
	if in.IncidentID == "" && len(in.IncidentIDs) == 0 {
		return fault.Invalid("incident_ids", "is required, or incident_id")
	}
	return nil
}

// Assigned is the reply of the operations that make persons responsible.
type Assigned struct{ api.Warnings }

// absences warns of the persons who are absent now. Absent persons are notified all the same, because the caller chose them.
func absences(c *api.Call, field string, persons []int64) (reply Assigned, err error) {
	until, err := absence.Until(c.Tx, c.Who.AccountID, persons, c.Unix())
	if err != nil {
		return reply, err
	}
	for _, id := range persons {
		if until[id] == 0 {
			continue
		}
		p, _, err := person.Find(c.Tx, c.Who.AccountID, id)
		if err != nil {
			return reply, err
		}
		end := time.Unix(until[id], 0).In(c.Who.Zone).Format("Mon 2 Jan 15:04 MST")
		why := sentence.New("named_why", field, sentence.New("is_absent", p.PersonName, end))
		reply.Warnings.Warnings = append(reply.Warnings.Warnings, sentence.Words(why))
	}
	return reply, nil
}

func (r *Service) assign(c *api.Call, in AssignRequest) (reply Assigned, err error) {
	ids := in.IncidentIDs
	if in.IncidentID != "" {
		ids = append([]string{in.IncidentID}, ids...)
	}
	_, err = r.each(c, Some{ids}.ids(), func(d Writer, i *Incident) error {
		to := in.AssignedTo
		if err := r.checkAssignment(c, &to, i.ChannelID); err != nil {
			return err
		}
		return d.Assign(i, to)
	})
	if err != nil {
		return reply, err
	}
	return absences(c, "assigned_to.person_ids", in.AssignedTo.PersonIDs)
}

// checkAssignment returns fault.Invalid when an assignment names no person, address or rule, or one that does not exist.
// It clears what the server fills in.
func (r *Service) checkAssignment(c *api.Call, to *AssignedTo, channelID int64) error {
	to.Type = ""
	to.EscalateRuleName = ""
	to.AssignedAt = 0
	to.ID = ""
	if to.EscalateRuleID == "000000000000000000000000" {
		to.EscalateRuleID = ""
	}
	if to.EscalateRuleID == "" && len(to.PersonIDs) == 0 && len(to.Emails) == 0 {
		return fault.Invalid("assigned_to", "must name person_ids, emails or an escalate_rule_id")
	}
	for i, email := range to.Emails {
		if err := configstore.RecordPath("assigned_to").Element("emails", i).Email("", email); err != nil {
			return err
		}
	}
	for _, id := range to.PersonIDs {
		if err := person.Table.Need(c.Tx, c.Who.AccountID, "assigned_to.person_ids", id); err != nil {
			return err
		}
	}
	if to.EscalateRuleID == "" {
		return nil
	}
	rule, found, err := channel.Escalates.Find(c.Tx, c.Who.AccountID, strings.ToLower(to.EscalateRuleID))
	switch {
	case err != nil:
		return err
	case !found:
		return fault.Invalid("assigned_to.escalate_rule_id", "names an escalation rule that does not exist, %s", to.EscalateRuleID)
	case rule.ChannelID != channelID:
		return fault.Invalid("assigned_to.escalate_rule_id", "belongs to channel %d, not to the incident's %d", rule.ChannelID, channelID)
	case int(to.LayerIdx) >= len(rule.Layers):
		return fault.Invalid("assigned_to.layer_idx", "must be less than %d, the layers of the rule, got %d", len(rule.Layers), to.LayerIdx)
	}
	to.EscalateRuleID, to.EscalateRuleName = rule.RuleID, rule.RuleName
	return nil
}

// Assign makes persons responsible. An assignment replaces the persons who were responsible; an escalation adds to them.
func (d Writer) Assign(r *Incident, to AssignedTo) error {
	if err := d.move(r, Assign); err != nil {
		return err
	}
	now := d.Now.Unix()
	to.AssignedAt, to.ID = now, id.Object(d.Now)
	if to.Type == "" {
		to.Type = "assign"
		if r.AssignedTo != nil {
			to.Type = "reassign"
		}
	}
	if to.Type != "escalate" {
		for i, a := range r.Assignments {
			if a.RemovedAt == 0 && !slices.Contains(to.PersonIDs, a.PersonID) {
				if err := d.updateAssignment(r, i, now, a.AcknowledgedAt); err != nil {
					return err
				}
			}
		}
	}
	for _, person := range to.PersonIDs {
		if err := d.addResponder(r, person, 0); err != nil {
			return err
		}
	}
	r.AssignedTo = &to
	if err := d.save(r); err != nil {
		return err
	}
	return d.publish(r, activity.Assigned{How: to.Type, To: to.PersonIDs, PersonIDs: to.PersonIDs, EscalateRuleID: to.EscalateRuleID,
		EscalateRuleName: to.EscalateRuleName, LayerIdx: to.LayerIdx, Emails: to.Emails, AssignedAt: now, ID: to.ID})
}
