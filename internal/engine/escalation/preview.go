package escalation

import (
	"embed"
	"strings"
	"time"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/channel"
	"tocsin/internal/core/escalationplan"
	"tocsin/internal/incident"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

//go:embed testdata/golden/*.json
var golden embed.FS

// Ops is the room's table of contents.
func (r *Service) Ops() []api.Op {
	return api.WithReplies(golden, []api.Op{{
		Path: "/incident/escalation/preview", Allow: []auth.Permission{auth.IncidentsRead}, Effect: api.Snapshot,
		Doc:     "Shows, step by step, who would be told of an incident from a given moment on, and why.",
		Notes:   "Of an incident there is, or of one that a channel might have. Nobody is told anything.",
		Example: `{"channel_id": 1001, "incident_severity": "Critical", "labels": {"service": "checkout"}}`, Do: api.Do(r.preview),
	}})
}

type previewRequest struct {
	IncidentID       string            `json:"incident_id,omitzero" maxLength:"255" doc:"The incident; or channel_id with what it would be like."`
	ChannelID        int64             `json:"channel_id,omitzero" minimum:"0" doc:"The channel of an incident that might be."`
	IncidentSeverity string            `json:"incident_severity,omitzero" enum:"Critical,Warning,Info" doc:"Its severity; absent: Critical."`
	Title            string            `json:"title,omitzero" maxLength:"512" doc:"Its title."`
	Labels           map[string]string `json:"labels,omitzero" maxProperties:"50" maxLength:"2048" doc:"Its labels."`
	At               int64             `json:"at,omitzero" minimum:"0" maximum:"9999999999" doc:"When it would begin, Unix seconds; absent: now."`
}

func (in previewRequest) Check() error {
	if in.IncidentID == "" && in.ChannelID == 0 {
		return fault.Invalid("channel_id", "is required, or incident_id")
	}
	return nil
}

// Preview is the reply.
type Preview struct {
	At    int64  `json:"at" doc:"When it begins, Unix seconds."`
	Rules []Look `json:"rules" doc:"Every rule that is looked at, in order; the first that matches escalates."`
	Steps []Step `json:"steps" doc:"What is done as long as nobody acknowledges."`
	Ends  string `json:"ends" doc:"What happens when nobody has acknowledged by then, in words."`
}

// Step is one time at which a layer is told.
type Step struct {
	At       int64     `json:"at" doc:"When, Unix seconds."`
	Minute   float64   `json:"minute" doc:"Minutes after the beginning."`
	LayerIdx int       `json:"layer_idx" doc:"The layer."`
	Repeat   int       `json:"repeat" doc:"How often it was told before."`
	Persons  []Someone `json:"persons" doc:"Who is told, and why."`
	Count    int       `json:"count" doc:"How many people this wakes."`
	Emails   []string  `json:"emails" doc:"Further addresses."`
	Chats    []string  `json:"chats" doc:"Kinds of chats that are told."`
	Nobody   []string  `json:"nobody" doc:"What of the layer has nobody, in words."`
	Then     string    `json:"then" doc:"What happens when nobody can be told: skip, wait or fallback; empty when somebody is."`
	Problems []string  `json:"problems" doc:"Who of them cannot be reached, and why."`
}

func (r *Service) preview(c *api.Call, in previewRequest) (reply Preview, err error) {
	i, err := in.incident(c)
	if err != nil {
		return reply, err
	}
	reply = Preview{At: in.At, Steps: []Step{}}
	if reply.At == 0 {
		reply.At = c.Unix()
	}
	rule, looks, found, err := Choose(c.Tx, &i, time.Unix(reply.At, 0))
	if err != nil {
		return reply, err
	}
	if reply.Rules = looks; looks == nil {
		reply.Rules = []Look{}
	}
	if !found {
		reply.Ends = "no escalation rule matches, so nobody is told"
		return reply, nil
	}
	reply.Ends = "the account's owner is told when not one person was"
	return reply, r.steps(c.Tx, &reply, &i, rule)
}

func (in previewRequest) incident(c *api.Call) (i incident.Incident, err error) {
	if in.IncidentID != "" {
		if i, err = (incident.Writer{Tx: c.Tx, Account: c.Who.AccountID}).Get(strings.ToLower(in.IncidentID)); err != nil {
			return i, err
		}
	} else {
		i = incident.Incident{AccountID: c.Who.AccountID, ChannelID: in.ChannelID, Title: in.Title, Severity: in.IncidentSeverity, Progress: incident.Triggered, Detail: incident.Detail{Labels: in.Labels}}
		if i.Severity == "" {
			i.Severity = "Critical"
		}
	}
	ch, found, err := channel.Find(c.Tx, c.Who.AccountID, i.ChannelID)
	switch {
	case err != nil:
		return i, err
	case found:
		return i, channel.Permit(c.Tx, c.Who, ch)
	case in.IncidentID == "":
		return i, fault.Missing("channel", in.ChannelID)
	}
	return i, nil
}

// steps walks through the plan as the escalation itself would, with nobody acknowledging.
func (r *Service) steps(tx *db.Tx, reply *Preview, i *incident.Incident, rule channel.EscalateRule) error {
	zone, err := person.Zone(tx, i.AccountID)
	if err != nil {
		return err
	}
	e := run{timing: timing{Rule: rule.Timing()}}
	now := reply.At
	for len(reply.Steps) < 1000 {
		a := escalationplan.Next(e.timing.Rule, reply.At, e.done, e.state(&incident.Incident{}), now)
		if len(a.Due) == 0 {
			if now = a.Next; now == 0 {
				return nil
			}
			continue
		}
		at := a.Due[0].Step
		l := rule.Layers[at.Layer]
		step := Step{At: at.At, Minute: float64(at.At-reply.At) / 60, LayerIdx: at.Layer, Repeat: at.Repeat, Emails: l.Target.Emails, Chats: []string{}, Problems: []string{}}
		for _, hook := range l.Target.Webhooks {
			step.Chats = append(step.Chats, hook.Type)
		}
		persons, err := r.whom(tx, i, l, at.At, zone)
		if err != nil {
			return err
		}
		step.Persons, step.Nobody = persons.all, persons.lacks
		e.done++
		if persons.nobody {
			step.Then = channel.Skip
			if l.OnNobody != nil {
				step.Then = l.OnNobody.Then
			}
			switch {
			case step.Then == channel.Fallback:
				step.Persons = append(step.Persons, Someone{l.OnNobody.PersonID, "the fallback of this layer"})
			case step.Then == channel.Wait && persons.next > 0 && persons.next <= at.At+longest:
				e.done--
				e.timing.Still = append(e.timing.Still, escalationplan.Span{From: at.At, Until: persons.next})
			default:
				step.Then = channel.Skip
				if len(l.Target.Emails) == 0 {
					e.done = e.timing.Skip(at)
				}
			}
		}
		if err := r.problems(tx, i, l.Target.By, &step); err != nil {
			return err
		}
		step.settle()
		reply.Steps = append(reply.Steps, step)
	}
	return nil
}

func (s *Step) settle() {
	if s.Persons == nil {
		s.Persons = []Someone{}
	}
	if s.Emails == nil {
		s.Emails = []string{}
	}
	if s.Nobody == nil {
		s.Nobody = []string{}
	}
	s.Count = len(s.Persons)
}

// problems finds out who cannot be reached.
func (r *Service) problems(tx *db.Tx, i *incident.Incident, by *channel.By, step *Step) error {
	for _, someone := range step.Persons {
		problem, err := r.problem(tx, i, by, someone.PersonID, step.At)
		if err != nil {
			return err
		}
		if problem != "" {
			step.Problems = append(step.Problems, problem)
		}
	}
	return nil
}
