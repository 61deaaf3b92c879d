package webhook

import (
	"slices"
	"time"

	"tocsin/internal/auth"
	"tocsin/internal/channel"
	"tocsin/internal/db"
	"tocsin/internal/id"
	"tocsin/internal/integration"
	"tocsin/internal/news"
	"tocsin/internal/revision"
)

// subscription is what a webhook wants to be told.
type subscription struct {
	integration int64
	webhookType string
	events      []string // empty: all
	channels    []int64  // empty: all but private ones
	body        string   // a body of its own; empty: the standard one
}

// wants tells whether the webhook is told of such news. Whoever follows the updates of alerts is told of their end
// as well, which is not always one. Of a private channel only those are told that name it, as nobody can name one whose
// incidents they may not read.
func (s *subscription) wants(webhookType, event string, channel int64, private []int64) bool {
	return s.webhookType == webhookType && (len(s.channels) == 0 && !slices.Contains(private, channel) || slices.Contains(s.channels, channel)) &&
		(len(s.events) == 0 || slices.Contains(s.events, event) || event == news.AlertClose && slices.Contains(s.events, news.AlertUpdate))
}

// subscribed is an account's subscriptions, made ready at one revision of its configuration.
type subscribed struct {
	revision int64
	read     time.Time
	all      []subscription
	private  []int64 // channels
}

// trust is how long subscriptions are good for although nothing seems to have changed: when a commit fails,
// they may be of a configuration that never was.
const trust = time.Minute

// subscriptions gives those of an account's present configuration.
func (r *Room) subscriptions(tx *db.Tx, account int64, now time.Time) (subscribed, error) {
	at, err := revision.Of(tx, account)
	if err != nil {
		return subscribed{}, err
	}
	r.mu.Lock()
	have, known := r.accounts[account]
	r.mu.Unlock()
	if age := now.Sub(have.read); known && have.revision == at && age >= 0 && age < trust {
		return have, nil
	}
	integrations, err := integration.Kind.All(tx, account)
	if err != nil {
		return subscribed{}, err
	}
	private, err := channel.Hidden(tx, auth.Principal{AccountID: account}) // from nobody in particular: all
	if err != nil {
		return subscribed{}, err
	}
	have = subscribed{revision: at, read: now, private: private}
	for _, i := range integrations {
		if !i.IsWebhook() || i.Status != "enabled" || i.Settings == nil {
			continue
		}
		s := subscription{integration: i.IntegrationID, webhookType: "alert", events: i.Settings.EventTypes, channels: i.Settings.ChannelIDs}
		if i.IntegrationType == integration.WebhookIncident {
			s.webhookType, s.body = "incident", i.Settings.Body
		}
		have.all = append(have.all, s)
	}
	r.mu.Lock()
	r.accounts[account] = have
	r.mu.Unlock()
	return have, nil
}

// Hear writes down what webhooks are to be told, in the transaction in which it happened.
func (r *Room) Hear(tx *db.Tx, item news.Item) error {
	webhookType, known := "alert", integration.AlertEvents
	if item.OfIncident() {
		webhookType, known = "incident", integration.IncidentEvents
	}
	if !slices.Contains(known, item.Event.Type()) {
		return nil
	}
	now, err := r.subscriptions(tx, item.Account, item.At)
	if err != nil {
		return err
	}
	var body *payload // made when the first wants it
	for i := range now.all {
		s := &now.all[i]
		if !s.wants(webhookType, item.Event.Type(), item.Channel, now.private) {
			continue
		}
		if body == nil {
			if body, err = r.payload(tx, item); err != nil || body == nil {
				return err
			}
		}
		m := message{account: item.Account, id: id.Token(16), integration: s.integration, webhookType: webhookType, eventType: item.Event.Type(),
			channel: item.Channel, ref: item.ID, started: item.At.UnixMilli()}
		if m.payload, err = body.text(m.id, s.body); err != nil {
			return err
		}
		if err := m.put(tx); err != nil {
			return err
		}
	}
	return nil
}
