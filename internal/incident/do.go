package incident

import (
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"tocsin/internal/api"
	"tocsin/internal/channel"
	"tocsin/internal/fault"
	"tocsin/internal/field"
	"tocsin/internal/news"
	"tocsin/internal/object"
	"tocsin/internal/reference"
)

// Some names incidents. What is done about them is done about all or none.
type Some struct {
	IncidentIDs []string `json:"incident_ids" minItems:"1" maxItems:"100" doc:"Incidents, at most 100, of 24 hexadecimal digits each."`
}

// ids are the incidents, each once, in the order of the request.
func (s Some) ids() (ids []string) {
	seen := map[string]bool{}
	for _, id := range s.IncidentIDs {
		if id = strings.ToLower(id); !seen[id] {
			seen[id] = true
			ids = append(ids, id)
		}
	}
	return ids
}

func (r *Room) desk(c *api.Call) Desk {
	return Desk{Tx: c.Tx, Bus: r.Bus, Account: c.Who.AccountID, Now: c.Now, Person: c.Who.PersonID}
}

// each does something about each of some incidents that the caller may read.
func (r *Room) each(c *api.Call, ids []string, fn func(Desk, *Incident) error) (api.Empty, error) {
	for _, id := range ids {
		i, err := permit(c.Tx, c.Who, id)
		if err != nil {
			return api.Empty{}, err
		}
		if err := fn(r.desk(c), &i); err != nil {
			return api.Empty{}, err
		}
		c.Touched("incident", i.IncidentID, i.Title)
	}
	return api.Empty{}, nil
}

func (r *Room) ack(c *api.Call, in Some) (api.Empty, error)   { return r.each(c, in.ids(), Desk.Ack) }
func (r *Room) unack(c *api.Call, in Some) (api.Empty, error) { return r.each(c, in.ids(), Desk.Unack) }
func (r *Room) wake(c *api.Call, in Some) (api.Empty, error)  { return r.each(c, in.ids(), Desk.Wake) }

type snoozeRequest struct {
	Some
	Minutes int64 `json:"minutes" minimum:"1" maximum:"1440" doc:"For how long nobody is told."`
}

func (r *Room) snooze(c *api.Call, in snoozeRequest) (api.Empty, error) {
	return r.each(c, in.ids(), func(d Desk, i *Incident) error { return d.Snooze(i, in.Minutes) })
}

type resolveRequest struct {
	Some
	RootCause  string `json:"root_cause,omitzero" maxLength:"1024" doc:"Why it happened, for each of them."`
	Resolution string `json:"resolution,omitzero" maxLength:"1024" doc:"What helped, likewise."`
}

func (r *Room) resolve(c *api.Call, in resolveRequest) (api.Empty, error) {
	return r.each(c, in.ids(), func(d Desk, i *Incident) error { return d.Resolve(i, in.RootCause, in.Resolution) })
}

type reopenRequest struct {
	Some
	Reason string `json:"reason,omitzero" maxLength:"1024" doc:"Why, for the feed."`
}

func (r *Room) reopen(c *api.Call, in reopenRequest) (api.Empty, error) {
	return r.each(c, in.ids(), func(d Desk, i *Incident) error { return d.Reopen(i, in.Reason) })
}

type commentRequest struct {
	Some
	Comment   string `json:"comment" minLength:"1" maxLength:"1024" doc:"What to say."`
	MuteReply bool   `json:"mute_reply,omitzero" doc:"Kept in the feed as sent."`
}

func (r *Room) comment(c *api.Call, in commentRequest) (api.Empty, error) {
	return r.each(c, in.ids(), func(d Desk, i *Incident) error {
		return d.tell(i, news.IncidentComment, map[string]any{"comment": in.Comment, "mute_reply": in.MuteReply})
	})
}

func (r *Room) disableMerge(c *api.Call, in Some) (api.Empty, error) {
	return r.each(c, in.ids(), func(d Desk, i *Incident) error {
		i.GroupKey = ""
		return d.save(i)
	})
}

func (r *Room) remove(c *api.Call, in Some) (api.Empty, error) {
	return r.each(c, in.ids(), func(d Desk, i *Incident) error {
		if i.Progress != Closed { // whoever waits to be told of it is not, and its alerts do not stay open without it
			if err := d.Resolve(i, "", ""); err != nil {
				return err
			}
		}
		c.Removed("incident", i.IncidentID, i.Title)
		return d.Remove(i)
	})
}

