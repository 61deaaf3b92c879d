package webhook

import (
	"cmp"
	"slices"

	"tocsin/internal/activity"
	"tocsin/internal/auth"
	"tocsin/internal/channel"
	"tocsin/internal/configstore"
	"tocsin/internal/integration"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/id"
)

// subscription holds the events that a webhook subscribes to.
type subscription struct {
	integration int64
	webhookType string
	events      []string // empty: all
	channels    []int64  // empty: all but private ones
	body        string   // the custom body; empty: the standard one
}

// matches reports whether the webhook subscribes to an event in a channel. A private channel must be named by the
// webhook: only a person who may read its incidents can name it.
func (s *subscription) matches(webhookType, event string, channel int64, private []int64) bool {
	inChannel := slices.Contains(s.channels, channel) || len(s.channels) == 0 && !slices.Contains(private, channel)
	return s.webhookType == webhookType && inChannel && s.matchesType(event)
}

// matchesType reports whether the webhook subscribes to a type of event. A subscription to updates of alerts includes
// their end, because closing an alert is not always published as an update.
func (s *subscription) matchesType(event string) bool {
	return len(s.events) == 0 || slices.Contains(s.events, event) ||
		event == activity.AlertClose && slices.Contains(s.events, activity.AlertUpdate)
}

// subscribed holds an account's subscriptions, decoded at one revision of its configuration.
type subscribed struct {
	revision int64
	all      []subscription // by integration
	private  []int64        // channels
}

// matchesType reports whether a webhook may subscribe to a type of event in some channel.
func (s *subscribed) matchesType(webhookType, event string) bool {
	return slices.ContainsFunc(s.all, func(s subscription) bool { return s.webhookType == webhookType && s.matchesType(event) })
}

// subscriptions returns the subscriptions of an account's present configuration.
func (r *Service) subscriptions(tx *db.Tx, account int64) (subscribed, error) {
	at, err := configstore.Revision(tx, account) // first: what is read after it is at least as new
	if err != nil {
		return subscribed{}, err
	}
	r.mu.Lock()
	have, known := r.accounts[account]
	r.mu.Unlock()
	if known && have.revision == at {
		return have, nil
	}
	integrations, err := integration.Kind.All(tx, account)
	if err != nil {
		return subscribed{}, err
	}
	private, err := channel.Hidden(tx, auth.Principal{AccountID: account}) // hidden from a principal without teams: all private channels
	if err != nil {
		return subscribed{}, err
	}
	have = subscribed{revision: at, private: private}
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
	slices.SortFunc(have.all, func(a, b subscription) int { return cmp.Compare(a.integration, b.integration) })
	r.mu.Lock()
	defer r.mu.Unlock()
	r.accounts[account] = have
	return have, nil
}

// event is a stored domain event, with the subscribers that have their message of it already.
type event struct {
	number      int64
	token       string
	webhookType string
	eventType   string
	channel     int64
	ref         string
	at          int64  // Unix milliseconds
	payload     string // the standard body, its event_id empty
	matched     int64  // subscribers up to this integration
	before      int64  // matched as it is stored
}

const eventColumns = `number, token, webhook_type, event_type, channel_id, ref_id, happened_at, payload, matched`

func scanEvent(scan db.Scan) (e event, err error) {
	err = scan(&e.number, &e.token, &e.webhookType, &e.eventType, &e.channel, &e.ref, &e.at, &e.payload, &e.matched)
	e.before = e.matched
	return e, err
}

// Handle stores events in the transaction that caused them, with the standard bodies as they are at that moment.
// Subscriptions are matched and templates filled in afterwards: an account's configuration must not slow down the one writer.
func (r *Service) Handle(tx *db.Tx, items []activity.Item) error {
	items, err := r.subscribable(tx, items)
	if err != nil || len(items) == 0 {
		return err
	}
	account := items[0].Account
	bodies, err := payloads(tx, r.PublicURL, account, items)
	if err != nil {
		return err
	}
	last, err := lastEvent(tx, account)
	if err != nil {
		return err
	}
	rows := db.Rows{Table: "webhook_event", Columns: stored}
	for i, item := range items {
		if bodies[i] == nil {
			continue
		}
		text, err := bodies[i].text()
		if err != nil {
			return err
		}
		last++
		webhookType, _ := typeOf(item)
		rows.Values = append(rows.Values, []any{account, last, id.Token(16), webhookType, item.Event.Type(), item.Channel, item.ID,
			item.At.UnixMilli(), text, 0})
	}
	tx.SetValue(lastEventKey{account}, last)
	tx.OnCommit(func() { r.match.RaiseFor(account) })
	return tx.Insert(rows)
}

var stored = db.Columns("account_id, " + eventColumns)

// lastEventKey is under which a transaction keeps the number of the last event of an account.
type lastEventKey struct{ account int64 }

// lastEvent returns the number of the last event of an account. A transaction reads it once: no other writes events of the
// account meanwhile.
func lastEvent(tx *db.Tx, account int64) (last int64, err error) {
	if last, known := tx.Value(lastEventKey{account}).(int64); known {
		return last, nil
	}
	last, _, err = db.One(tx, db.Column[int64], `SELECT coalesce(max(number), 0) FROM webhook_event WHERE account_id = $1`, account)
	return last, err
}

// typeOf returns the type of the webhooks of an event, and which types of events these know.
func typeOf(item activity.Item) (webhookType string, known []string) {
	if item.OfIncident() {
		return "incident", integration.IncidentEvents
	}
	return "alert", integration.AlertEvents
}

// subscribable returns the events that webhooks may subscribe to, but for those that none does.
func (r *Service) subscribable(tx *db.Tx, items []activity.Item) (some []activity.Item, err error) {
	for _, item := range items {
		webhookType, known := typeOf(item)
		if !slices.Contains(known, item.Event.Type()) {
			continue
		}
		if unmatched, err := r.hasNoSubscriber(tx, item.Account, webhookType, item.Event.Type()); err != nil {
			return nil, err
		} else if !unmatched {
			some = append(some, item)
		}
	}
	return some, nil
}

// hasNoSubscriber reports whether the cached subscriptions show that no webhook subscribes to a type of event. Without a
// current cache it returns false, and the matching decides.
func (r *Service) hasNoSubscriber(tx *db.Tx, account int64, webhookType, event string) (bool, error) {
	at, err := configstore.Revision(tx, account)
	if err != nil {
		return false, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	have, known := r.accounts[account]
	return known && have.revision == at && !have.matchesType(webhookType, event), nil
}
