package escalation

import (
	"cmp"
	"embed"
	"strings"
	"time"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/channel"
	"tocsin/internal/core/escalationplan"
	"tocsin/internal/core/sentence"
	"tocsin/internal/incident"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

//go:embed testdata/golden/*.json
var golden embed.FS

// Ops returns the operations of the package.
func (r *Service) Ops() []api.Op {
	return api.WithReplies(golden, []api.Op{{
		Path: "/incident/escalation/preview", Allow: []auth.Permission{auth.IncidentsRead}, Effect: api.Snapshot,
		Errors:  api.Missing("channel"),
		Doc:     "Shows, step by step, who would be notified of an incident from a given moment on, and why.",
		Notes:   "Of an incident, or of one that a channel might have; by the channel's rules, or by one that is not stored. Nothing is sent.",
		Example: `{"channel_id": 1001, "incident_severity": "Critical", "labels": {"service": "checkout"}}`, Do: api.Do(r.preview),
	}})
}

// PreviewRequest names an incident, or describes one.
type PreviewRequest struct {
	IncidentID       string            `json:"incident_id,omitzero" maxLength:"255" doc:"The incident; or set channel_id and describe one."`
	ChannelID        int64             `json:"channel_id,omitzero" minimum:"0" doc:"The channel of an incident that does not exist yet."`
	IncidentSeverity string            `json:"incident_severity,omitzero" enum:"Critical,Warning,Info" doc:"Its severity; absent: Critical."`
	Title            string            `json:"title,omitzero" maxLength:"512" doc:"Its title."`
	Labels           map[string]string `json:"labels,omitzero" maxProperties:"50" maxLength:"2048" doc:"Its labels."`
	At               int64             `json:"at,omitzero" minimum:"0" maximum:"9999999999" doc:"When it would begin, Unix seconds; absent: now."`

	Rule *channel.EscalateBody `json:"rule,omitzero" doc:"A rule that is not stored, as /channel/escalate/rule/create takes it: it is tried instead of the channel's rules. It needs the permission to manage channels."`
}

// Check holds the request against its bounds.
func (in PreviewRequest) Check() error {
	if in.IncidentID == "" && in.ChannelID == 0 {
		return fault.Invalid("channel_id", "is required, or incident_id")
	}
	return nil
}

// Preview is the reply.
type Preview struct {
	At    int64          `json:"at" doc:"When it begins, Unix seconds."`
	Rules []RuleResult   `json:"rules" doc:"Every rule that was tried, in order; the first that matches escalates."`
	Steps []Step         `json:"steps" doc:"What happens as long as no person acknowledges."`
	Ends  sentence.Words `json:"ends" doc:"What happens when no person has acknowledged after the last step, in words."`
}

// Step is one notification of a layer.
type Step struct {
	At       int64            `json:"at" doc:"When, Unix seconds."`
	Minute   float64          `json:"minute" doc:"Minutes after the beginning."`
	LayerIdx int              `json:"layer_idx" doc:"The layer."`
	Repeat   int              `json:"repeat" doc:"How often the layer was notified before."`
	Persons  []Recipient      `json:"persons" doc:"Who is notified, and why."`
	Count    int              `json:"count" doc:"How many people this wakes."`
	Emails   []string         `json:"emails" doc:"Further addresses."`
	Chats    []string         `json:"chats" doc:"Types of the chats that are notified."`
	Nobody   []sentence.Words `json:"nobody" doc:"Which parts of the layer have no person who can be reached, in words."`
	Then     string           `json:"then" doc:"What happens when no person can be notified: skip, wait or fallback; empty when a person can."`
	Problems []sentence.Words `json:"problems" doc:"Which of the persons cannot be reached, and why."`
}

// Recipient is a person whom a step notifies.
type Recipient struct {
	PersonID int64          `json:"person_id" doc:"The person."`
	Why      sentence.Words `json:"why" doc:"How the rule leads to this person, in words."`
}

func (r *Service) preview(c *api.Call, in PreviewRequest) (reply Preview, err error) {
	i, err := in.incident(c)
	if err != nil {
		return reply, err
	}
	at := cmp.Or(in.At, c.Unix())
	if in.Rule == nil {
		return r.PreviewOf(c.Tx, &i, at)
	}
	if in.Rule.ChannelID != i.ChannelID {
		return reply, fault.Invalid("rule.channel_id", "must be the channel of the incident, %d, got %d", i.ChannelID, in.Rule.ChannelID)
	}
	draft, err := in.Rule.Draft(c, "rule")
	if err != nil {
		return reply, err
	}
	from, err := choicesOf(c.Tx, i.AccountID, []channel.EscalateRule{draft})
	if err != nil {
		return reply, err
	}
	return r.previewUntil(c.Tx, from, &i, at, toTheEnd)
}

// toTheEnd is the last step of a preview of all steps.
func toTheEnd(Step) bool { return false }

// PreviewOf returns who would be notified of an incident from a moment (Unix seconds) on. It matches filters, so it must
// not be called in a write transaction.
func (r *Service) PreviewOf(tx *db.Tx, i *incident.Incident, at int64) (Preview, error) {
	from, err := readChoices(tx, i)
	if err != nil {
		return Preview{}, err
	}
	return r.previewUntil(tx, from, i, at, toTheEnd)
}

// First returns the first step in which a person would be notified of an incident that begins at a moment (Unix seconds) and ends
// at another; found is false when it ends before. It must not be called in a write transaction either.
func (r *Service) First(tx *db.Tx, i *incident.Incident, begin, end int64) (step Step, found bool, err error) {
	from, err := readChoices(tx, i)
	if err != nil {
		return step, false, err
	}
	_, err = r.previewUntil(tx, from, i, begin, func(s Step) bool {
		found = s.At < end && s.Count > 0
		step = s
		return found || s.At >= end
	})
	return step, found, err
}

// previewUntil previews an escalation by one of some rules, up to the step of which last reports true.
func (r *Service) previewUntil(tx *db.Tx, from choices, i *incident.Incident, at int64, last func(Step) bool) (Preview, error) {
	reply := Preview{At: at, Steps: []Step{}}
	rule, results, found := from.explain(i, time.Unix(at, 0))
	reply.Rules = results
	if results == nil {
		reply.Rules = []RuleResult{}
	}
	if !found {
		reply.Ends = sentence.Words(sentence.New("ends_no_rule"))
		return reply, nil
	}
	ends := sentence.New("ends_fallback")
	if repeat := rule.Timing().Repeat; repeat.Times < 0 {
		ends = sentence.Join(ends, sentence.New("ends_every", repeat.Every/60))
	} else if repeat.Times > 0 {
		ends = sentence.Join(ends, sentence.New("ends_times", repeat.Every/60, repeat.Times))
	}
	reply.Ends = sentence.Words(ends)
	return reply, r.steps(tx, &reply, i, rule, last)
}

// incident returns the stored incident of a request, or the one that it describes. The caller must be allowed to see its
// channel.
func (in PreviewRequest) incident(c *api.Call) (i incident.Incident, err error) {
	if in.IncidentID != "" {
		i, err = (incident.Writer{Tx: c.Tx, Account: c.Who.AccountID}).Get(strings.ToLower(in.IncidentID))
		if err != nil {
			return i, err
		}
	} else {
		i = incident.Incident{
			AccountID: c.Who.AccountID,
			ChannelID: in.ChannelID,
			Title:     in.Title,
			Severity:  in.IncidentSeverity,
			Progress:  incident.Triggered,
			Detail:    incident.Detail{Labels: in.Labels},
		}
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

// maxPreview is the most steps of a preview.
const maxPreview = 1000

// steps adds the steps of a plan to a preview as the escalation itself would take them, with no person acknowledging.
func (r *Service) steps(tx *db.Tx, reply *Preview, i *incident.Incident, rule channel.EscalateRule, last func(Step) bool) error {
	zone, err := person.Zone(tx, i.AccountID)
	if err != nil {
		return err
	}
	e := run{rule: rule, timing: timing{Rule: rule.Timing()}}
	now := reply.At
	for len(reply.Steps) < maxPreview {
		a := escalationplan.Next(e.timing.Rule, reply.At, e.done, e.state(&incident.Incident{}), now)
		if len(a.Due) == 0 {
			now = a.Next
			if now == 0 {
				return nil
			}
			continue
		}
		step, err := r.previewStep(tx, i, &e, a.Due[0].Step, zone)
		if err != nil {
			return err
		}
		step.Minute = float64(step.At-reply.At) / 60
		reply.Steps = append(reply.Steps, step)
		if last(step) {
			return nil
		}
	}
	return nil
}

// previewStep returns what one step does, and moves the escalation behind it.
func (r *Service) previewStep(tx *db.Tx, i *incident.Incident, e *run, at escalationplan.Step, zone *time.Location) (step Step, err error) {
	l := e.rule.Layers[at.Layer]
	step = Step{At: at.At, LayerIdx: at.Layer, Repeat: at.Repeat, Emails: l.Target.Emails, Chats: []string{}, Problems: []sentence.Words{}}
	for _, hook := range l.Target.Webhooks {
		step.Chats = append(step.Chats, hook.Type)
	}
	to, err := r.recipients(tx, i, e.rule.Layers[at.Layer:], nil, at.At, zone)
	if err != nil {
		return step, err
	}
	for _, p := range to.persons {
		step.Persons = append(step.Persons, Recipient{p.PersonID, sentence.Words(p.Why)})
	}
	step.Nobody, _ = sentence.Shown(to.problems)
	e.done++
	if to.none {
		step.withoutPerson(e, l, at, to.next)
	}
	if err := r.problems(tx, i, l.Target.By, &step); err != nil {
		return step, err
	}
	step.fillEmpty()
	return step, nil
}

// withoutPerson does in a preview what a layer does when none of its persons can be notified: skip, wait for the next
// shift, or fall back.
func (s *Step) withoutPerson(e *run, l channel.Layer, at escalationplan.Step, next int64) {
	s.Then = channel.Skip
	if l.OnNobody != nil {
		s.Then = l.OnNobody.Then
	}
	switch {
	case s.Then == channel.Fallback:
		s.Persons = append(s.Persons, Recipient{l.OnNobody.PersonID, sentence.Words(sentence.New("fallback_of_layer"))})
	case s.Then == channel.Wait && next > 0 && next <= at.At+maxWait:
		e.done--
		e.timing.Still = append(e.timing.Still, escalationplan.Span{From: at.At, Until: next})
	default:
		s.Then = channel.Skip
		if len(l.Target.Emails) == 0 {
			e.done = e.timing.Skip(at)
		}
	}
}

// fillEmpty replaces lists that are nil by empty ones, so that the reply never holds null, and counts the persons.
func (s *Step) fillEmpty() {
	if s.Persons == nil {
		s.Persons = []Recipient{}
	}
	if s.Emails == nil {
		s.Emails = []string{}
	}
	if s.Nobody == nil {
		s.Nobody = []sentence.Words{}
	}
	s.Count = len(s.Persons)
}

// problems adds the persons of a step who cannot be reached, and why.
func (r *Service) problems(tx *db.Tx, i *incident.Incident, by *channel.By, step *Step) error {
	for _, someone := range step.Persons {
		problem, err := r.problem(tx, i, by, someone.PersonID, step.At)
		if err != nil {
			return err
		}
		if problem != "" {
			step.Problems = append(step.Problems, sentence.Words(problem))
		}
	}
	return nil
}
