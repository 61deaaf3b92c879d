package incident

import (
	"cmp"
	"slices"
	"strings"

	"tocsin/internal/activity"
	"tocsin/internal/alert"
	"tocsin/internal/api"
	"tocsin/internal/channel"
	"tocsin/internal/core/decide"
	"tocsin/internal/core/event"
	"tocsin/internal/platform/fault"
)

// SilenceRequest is the request of a responder to silence alerts.
type SilenceRequest struct {
	Minutes  int64    `json:"minutes" minimum:"1" maximum:"1440" doc:"For how many minutes, at most a day."`
	By       string   `json:"by,omitzero" enum:"key,labels" doc:"What later events must have to be silenced: the same alert_key, or the same values of labels; absent: key."`
	Labels   []string `json:"labels,omitzero" maxItems:"50" maxLength:"128" doc:"With by labels: the names of identifying labels, at least one; absent: the usual ones (alertname or rule_name, service, cluster and namespace)."`
	RuleName string   `json:"rule_name,omitzero" maxLength:"39" doc:"The name of the silence rule; absent: the title."`
}

// Check rejects labels that would not count.
func (in SilenceRequest) Check() error {
	if in.Labels != nil && in.By != byLabels {
		return fault.Invalid("labels", "must be absent unless by is labels, got %d", len(in.Labels))
	}
	return nil
}

// SilenceIncidentRequest is a silence of an incident's alerts.
type SilenceIncidentRequest struct {
	OneRequest
	SilenceRequest
}

// SilenceMade is the reply about a new silence.
type SilenceMade struct {
	RuleID    string `json:"rule_id" doc:"The silence rule, for /alert/silence/undo."`
	RuleName  string `json:"rule_name" doc:"Its name."`
	ChannelID int64  `json:"channel_id" doc:"Its channel."`
	Until     int64  `json:"until" doc:"When it ends, Unix seconds."`
	Severity  string `json:"severity" enum:"Critical,Warning,Info" doc:"Up to which severity it holds; what gets worse is not silenced."`
}

// silenceable is an alert or an incident that can be silenced.
type silenceable struct {
	alertID    string // the alert; empty for an incident
	incidentID string // the incident, or the alert's incident, which may be none
	title      string
	channel    int64
	alerts     []decide.Alert
}

// incidentToSilence reads the open alerts of an incident. Alerts of channels that the caller may not read are left out.
func incidentToSilence(c *api.Call, incidentID string) (s silenceable, err error) {
	i, err := Permit(c.Tx, c.Who, incidentID)
	if err != nil {
		return s, err
	}
	all, err := alert.OfIncident(c.Tx, c.Who.AccountID, i.IncidentID, 2*decide.MaxAlerts, 0)
	if err != nil {
		return s, err
	}
	hidden, err := channel.Hidden(c.Tx, c.Who)
	if err != nil {
		return s, err
	}
	lead, err := i.Lead(c.Tx)
	if err != nil {
		return s, err
	}
	headline, _ := i.Headline(lead)
	s = silenceable{incidentID: i.IncidentID, title: cmp.Or(headline, i.DedupKey), channel: i.ChannelID, alerts: activeOf(all, hidden)}
	if len(s.alerts) == 0 {
		return s, fault.New(fault.Conflict, "incident %s cannot be silenced: none of its alerts is open", i.IncidentID)
	}
	return s, needChannel(c, i.ChannelID, "incident "+i.IncidentID)
}

// activeOf returns the alerts that are active and in no hidden channel.
func activeOf(all []decide.Alert, hidden []int64) []decide.Alert {
	return slices.DeleteFunc(all, func(a decide.Alert) bool { return !a.Active() || slices.Contains(hidden, a.Channel) })
}

// needChannel returns fault.Conflict when there is no channel in which a silence could hold.
func needChannel(c *api.Call, id int64, subject string) error {
	_, found, err := channel.Find(c.Tx, c.Who.AccountID, id)
	if err == nil && !found {
		err = fault.New(fault.Conflict, "%s cannot be silenced: its channel was deleted", subject)
	}
	return err
}

func (r *Service) silenceIncident(c *api.Call, in SilenceIncidentRequest) (SilenceMade, error) {
	s, err := incidentToSilence(c, in.IncidentID)
	if err != nil {
		return SilenceMade{}, err
	}
	c.Touched("incident", s.incidentID, s.title)
	return r.silence(c, s, in.SilenceRequest)
}

// silence stores a silence rule of the channel, and publishes it.
func (r *Service) silence(c *api.Call, s silenceable, in SilenceRequest) (made SilenceMade, err error) {
	scope := scopeOf(s.alerts)
	filters, labels, err := scope.choose(in.By, in.Labels)
	if err != nil {
		return made, err
	}
	until := c.Unix() + 60*in.Minutes
	rule := channel.SilenceRule{
		Rule:           channel.Rule{ChannelID: s.channel, RuleName: cmp.Or(in.RuleName, ruleName(s.title))},
		Filters:        filters,
		FromAlertID:    s.alertID,
		FromIncidentID: s.incidentID,
		TimeFilter:     &channel.OnceTimeFilter{StartTime: c.Unix(), EndTime: until},
		IsAutoDelete:   true,
	}
	if err := channel.AddSilence(c, &rule); err != nil {
		return made, err
	}
	e := activity.Silenced{RuleID: rule.RuleID, Title: s.title, Minutes: in.Minutes, Until: until, Severity: scope.severity, Labels: labels}
	made = SilenceMade{rule.RuleID, rule.RuleName, s.channel, until, scope.severity}
	return made, r.publishSilence(c, &rule, func(ofAlert bool) activity.Event {
		e.Kind = activity.IncidentSilence
		if ofAlert {
			e.Kind = activity.AlertSilence
		}
		return e
	})
}

// ruleName returns a name for the silence rule of something with a title.
func ruleName(title string) string {
	return event.Cut(strings.Join(strings.Fields(title), " "), maxRuleName)
}

// maxRuleName is the bound of the names of rules, in characters.
const maxRuleName = 39

// publishSilence publishes an event about a silence to the feeds of the alert and the incident behind the silence. Alerts
// and incidents that do not exist any more are left out.
func (r *Service) publishSilence(c *api.Call, rule *channel.SilenceRule, of func(ofAlert bool) activity.Event) error {
	var items []activity.Item
	add := func(subject string, e activity.Event) {
		items = append(items, activity.Item{
			Account: c.Who.AccountID, ID: subject, Channel: rule.ChannelID, At: c.Now, Person: c.Who.PersonID, Event: e,
		})
	}
	_, found, err := alert.FindRow(c.Tx, c.Who.AccountID, rule.FromAlertID)
	if err != nil {
		return err
	}
	if found {
		add(rule.FromAlertID, of(true))
	}
	_, found, err = Find(c.Tx, c.Who.AccountID, rule.FromIncidentID)
	if err != nil {
		return err
	}
	if found {
		add(rule.FromIncidentID, of(false))
	}
	return r.Bus.Publish(c.Tx, items...)
}
