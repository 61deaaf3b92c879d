package webhook

import (
	"cmp"
	"context"
	"slices"
	"time"

	"tocsin/internal/activity"
	"tocsin/internal/alert"
	"tocsin/internal/api"
	core "tocsin/internal/core/event"
	"tocsin/internal/core/sentence"
	"tocsin/internal/incident"
	"tocsin/internal/integration"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/id"
)

// TestRequest asks to send a sample event to a webhook.
type TestRequest struct {
	IntegrationID int64  `json:"integration_id" minimum:"1" doc:"The webhook to test."`
	EventType     string `json:"event_type,omitzero" maxLength:"64" doc:"The type of the sample event; absent: the first that the webhook subscribes to."`
	WaitSeconds   *int64 `json:"wait_seconds,omitzero" minimum:"0" maximum:"10" doc:"How long the call waits for the first attempt; absent: 3."`
}

// Tested is what became of a sample event.
type Tested struct {
	MessageID    string         `json:"message_id" doc:"The event_id of the payload, in the header Webhook-Id too."`
	EventID      string         `json:"event_id" doc:"The id of the first attempt in the delivery history."`
	Status       string         `json:"status" enum:"success,failed,waiting" doc:"What became of the first attempt; waiting: it is not recorded yet."`
	StatusCode   int64          `json:"status_code" doc:"HTTP status of the answer; 0 when there was none."`
	Duration     int64          `json:"duration" doc:"How long the attempt took, in milliseconds."`
	ErrorMessage sentence.Words `json:"error_message" doc:"Why it failed; empty when it did not."`
	api.Warnings
}

const defaultWait = 3 // seconds

// sampled is a test message that is stored.
type sampled struct {
	message
	name     string
	warnings []string
}

// testSend is the first part of POST /webhook/test: it stores a sample message and waits for its first attempt. The
// message takes the way of all others: it is in the ledger, signed, retried, and waits for a free slot.
func (r *Service) testSend(c *api.Call, in TestRequest) (s sampled, err error) {
	var recorded <-chan struct{}
	if err := c.Write(func() (err error) {
		s, err = r.sample(c, in)
		if err != nil {
			return err
		}
		recorded = r.await(s.attemptID)
		c.Tx.OnCommit(r.runner.Wake)
		return nil
	}); err != nil {
		return s, err
	}
	defer r.attemptRecorded(&s.message) // no one waits for it any more
	wait := int64(defaultWait)
	if in.WaitSeconds != nil {
		wait = *in.WaitSeconds
	}
	if wait == 0 {
		return s, nil
	}
	timer, tick := time.NewTimer(time.Duration(wait)*time.Second), time.NewTicker(lookEvery)
	defer timer.Stop()
	defer tick.Stop()
	for {
		select {
		case <-recorded:
			return s, nil
		case <-timer.C:
			return s, nil
		case <-c.Ctx.Done():
			return s, nil
		case <-tick.C: // another process may have made the attempt
			if done, err := r.isRecorded(c.Ctx, &s.message); err != nil || done {
				return s, err
			}
		}
	}
}

// lookEvery is how often a call that waits for an attempt looks whether another process has made it.
const lookEvery = 250 * time.Millisecond

// isRecorded reports whether the promised attempt of a message is in the history.
func (r *Service) isRecorded(ctx context.Context, m *message) (found bool, err error) {
	err = r.DB.Read(ctx, func(tx *db.Tx) error {
		_, found, err = db.One(tx, db.Column[int64], `SELECT 1 FROM webhook_delivery WHERE account_id = $1 AND event_id = $2`,
			m.account, m.attemptID)
		return err
	})
	return found, err
}

