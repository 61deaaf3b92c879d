// Package activity publishes events of alerts and incidents to subscribers: escalation, notification and webhooks.
// Subscribers are called in the transaction that caused the event, so that their rows are committed with it or not at all.
//
// It must never send anything outside of the process, and a subscriber must never do more than write rows.
package activity

import (
	"time"

	"tocsin/internal/platform/db"
)

// Types of events, as webhooks and feeds name them. Those of alerts begin with a_, those of incidents with i_.
const (
	AlertNew      = "a_new"
	AlertUpdate   = "a_update"
	AlertMerge    = "a_merge"
	AlertClose    = "a_close"
	AlertComment  = "a_comm"
	AlertSilenced = "a_m_silence"
	AlertInhibit  = "a_m_inhibit"
	AlertFlapping = "a_m_flapping"
	AlertDisabled = "a_m_channel" // the alert's channel is disabled: in the feed only
	AlertSilence  = "a_silence"   // a person silenced the alert for a time: in the feed only
	AlertUndone   = "a_undone"    // a person ended the silence of an alert: in the feed only

	IncidentNew       = "i_new"
	IncidentAssign    = "i_assign"
	IncidentResponder = "i_a_rspd"
	IncidentSnooze    = "i_snooze"
	IncidentWake      = "i_wake"
	IncidentAck       = "i_ack"
	IncidentUnack     = "i_unack"
	IncidentStorm     = "i_storm"
	IncidentCustom    = "i_custom"
	IncidentResolve   = "i_rslv"
	IncidentReopen    = "i_reopen"
	IncidentMerge     = "i_merge"
	IncidentComment   = "i_comm"
	IncidentTitle     = "i_r_title"
	IncidentDesc      = "i_r_desc"
	IncidentImpact    = "i_r_impact"
	IncidentRootCause = "i_r_rc"
	IncidentSolution  = "i_r_rsltn"
	IncidentSeverity  = "i_r_severity"
	IncidentField     = "i_r_field"
	IncidentNotify    = "i_notify"    // a notification was sent, or could not be: in the feed only
	IncidentExhausted = "i_exhausted" // escalation ended and no person was notified or acknowledged: in the feed only
	IncidentJoined    = "i_join"      // alerts join an acknowledged incident: in the feed only
	IncidentFlapping  = "i_flap"      // an alert that changes too often fires again: in the feed only
	IncidentReminder  = "i_remind"    // people are reminded of an incident that is still open: of notifications only
	IncidentAnswer    = "i_answer"    // a responder answers a reminder or the message about the end of a snooze: in the feed only
	IncidentEscalate  = "i_escalate"  // a person brought the next step of the escalation: in the feed only
	IncidentRoom      = "i_wr_create" // a war room was opened: in the feed only
	IncidentRoomGone  = "i_wr_delete" // a war room was closed: in the feed only
	IncidentSilence   = "i_silence"   // a person silenced the incident's alerts for a time: in the feed only
	IncidentUndone    = "i_undone"    // a person ended the silence of an incident: in the feed only
	IncidentWebhook   = "i_webhook"   // a webhook was disabled, because its endpoint is gone: in the feed only
	AlertWebhook      = "a_webhook"   // the same, found with a message about an alert
)

// Item is an event with the object that it happened to.
type Item struct {
	Account int64
	ID      string // of the alert or incident: 24 hexadecimal digits
	Channel int64
	At      time.Time
	Person  int64 // the person who caused it; 0: Tocsin itself
	First   bool  // the object is new, and has no other event yet
	Event   Event
	Subject any // a copy of the alert or incident as it is now, where the publisher has it; nil: subscribers read it
}

// OfIncident reports whether the event is an incident's.
func (i Item) OfIncident() bool { return i.Event.Type()[0] == 'i' }

// Bus hands events to subscribers, in the order in which they were added.
type Bus struct{ subscribers []func(*db.Tx, []Item) error }

// Subscribe adds a subscriber. It must be called before the first event.
func (b *Bus) Subscribe(fn func(*db.Tx, Item) error) {
	b.SubscribeAll(func(tx *db.Tx, items []Item) error {
		for _, item := range items {
			if err := fn(tx, item); err != nil {
				return err
			}
		}
		return nil
	})
}

// SubscribeAll is Subscribe for a subscriber that takes less for events of one account together than for each.
func (b *Bus) SubscribeAll(fn func(*db.Tx, []Item) error) { b.subscribers = append(b.subscribers, fn) }

// Publish stores events of one account in the feeds and hands them to the subscribers. An error rolls back the changes that
// caused them.
func (b *Bus) Publish(tx *db.Tx, items ...Item) error {
	if len(items) == 0 {
		return nil
	}
	for _, item := range items {
		if err := record(tx, item); err != nil {
			return err
		}
	}
	for _, fn := range b.subscribers {
		if err := fn(tx, items); err != nil {
			return err
		}
	}
	return nil
}
