package webhook

import (
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"tocsin/internal/activity"
	"tocsin/internal/alert"
	"tocsin/internal/incident"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
)

// payload is the standard body of a webhook.
type payload struct {
	EventTime int64          `json:"event_time"` // Unix milliseconds
	EventType string         `json:"event_type"`
	EventID   string         `json:"event_id"`
	Test      bool           `json:"test,omitzero"` // nothing happened: a person tests the webhook
	Person    *actor         `json:"person,omitzero"`
	Alert     *alertBody     `json:"alert,omitzero"`
	Incident  *incident.View `json:"incident,omitzero"`
}

// actor is the person who caused the event.
type actor struct {
	PersonID   int64  `json:"person_id"`
	PersonName string `json:"person_name"`
	Email      string `json:"email"`
}

// alertBody is the alert after the event. Times are Unix seconds.
type alertBody struct {
	AlertID         string            `json:"alert_id"`
	ChannelID       int64             `json:"channel_id"`
	ChannelName     string            `json:"channel_name"`
	IntegrationID   int64             `json:"integration_id"`
	IntegrationName string            `json:"integration_name"`
	IntegrationType string            `json:"integration_type"`
	Title           string            `json:"title"`
	TitleRule       string            `json:"title_rule"`
	Description     string            `json:"description"`
	AlertKey        string            `json:"alert_key"`
	AlertSeverity   string            `json:"alert_severity"`
	AlertStatus     string            `json:"alert_status"`
	Progress        string            `json:"progress"` // Triggered or Closed
	StartTime       int64             `json:"start_time"`
	LastTime        int64             `json:"last_time"`
	EndTime         int64             `json:"end_time"`
	CloseTime       int64             `json:"close_time"`
	EventCnt        int64             `json:"event_cnt"`
	EverMuted       bool              `json:"ever_muted"`
	Labels          map[string]string `json:"labels"`
	Images          []alert.Image     `json:"images"`
	Incident        *incidentBrief    `json:"incident,omitzero"`
}

type incidentBrief struct {
	IncidentID string `json:"incident_id"`
	Title      string `json:"title"`
}

// payloads builds the bodies of domain events of an account; nil for one whose alert or incident was deleted. What it must
// read it reads for all of them. base is the server's public address, as in incident.PageURL.
func payloads(tx *db.Tx, base string, account int64, items []activity.Item) ([]*payload, error) {
	var ofAlerts, ofIncidents []activity.Item
	for _, item := range items {
		if item.OfIncident() {
			ofIncidents = append(ofIncidents, item)
		} else {
			ofAlerts = append(ofAlerts, item)
		}
	}
	alerts, err := alert.ShowAll(tx, account, ofAlerts)
	if err != nil {
		return nil, err
	}
	incidents, err := incident.ShowAll(tx, base, account, ofIncidents)
	if err != nil {
		return nil, err
	}
	all := make([]*payload, len(items))
	for i, item := range items {
		p := &payload{EventTime: item.At.UnixMilli(), EventType: item.Event.Type()}
		if item.OfIncident() {
			p.Incident, incidents = incidents[0], incidents[1:]
		} else {
			p.Alert, alerts = bodyOf(alerts[0]), alerts[1:]
		}
		if p.Incident == nil && p.Alert == nil {
			continue
		}
		p.Person, err = actorOf(tx, item)
		if err != nil {
			return nil, err
		}
		all[i] = p
	}
	return all, nil
}

// actorOf returns the person who caused an event; nil: Tocsin itself.
func actorOf(tx *db.Tx, item activity.Item) (*actor, error) {
	if item.Person == 0 {
		return nil, nil
	}
	found, _, err := person.Find(tx, item.Account, item.Person)
	return &actor{item.Person, found.PersonName, found.Email}, err
}

// bodyOf returns an alert as payloads hold it; nil for none.
func bodyOf(a *alert.Alert) *alertBody {
	if a == nil {
		return nil
	}
	b := &alertBody{
		AlertID: a.AlertID, ChannelID: a.ChannelID, ChannelName: a.ChannelName,
		IntegrationID: a.IntegrationID, IntegrationName: a.IntegrationName, IntegrationType: a.IntegrationType,
		Title: a.Title, TitleRule: a.TitleRule, Description: a.Description, AlertKey: a.AlertKey,
		AlertSeverity: a.AlertSeverity, AlertStatus: a.AlertStatus, Progress: "Triggered",
		StartTime: a.StartTime, LastTime: a.LastTime, EndTime: a.EndTime, CloseTime: a.EndTime,
		EventCnt: a.EventCnt, EverMuted: a.EverMuted, Labels: a.Labels, Images: a.Images,
	}
	if a.EndTime != 0 {
		b.Progress = "Closed"
	}
	if a.Incident != nil {
		b.Incident = &incidentBrief{a.Incident.IncidentID, a.Incident.Title}
		if b.Incident.Title == "" { // the incident is being opened with this alert and has no title yet
			b.Incident.Title = a.Title
		}
	}
	return b
}

// maxFilled is the longest custom body, in bytes. If a template results in more, the standard body is sent.
const maxFilled = 1 << 20

// text returns the payload as it is stored, before it has an event id.
func (p *payload) text() (string, error) {
	p.EventID = ""
	standard, err := json.Marshal(p, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
	return string(standard), err
}

// withID sets the event id of a stored payload. The first event_id is the payload's own: it comes before all members with text
// from outside.
func withID(stored, eventID string) string {
	return strings.Replace(stored, `"event_id":""`, `"event_id":"`+eventID+`"`, 1)
}

// fillIn sets the event id of a stored payload, and fills it into a custom body unless that is empty. cost is how many
// bytes were written, also for a body that became too long.
func fillIn(stored, eventID, own string) (body string, cost int) {
	standard := withID(stored, eventID)
	if own == "" {
		return standard, len(standard)
	}
	if filled, ok := fill(own, []byte(standard), maxFilled); ok {
		return string(filled), len(standard) + len(filled)
	}
	return standard, maxFilled
}
