package untold

import (
	"tocsin/internal/api"
	"tocsin/internal/channel"
	"tocsin/internal/configstore"
	"tocsin/internal/core/event"
	"tocsin/internal/platform/fault"
)

func (r *Service) info(c *api.Call, _ api.Empty) (Fallback, error) {
	f, _, err := Of(c.Tx, c.Who.AccountID)
	if err != nil || f.EscalateRuleID == "" {
		return f, err
	}
	if err := permitRule(c, f.EscalateRuleID); fault.KindOf(err) == fault.AccessDenied {
		f.EscalateRuleID = ""
	} else if err != nil {
		return f, err
	}
	return f, nil
}

// permitRule returns AccessDenied for a rule of a private channel that the caller may not read.
func permitRule(c *api.Call, id string) error {
	rule, found, err := channel.Escalates.Find(c.Tx, c.Who.AccountID, id)
	if err != nil || !found {
		return err
	}
	return channel.PermitAll(c.Tx, c.Who, rule.ChannelID)
}

// hiddenRule returns the rule of the stored fallback if the caller may not read it: a caller who was shown the fallback without the
// rule must not remove it by sending what was shown. Empty: there is none.
func hiddenRule(c *api.Call) (string, error) {
	f, _, err := Of(c.Tx, c.Who.AccountID)
	if err != nil || f.EscalateRuleID == "" {
		return "", err
	}
	err = permitRule(c, f.EscalateRuleID)
	if fault.KindOf(err) == fault.AccessDenied {
		return f.EscalateRuleID, nil
	}
	return "", err
}

// UpdateRequest replaces an account's fallback.
type UpdateRequest struct {
	PersonIDs      []int64 `json:"person_ids,omitzero" maxItems:"50" minimum:"1" doc:"Persons, by their own methods."`
	TeamIDs        []int64 `json:"team_ids,omitzero" maxItems:"50" minimum:"1" doc:"All members of these teams, by their own methods."`
	EscalateRuleID string  `json:"escalate_rule_id,omitzero" pattern:"^[0-9a-fA-F]{24}$" patternDescription:"24 hexadecimal digits" doc:"The persons of this escalation rule, by its methods: those of the first step of which a person can be reached at that moment."`
}

// Updated is the reply of an update.
type Updated struct {
	Fallback
	api.Warnings
}

func (r *Service) update(c *api.Call, in UpdateRequest) (reply Updated, err error) {
	f := Fallback{PersonIDs: in.PersonIDs, TeamIDs: in.TeamIDs, EscalateRuleID: in.EscalateRuleID, UpdatedAt: c.Unix()}
	if err := configstore.FirstError(f.check(""), f.exists(c.Tx, c.Who.AccountID)); err != nil {
		return reply, err
	}
	if f.EscalateRuleID != "" {
		if err := permitRule(c, f.EscalateRuleID); err != nil {
			return reply, err
		}
	}
	if f.EscalateRuleID == "" {
		hidden, err := hiddenRule(c)
		if err != nil {
			return reply, err
		}
		f.EscalateRuleID = hidden
	}
	c.Touched(configstore.Fallback, only, "the account's fallback")
	if f.empty() {
		return Updated{}, Kind.Delete(c.Tx, c.Who.AccountID, only)
	}
	if err := Kind.Put(c.Tx, c.Who.AccountID, &f); err != nil {
		return reply, err
	}
	reply.Fallback = f
	if in.EscalateRuleID == "" {
		reply.EscalateRuleID = "" // as the caller sees it
	}
	to, err := r.Recipients(c.Tx, c.Who.AccountID, 0, event.Critical, false, c.Now)
	if err == nil && to.Lacks != "" {
		reply.Warnings = api.Warn([]string{to.Lacks.English()})
	}
	return reply, err
}