// Remove takes a closed incident away, with its feed. Its alerts stay, and belong to none.
func (d Desk) Remove(r *Incident) error {
	if _, err := d.Tx.Exec(`UPDATE alert SET incident_id = '' WHERE account_id = $1 AND incident_id = $2`, d.Account, r.IncidentID); err != nil {
		return err
	}
	if _, err := d.Tx.Exec(`DELETE FROM incident WHERE account_id = $1 AND incident_id = $2`, d.Account, r.IncidentID); err != nil {
		return err
	}
	return news.Forget(d.Tx, d.Account, r.IncidentID)
}

type createRequest struct {
	IncidentSeverity string      `json:"incident_severity" enum:"Info,Warning,Critical" doc:"How bad it is."`
	Title            string      `json:"title" minLength:"1" maxLength:"512" doc:"What people read first."`
	Description      string      `json:"description,omitzero" maxLength:"6144" doc:"What it is about."`
	ChannelID        int64       `json:"channel_id,omitzero" minimum:"0" doc:"The channel it belongs to; absent or 0: none."`
	AssignedTo       *AssignedTo `json:"assigned_to,omitzero" doc:"Who is to take care; absent: whom the channel's escalation rules say."`
}

// Created is the reply to /incident/create.
type Created struct {
	IncidentID string `json:"incident_id" doc:"The new incident."`
	Title      string `json:"title" doc:"Its title."`
	api.Warnings
}

func (r *Room) create(c *api.Call, in createRequest) (reply Created, err error) {
	if in.ChannelID != 0 {
		if err := channel.Readable(c.Tx, c.Who, in.ChannelID); err != nil {
			return reply, err
		}
	}
	i := Incident{Title: in.Title, ChannelID: in.ChannelID, Severity: in.IncidentSeverity, Detail: Detail{Description: in.Description, Fields: map[string]jsontext.Value{}}}
	fields, err := field.Kind.All(c.Tx, c.Who.AccountID)
	if err != nil {
		return reply, err
	}
	for _, f := range fields {
		if len(f.DefaultValue) > 0 && f.DefaultValue.Kind() != 'n' {
			i.Fields[f.FieldName] = f.DefaultValue
		}
	}
	if in.AssignedTo != nil {
		if err := r.checkAssignment(c, in.AssignedTo, in.ChannelID); err != nil {
			return reply, err
		}
		i.AssignedTo = in.AssignedTo
	}
	d := r.desk(c)
	if err := d.Open(&i); err != nil {
		return reply, err
	}
	if in.AssignedTo != nil {
		i.AssignedTo = nil
		if err := d.Assign(&i, *in.AssignedTo); err != nil {
			return reply, err
		}
	} else if in.ChannelID == 0 {
		reply.Warnings.Warnings = append(reply.Warnings.Warnings, "assigned_to: is empty and the incident has no channel, so nobody is told of it")
	}
	c.Touched("incident", i.IncidentID, i.Title)
	reply.IncidentID, reply.Title = i.IncidentID, i.Title
	return reply, nil
}

