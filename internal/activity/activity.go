// Package activity carries word of what happened to alerts and incidents to the rooms above them that act on it:
// escalation, notification and webhooks. Listeners are called in the transaction of the change itself, so
// that what shall follow from it is written down with it or not at all.
//
// It must never carry anything outside the process, and a listener must never do more than write rows.
package activity

import (
	"time"

	"tocsin/internal/platform/db"
)

// The types of news, as webhooks and feeds name them. An alert's begin with a_, an incident's with i_.
const (
	AlertNew      = "a_new"
	AlertUpdate   = "a_update"
	AlertMerge    = "a_merge"
	AlertClose    = "a_close"
	AlertComment  = "a_comm"
	AlertSilenced = "a_m_silence"
	AlertInhibit  = "a_m_inhibit"
	AlertFlapping = "a_m_flapping"

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
	IncidentNotify    = "i_notify"    // somebody was told, or could not be: in the feed only
	IncidentExhausted = "i_exhausted" // escalation ended and nobody was told: in the feed only
	IncidentRoom      = "i_wr_create" // a war room was opened: in the feed only
	IncidentRoomGone  = "i_wr_delete" // it was closed: likewise
)

// Item is an event with the object that it happened to.
type Item struct {
	Account int64
	ID      string // of the alert or incident: 24 hexadecimal digits
	Channel int64
	At      time.Time
	Person  int64 // who did it; 0: Tocsin itself
	Event   Event
	Subject any // a copy of the incident, where the publisher has it; nil: subscribers read it
}

// OfIncident reports whether the event is an incident's.
func (i Item) OfIncident() bool { return i.Event.Type()[0] == 'i' }

// Bus hands news to those who listen, in the order in which they were added.
type Bus struct{ subscribers []func(*db.Tx, Item) error }

// Subscribe adds a listener, before the first news.
func (b *Bus) Subscribe(fn func(*db.Tx, Item) error) { b.subscribers = append(b.subscribers, fn) }

// Publish writes the news into the feed and hands it on. An error undoes the change that it is about.
func (b *Bus) Publish(tx *db.Tx, item Item) error {
	if err := record(tx, item); err != nil {
		return err
	}
	for _, fn := range b.subscribers {
		if err := fn(tx, item); err != nil {
			return err
		}
	}
	return nil
}