// sample stores a message about a sample event, due before all others of its endpoint.
func (r *Service) sample(c *api.Call, in TestRequest) (s sampled, err error) {
	if err := integration.Permit(c, in.IntegrationID); err != nil {
		return s, err
	}
	i, err := r.callable(c, in.IntegrationID)
	if err != nil {
		return s, err
	}
	s.name = i.IntegrationName
	s.message = message{
		account: c.Who.AccountID, id: id.Message(c.Now), integration: in.IntegrationID, webhookType: "alert", ref: id.Object(c.Now),
		attemptID: attemptID(c.Now), started: c.Now.UnixMilli(), happened: c.Now.UnixMilli(), origin: test,
	}
	known, own := integration.AlertEvents, ""
	if i.IntegrationType == integration.WebhookIncident {
		s.webhookType = "incident"
		known = integration.IncidentEvents
		own = i.Settings.Body
	}
	s.eventType = cmp.Or(in.EventType, slices.Concat(i.Settings.EventTypes, known)[0])
	if !slices.Contains(known, s.eventType) {
		return s, fault.Invalid("event_type", "must be one of %s for a %s, got %q", fault.Words(known), i.IntegrationType, in.EventType)
	}
	if !(&subscription{events: i.Settings.EventTypes}).matchesType(s.eventType) {
		s.warnings = []string{sentence.Of("not_subscribed", s.eventType)}
	}
	if len(i.Settings.ChannelIDs) > 0 {
		s.channel = i.Settings.ChannelIDs[0]
	}
	body, err := s.sampleBody(c.Tx, r.PublicURL, c.Now)
	if err != nil {
		return s, err
	}
	s.payload, _ = fillIn(body, s.id, own)
	if err := put(c.Tx, s.account, &s.message); err != nil {
		return s, err
	}
	return s, s.sendFirst(c.Tx, c.Now)
}

// sampleBody returns the payload of a sample event. base is the server's public address, as in incident.PageURL. Title and
// description state that it is a test.
func (m *message) sampleBody(tx *db.Tx, base string, now time.Time) (string, error) {
	const title, text = "Test of a webhook", "Nothing happened: a person tests this webhook."
	labels := map[string]string{"test": "true"}
	p := payload{EventTime: now.UnixMilli(), EventType: m.eventType, Test: true}
	if m.webhookType == "alert" {
		p.Alert = bodyOf(&alert.Alert{AlertID: m.ref, ChannelID: m.channel, Title: title, TitleRule: title, Description: text, AlertKey: "test",
			AlertSeverity: core.Info, AlertStatus: core.Info, StartTime: now.Unix(), LastTime: now.Unix(), EventCnt: 1, Labels: labels,
			Images: []alert.Image{}})
		if m.eventType == activity.AlertClose {
			p.Alert.EndTime = now.Unix()
			p.Alert.CloseTime = now.Unix()
			p.Alert.Progress = "Closed"
		}
		return p.text()
	}
	i := incident.Incident{
		AccountID: m.account, IncidentID: m.ref, ChannelID: m.channel, Title: title, Severity: core.Info, Progress: incident.Triggered,
		StartTime: now.Unix(), LastTime: now.Unix(),
		Detail: incident.Detail{Description: text, CreatedAt: now.Unix(), UpdatedAt: now.Unix(), Labels: labels, Test: true},
	}
	if m.eventType == activity.IncidentResolve {
		i.Progress, i.CloseTime = incident.Closed, now.Unix()
	}
	view, err := incident.Show(tx, base, &i)
	if err != nil {
		return "", err
	}
	p.Incident = &view
	return p.text()
}

// testShow is the second part: it returns what became of the first attempt.
func (r *Service) testShow(c *api.Call, s sampled) (Tested, error) {
	t := Tested{MessageID: s.id, EventID: s.attemptID, Status: waiting, Warnings: api.Warn(s.warnings)}
	c.Touched(integration.Kind.Name, s.integration, s.name)
	h, found, err := db.One(c.Tx, func(scan db.Scan) (h Tested, err error) {
		var why sentence.Value
		err = scan(&h.Status, &h.StatusCode, &h.Duration, (*string)(&why))
		h.ErrorMessage = sentence.Words(why)
		return h, err
	}, `SELECT d.status, d.status_code, d.duration, coalesce(x.error_message, '') FROM webhook_delivery d
		LEFT JOIN webhook_exchange x ON x.account_id = d.account_id AND x.event_id = d.event_id
		WHERE d.account_id = $1 AND d.event_id = $2`, c.Who.AccountID, s.attemptID)
	if err == nil && found {
		t.Status = h.Status
		t.StatusCode = h.StatusCode
		t.Duration = h.Duration
		t.ErrorMessage = h.ErrorMessage
	}
	return t, err
}

// await returns a channel that is closed when an attempt is recorded.
func (r *Service) await(attempt string) <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waiting[attempt] = make(chan struct{})
	return r.waiting[attempt]
}

// attemptRecorded wakes the call that waits for an attempt, and the replays.
func (r *Service) attemptRecorded(m *message) {
	r.mu.Lock()
	if done, waits := r.waiting[m.attemptID]; waits {
		close(done)
		delete(r.waiting, m.attemptID)
	}
	r.mu.Unlock()
	if m.origin == replay {
		r.replays.Raise()
	}
}
