package ingest

import (
	"cmp"
	"embed"
	"strconv"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/core/event"
	"tocsin/internal/engine/triage"
	"tocsin/internal/integration"
	"tocsin/internal/platform/fault"
)

//go:embed testdata/golden/*.json
var golden embed.FS

// Ops returns the operations of the package.
func (r *Service) Ops() []api.Op {
	return api.WithReplies(golden, []api.Op{{
		Path: "/integration/test", Allow: []auth.Permission{auth.IntegrationsManage}, Effect: api.Write, Audit: "integration:write:test",
		Doc: "Sends a test event through a source, as if its monitoring system had pushed it.",
		Notes: "It goes the way of every other event and may notify people: by default its severity is Info. All test events of an" +
			" integration are one alert; one with status Ok ends it. See /alert/explain for what became of it.",
		Example: `{"integration_id": 3846027460131, "event_status": "Info", "labels": {"service": "checkout"}}`, Do: api.Do(r.test),
	}})
}

// TestRequest asks to send a test event through a source.
type TestRequest struct {
	IntegrationID int64             `json:"integration_id" minimum:"1" doc:"The source."`
	EventStatus   string            `json:"event_status,omitzero" enum:"Critical,Warning,Info,Ok" doc:"Its severity, or Ok to end the alert; absent: Info."`
	Labels        map[string]string `json:"labels,omitzero" maxProperties:"49" maxLength:"2048" doc:"Labels besides test, which is true."`
}

// Tested is the reply.
type Tested struct {
	EventID  string `json:"event_id" doc:"The event, 24 hexadecimal digits."`
	AlertKey string `json:"alert_key" doc:"The key of its alert."`
}

// test stores a test event of a source, which then waits for its verdict like every other.
func (r *Service) test(c *api.Call, in TestRequest) (Tested, error) {
	i, err := integration.Kind.Get(c.Tx, c.Who.AccountID, strconv.FormatInt(in.IntegrationID, 10))
	if err != nil {
		return Tested{}, err
	}
	if err := integration.Permit(c, in.IntegrationID); err != nil {
		return Tested{}, err
	}
	if parsers[i.IntegrationType] == nil {
		return Tested{}, fault.Invalid("integration_id", "must be a source of alerts, got %s", i.IntegrationType)
	}
	if i.Status != "enabled" {
		return Tested{}, fault.Invalid("integration_id", "must be enabled, got %s", i.Status)
	}
	events := []event.Event{testEvent(i, in, c.Unix())}
	bodies, err := r.bodies(i.IntegrationID, events, c.Now)
	if err != nil {
		return Tested{}, err
	}
	c.Touched(integration.Kind.Name, strconv.FormatInt(i.IntegrationID, 10), i.IntegrationName)
	c.Tx.OnCommit(r.Decide.Raise)
	return Tested{events[0].ID, events[0].AlertKey}, triage.Accept(c.Tx, c.Who.AccountID, events, bodies)
}

// testEvent returns the test event of a request.
func testEvent(i integration.Integration, in TestRequest, at int64) event.Event {
	title := event.Cut("Test of "+i.IntegrationName, event.MaxTitle)
	status := cmp.Or(in.EventStatus, event.Info)
	e := event.Event{
		AlertKey:    "test:" + strconv.FormatInt(i.IntegrationID, 10),
		TitleRule:   title,
		Title:       title,
		Description: "A person sent this test event. Nothing is wrong.",
		Status:      status,
		Severity:    status,
		Labels:      map[string]string{"test": "true"},
		Time:        at,
	}
	for name, value := range in.Labels {
		if name != "test" {
			e.Labels[event.Cut(name, event.MaxLabelKey)] = value
		}
	}
	return e
}