// checkAssignment refuses an assignment to nobody, or to those who are not there.
func (r *Room) checkAssignment(c *api.Call, to *AssignedTo, channelID int64) error {
	to.EscalateRuleName, to.AssignedAt, to.ID = "", 0, ""
	if to.EscalateRuleID == "000000000000000000000000" {
		to.EscalateRuleID = ""
	}
	if to.EscalateRuleID == "" && len(to.PersonIDs) == 0 && len(to.Emails) == 0 {
		return fault.Invalid("assigned_to", "must name person_ids, emails or an escalate_rule_id")
	}
	for _, person := range to.PersonIDs {
		if err := object.Need(c.Tx, c.Who.AccountID, "assigned_to.person_ids", reference.To(reference.Person, person)); err != nil {
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

type assignRequest struct {
	IncidentID  string     `json:"incident_id,omitzero" doc:"One incident; or incident_ids."`
	IncidentIDs []string   `json:"incident_ids,omitzero" maxItems:"100" doc:"Several, at most 100."`
	AssignedTo  AssignedTo `json:"assigned_to" doc:"Who is to take care."`
}

func (in assignRequest) Check() error {
	if in.IncidentID == "" && len(in.IncidentIDs) == 0 {
		return fault.Invalid("incident_ids", "is required, or incident_id")
	}
	return nil
}

func (r *Room) assign(c *api.Call, in assignRequest) (api.Empty, error) {
	ids := in.IncidentIDs
	if len(ids) == 0 {
		ids = []string{in.IncidentID}
	}
	return r.each(c, Some{ids}.ids(), func(d Desk, i *Incident) error {
		to := in.AssignedTo
		if err := r.checkAssignment(c, &to, i.ChannelID); err != nil {
			return err
		}
		to.Type = ""
		return d.Assign(i, to)
	})
}

type responderRequest struct {
	OneRequest
	PersonIDs []int64 `json:"person_ids" minItems:"1" maxItems:"100" doc:"Who is to be responsible as well."`
}

func (r *Room) addResponders(c *api.Call, in responderRequest) (api.Empty, error) {
	return r.each(c, []string{in.IncidentID}, func(d Desk, i *Incident) error {
		for _, person := range in.PersonIDs {
			if err := object.Need(c.Tx, c.Who.AccountID, "person_ids", reference.To(reference.Person, person)); err != nil {
				return err
			}
		}
		return d.AddResponders(i, in.PersonIDs)
	})
}

type resetRequest struct {
	OneRequest
	Title            *string `json:"title,omitzero" minLength:"1" maxLength:"512" doc:"New title."`
	Description      *string `json:"description,omitzero" maxLength:"6144" doc:"New description."`
	Impact           *string `json:"impact,omitzero" maxLength:"6144" doc:"Whom it hurts."`
	RootCause        *string `json:"root_cause,omitzero" maxLength:"6144" doc:"Why it happened."`
	Resolution       *string `json:"resolution,omitzero" maxLength:"6144" doc:"What helped."`
	IncidentSeverity *string `json:"incident_severity,omitzero" enum:"Info,Warning,Critical" doc:"New severity; alerts do not raise it any more."`
}

func (in resetRequest) Check() error {
	if in.Title == nil && in.Description == nil && in.Impact == nil && in.RootCause == nil && in.Resolution == nil && in.IncidentSeverity == nil {
		return fault.Invalid("title", "or another field to change is required")
	}
	return nil
}

func (r *Room) reset(c *api.Call, in resetRequest) (api.Empty, error) {
	return r.each(c, []string{in.IncidentID}, func(d Desk, i *Incident) error {
		var told []func() error
		for _, change := range []struct {
			to         *string
			member     *string
			name, news string
		}{
			{in.Title, &i.Title, "title", news.IncidentTitle}, {in.Description, &i.Description, "description", news.IncidentDesc}, {in.Impact, &i.Impact, "impact", news.IncidentImpact},
			{in.RootCause, &i.RootCause, "root_cause", news.IncidentRootCause}, {in.Resolution, &i.Resolution, "resolution", news.IncidentSolution},
			{in.IncidentSeverity, &i.Severity, "incident_severity", news.IncidentSeverity},
		} {
			if change.to == nil || *change.to == *change.member {
				continue
			}
			from := *change.member
			*change.member = *change.to
			i.override(change.name)
			told = append(told, func() error { return d.tell(i, change.news, map[string]any{"from": from, "to": *change.to}) })
		}
		if err := d.save(i); err != nil {
			return err
		}
		for _, tell := range told {
			if err := tell(); err != nil {
				return err
			}
		}
		return nil
	})
}

// override notes down that a person set a member.
func (r *Incident) override(name string) {
	for _, have := range r.ManualOverrides {
		if have == name {
			return
		}
	}
	r.ManualOverrides = append(r.ManualOverrides, name)
}

type fieldRequest struct {
	OneRequest
	FieldName  string         `json:"field_name" minLength:"1" maxLength:"40" doc:"The custom field."`
	FieldValue jsontext.Value `json:"field_value" doc:"Its new value, of the field's type; null: none."`
}

func (r *Room) resetField(c *api.Call, in fieldRequest) (api.Empty, error) {
	all, err := field.Kind.All(c.Tx, c.Who.AccountID)
	if err != nil {
		return api.Empty{}, err
	}
	for _, f := range all {
		if f.FieldName != in.FieldName {
			continue
		}
		if err := f.Admits(in.FieldValue); err != nil {
			return api.Empty{}, err
		}
		return r.each(c, []string{in.IncidentID}, func(d Desk, i *Incident) error {
			from := i.Fields[in.FieldName]
			if i.Fields == nil {
				i.Fields = map[string]jsontext.Value{}
			}
			i.Fields[in.FieldName] = in.FieldValue
			if in.FieldValue.Kind() == 'n' {
				delete(i.Fields, in.FieldName)
			}
			if err := d.save(i); err != nil {
				return err
			}
			return d.tell(i, news.IncidentField, map[string]any{"field_name": in.FieldName, "from": plain(from), "to": plain(in.FieldValue)})
		})
	}
	return api.Empty{}, fault.Invalid("field_name", "names a custom field that does not exist, %.60q", in.FieldName)
}

func plain(v jsontext.Value) (value any) {
	if len(v) > 0 {
		_ = json.Unmarshal(v, &value) // it was read as JSON before
	}
	return value
}

type mergeRequest struct {
	SourceIncidentIDs     []string `json:"source_incident_ids" minItems:"1" maxItems:"100" doc:"Incidents that become part of another."`
	TargetIncidentID      string   `json:"target_incident_id" pattern:"^[0-9a-fA-F]{24}$" patternDescription:"24 hexadecimal digits" doc:"That other."`
	Title                 string   `json:"title,omitzero" maxLength:"512" doc:"A new title for it."`
	Comment               string   `json:"comment,omitzero" maxLength:"1024" doc:"Why, for the feed."`
	OwnerID               int64    `json:"owner_id,omitzero" minimum:"0" doc:"Who leads from now on."`
	RemoveSourceIncidents bool     `json:"remove_source_incidents,omitzero" doc:"The sources are removed; else they are closed."`
}

func (r *Room) merge(c *api.Call, in mergeRequest) (api.Empty, error) {
	target, err := permit(c.Tx, c.Who, in.TargetIncidentID)
	if err != nil {
		return api.Empty{}, err
	}
	if in.OwnerID != 0 {
		if err := object.Need(c.Tx, c.Who.AccountID, "owner_id", reference.To(reference.Person, in.OwnerID)); err != nil {
			return api.Empty{}, err
		}
	}
	d := r.desk(c)
	var merged []string
	for _, id := range (Some{in.SourceIncidentIDs}).ids() {
		if id == target.IncidentID {
			continue
		}
		source, err := permit(c.Tx, c.Who, id)
		if err != nil {
			return api.Empty{}, err
		}
		if err := d.MergeInto(&source, &target, in.RemoveSourceIncidents); err != nil {
			return api.Empty{}, err
		}
		c.Touched("incident", source.IncidentID, source.Title)
		merged = append(merged, id)
	}
	if len(merged) == 0 {
		return api.Empty{}, fault.Invalid("source_incident_ids", "must name an incident beside target_incident_id")
	}
	if in.Title != "" {
		target.Title = in.Title
		target.override("title")
	}
	if in.OwnerID != 0 {
		target.OwnerID = in.OwnerID
	}
	if err := d.save(&target); err != nil {
		return api.Empty{}, err
	}
	c.Touched("incident", target.IncidentID, target.Title)
	return api.Empty{}, d.tell(&target, news.IncidentMerge, map[string]any{"source_incident_ids": merged, "target_incident_id": target.IncidentID, "comment": in.Comment})
}

// MergeInto makes the alerts of one open incident those of another and closes the first.
func (d Desk) MergeInto(source, target *Incident, remove bool) error {
	if _, err := d.move(target, Join); err != nil {
		return err
	}
	if _, err := d.move(source, Merge); err != nil {
		return err
	}
	moved, err := d.Tx.Exec(`UPDATE alert SET incident_id = $3 WHERE account_id = $1 AND incident_id = $2`, d.Account, source.IncidentID, target.IncidentID)
	if err != nil {
		return err
	}
	target.AlertCnt += moved
	target.LastTime, target.EverMuted = d.Now.Unix(), target.EverMuted || source.EverMuted
	target.raise(source.Severity)
	source.endSnooze(d.Now.Unix())
	source.CloseTime, source.CloserID, source.ResolveAt, source.MergedInto, source.AlertCnt = d.Now.Unix(), d.Person, 0, target.IncidentID, 0
	if err := d.save(source); err != nil {
		return err
	}
	if err := d.tell(source, news.IncidentMerge, map[string]any{"source_incident_ids": []string{source.IncidentID}, "target_incident_id": target.IncidentID}); err != nil || !remove {
		return err
	}
	return d.Remove(source)
}
