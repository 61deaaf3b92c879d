package activity

import (
	"cmp"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"tocsin/internal/core/sentence"
)

// Event is a change of an alert or incident. Its members are the detail that the feed shows; Type is its name in
// feeds and webhooks. A subscriber that needs a member names it, so that one that is renamed does not compile.
type Event interface{ Type() string }

// AlertDecided is a decision that changed an alert: it is new, was updated, has ended, or is muted. Kind is one of the
// constants that begin with Alert.
type AlertDecided struct {
	Kind     string `json:"-"`
	Severity string `json:"severity"`
	Status   string `json:"status"`
	Title    string `json:"title"`
	Headline string `json:"headline,omitzero"` // what people read of the alert then; absent in older entries
}

// Type returns Kind.
func (e AlertDecided) Type() string { return e.Kind }

// AlertClosed is an alert that a person closed.
type AlertClosed struct{}

// Type returns AlertClose.
func (AlertClosed) Type() string { return AlertClose }

// AlertMerged is an alert that a person moved to an incident.
type AlertMerged struct {
	IncidentID string `json:"incident_id"`
	Comment    string `json:"comment"`
}

// Type returns AlertMerge.
func (AlertMerged) Type() string { return AlertMerge }

// Opened is a new incident.
type Opened struct {
	Severity string `json:"severity"`
	Title    string `json:"title"`
	Headline string `json:"headline,omitzero"` // what people read of the incident then; absent in older entries
}

// Name returns what people read: the headline, or the title of an older entry.
func (e Opened) Name() string { return cmp.Or(e.Headline, e.Title) }

// Type returns IncidentNew.
func (Opened) Type() string { return IncidentNew }

// Assigned is an incident that persons or a rule were made responsible for.
type Assigned struct {
	How              string   `json:"type"` // assign, reassign, escalate
	To               []int64  `json:"to"`   // persons
	PersonIDs        []int64  `json:"person_ids"`
	EscalateRuleID   string   `json:"escalate_rule_id"`
	EscalateRuleName string   `json:"escalate_rule_name"`
	LayerIdx         int64    `json:"layer_idx"`
	Emails           []string `json:"emails"`
	AssignedAt       int64    `json:"assigned_at"` // Unix seconds
	ID               string   `json:"id"`          // of the assignment
}

// Type returns IncidentAssign.
func (Assigned) Type() string { return IncidentAssign }

// RespondersAdded is an incident that further persons were made responsible for.
type RespondersAdded struct {
	To []int64 `json:"to"` // persons
}

// Type returns IncidentResponder.
func (RespondersAdded) Type() string { return IncidentResponder }

// Acknowledged is an incident that a responder works on.
type Acknowledged struct {
	Via string `json:"via,omitzero"` // chat: by the link in a chat, whose reader chose a person
}

// Type returns IncidentAck.
func (Acknowledged) Type() string { return IncidentAck }

// Unacknowledged is an incident whose acknowledgement was withdrawn, by its person or, without an answer, by Tocsin.
type Unacknowledged struct {
	Unanswered string `json:"no_answer_to,omitzero"` // the question without an answer: reminder or snooze; empty: a person withdrew
}

// Type returns IncidentUnack.
func (Unacknowledged) Type() string { return IncidentUnack }

// Snoozed is an incident that escalates no further for some minutes.
type Snoozed struct {
	Minutes int64 `json:"minutes"`
}

// Type returns IncidentSnooze.
func (Snoozed) Type() string { return IncidentSnooze }

// Woken is an incident whose snooze ended.
type Woken struct {
	SnoozedBefore int64 `json:"snoozedBefore"`     // Unix seconds
	Restarts      bool  `json:"restarts,omitzero"` // the snooze is over and no person has acknowledged: the escalation starts again
}

// Type returns IncidentWake.
func (Woken) Type() string { return IncidentWake }

// Answered is a responder's answer to a reminder, or to the message about the end of a snooze. The event is in the feed
// only.
type Answered struct {
	Answer string `json:"answer"`       // still, later or never
	Via    string `json:"via,omitzero"` // as of Acknowledged
}

// Type returns IncidentAnswer.
func (Answered) Type() string { return IncidentAnswer }

// Stormed is an incident that reached a number of alerts.
type Stormed struct {
	Threshold int64 `json:"threshold"`
}

// Type returns IncidentStorm.
func (Stormed) Type() string { return IncidentStorm }

// Resolved is an incident that was closed. From is the cause: manual, recovery, timeout.
type Resolved struct {
	From string `json:"from"`
}

// Type returns IncidentResolve.
func (Resolved) Type() string { return IncidentResolve }

// Reopened is a closed incident that is open again.
type Reopened struct {
	Reason string `json:"reason"`
}

// Type returns IncidentReopen.
func (Reopened) Type() string { return IncidentReopen }

// Merged is an incident that others were merged into, or that was merged into another.
type Merged struct {
	SourceIncidentIDs []string `json:"source_incident_ids"`
	TargetIncidentID  string   `json:"target_incident_id"`
	PersonIDs         []int64  `json:"-"` // responders of the source who became responsible for the target
	Comment           string   `json:"comment,omitzero"`
}

// Type returns IncidentMerge.
func (Merged) Type() string { return IncidentMerge }

// Commented is a comment on an incident.
type Commented struct {
	Comment   string `json:"comment"`
	MuteReply bool   `json:"mute_reply"`
}

// Type returns IncidentComment.
func (Commented) Type() string { return IncidentComment }

// TextChanged is another title, description, impact, root cause or resolution of an incident. Kind is the type of the event.
type TextChanged struct {
	Kind string `json:"-"`
	From string `json:"from"`
	To   string `json:"to"`
}

// Type returns Kind.
func (e TextChanged) Type() string { return e.Kind }

// SeverityChanged is another severity of an incident.
type SeverityChanged struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// Type returns IncidentSeverity.
func (SeverityChanged) Type() string { return IncidentSeverity }

// FieldChanged is another value of a custom field of an incident; null where it has none.
type FieldChanged struct {
	FieldName string         `json:"field_name"`
	From      jsontext.Value `json:"from"`
	To        jsontext.Value `json:"to"`
}

// Type returns IncidentField.
func (FieldChanged) Type() string { return IncidentField }

// Notified is a notification of an incident that was sent or could not be, or a step of its escalation that notified no
// person. It is in the feed only: nothing follows from it.
type Notified struct {
	RID              string         `json:"rid,omitzero"` // of the notification
	By               string         `json:"by"`           // the method; `nobody`: the step notified no person
	LayerIdx         int64          `json:"layer_idx"`
	EscalateRuleID   string         `json:"escalate_rule_id"`
	EscalateRuleName string         `json:"escalate_rule_name"`
	FireType         string         `json:"fire_type,omitzero"` // fire, or refire when it is repeated
	Cause            string         `json:"cause,omitzero"`     // such as page or acknowledged; absent: no person was notified, or it was not stored
	Persons          []Target       `json:"persons,omitempty"`
	Robots           []Target       `json:"robots,omitempty"`
	Reason           sentence.Value `json:"reason,omitzero"` // why no person was notified
	Then             string         `json:"then,omitzero"`   // what the rule does about that: skip, wait or fallback
	Until            int64          `json:"until,omitzero"`  // Unix seconds; until when it waits
	Bundle           int64          `json:"bundle,omitzero"` // how many notifications shared the message; 0: it was about this one only
}

// Type returns IncidentNotify.
func (Notified) Type() string { return IncidentNotify }

// Target is the target of a notification.
type Target struct {
	PersonID     int64          `json:"person_id,omitzero"`
	Alias        string         `json:"alias,omitzero"` // of a chat or an address
	FailedReason sentence.Value `json:"failed_reason"`  // empty: it was sent
}

// Joined is an acknowledged incident that alerts join, from this one on. It is in the feed only.
type Joined struct {
	Title string `json:"title"` // headline of the first of them
	Until int64  `json:"until"` // Unix seconds; when the responders are notified of all that have joined by then
}

// Type returns IncidentJoined.
func (Joined) Type() string { return IncidentJoined }

// FiresAgain is an incident whose alert changes too often and is active again, or still. Persons are therefore notified
// again. The event is in the feed only.
type FiresAgain struct {
	Title  string         `json:"title"`  // headline of the alert
	Why    string         `json:"why"`    // reason, a decide.Again
	Reason sentence.Value `json:"reason"` // Why as a sentence
	Since  int64          `json:"since"`  // since when the alert is active, Unix seconds
}

// Type returns IncidentFlapping.
func (FiresAgain) Type() string { return IncidentFlapping }

// Exhausted is an escalation that ended without a notified person or an acknowledgement, or did not begin. It is in the
// feed only.
type Exhausted struct {
	Reason     sentence.Value `json:"reason"`
	To         []int64        `json:"to,omitempty"`        // persons who were notified instead
	Unanswered bool           `json:"unanswered,omitzero"` // persons were notified, and none has acknowledged the incident
}

// Type returns IncidentExhausted.
func (Exhausted) Type() string { return IncidentExhausted }

// Escalated is an incident whose escalation a person took to its next step at once. It is in the feed only.
type Escalated struct {
	LayerIdx         int64  `json:"layer_idx"` // of the step that begins
	EscalateRuleID   string `json:"escalate_rule_id"`
	EscalateRuleName string `json:"escalate_rule_name"`
}

// Type returns IncidentEscalate.
func (Escalated) Type() string { return IncidentEscalate }

// WarRoomOpened is a chat group that was opened for an incident. It is in the feed only.
type WarRoomOpened struct{ WarRoom }

// Type returns IncidentRoom.
func (WarRoomOpened) Type() string { return IncidentRoom }

// WarRoomClosed is a war room that was closed. It is in the feed only.
type WarRoomClosed struct{ WarRoom }

// Type returns IncidentRoomGone.
func (WarRoomClosed) Type() string { return IncidentRoomGone }

// WarRoom names the chat group.
type WarRoom struct {
	IntegrationID int64  `json:"integration_id"`
	PluginType    string `json:"plugin_type"`
	ChatID        string `json:"chat_id"`
	ChatName      string `json:"chat_name"`
	ShareLink     string `json:"share_link"`
}

// Silenced is a silence that a responder made. Kind is AlertSilence or IncidentSilence.
type Silenced struct {
	Kind     string            `json:"-"`
	RuleID   string            `json:"rule_id"`
	Title    string            `json:"title"` // title of the alert or incident
	Minutes  int64             `json:"minutes"`
	Until    int64             `json:"until"`            // Unix seconds
	Severity string            `json:"severity"`         // up to which the silence holds
	Labels   map[string]string `json:"labels,omitempty"` // labels that alerts must have; empty: the silence matches by key
}

// Type returns Kind.
func (e Silenced) Type() string { return e.Kind }

// SilenceUndone is a responder's silence that a person ended before its time. Kind is AlertUndone or IncidentUndone.
type SilenceUndone struct {
	Kind     string `json:"-"`
	RuleID   string `json:"rule_id"`
	RuleName string `json:"rule_name"`
}

// Type returns Kind.
func (e SilenceUndone) Type() string { return e.Kind }

// WebhookGone is a webhook that was disabled because its endpoint answered that it is gone. Kind is AlertWebhook or
// IncidentWebhook, by the message that it answered.
type WebhookGone struct {
	Kind            string         `json:"-"`
	IntegrationID   int64          `json:"integration_id"`
	IntegrationName string         `json:"integration_name"`
	Reason          sentence.Value `json:"reason"`
}

// Type returns Kind.
func (e WebhookGone) Type() string { return e.Kind }

// Read returns the event of a stored type with the members of its detail; nil when the type is not known, such as one of
// a newer version.
func Read(kind string, detail []byte) (Event, error) {
	read, known := readers[kind]
	if !known {
		return nil, nil
	}
	return read(detail)
}

// readers decode the details of the types that Read knows.
var readers = map[string]func(detail []byte) (Event, error){
	AlertMerge:        reader[AlertMerged],
	IncidentNew:       reader[Opened],
	IncidentAssign:    reader[Assigned],
	IncidentResponder: reader[RespondersAdded],
	IncidentAck:       reader[Acknowledged],
	IncidentUnack:     reader[Unacknowledged],
	IncidentAnswer:    reader[Answered],
	IncidentSnooze:    reader[Snoozed],
	IncidentWake:      reader[Woken],
	IncidentStorm:     reader[Stormed],
	IncidentResolve:   reader[Resolved],
	IncidentReopen:    reader[Reopened],
	IncidentMerge:     reader[Merged],
	IncidentComment:   reader[Commented],
	IncidentSeverity:  reader[SeverityChanged],
	IncidentField:     reader[FieldChanged],
	IncidentNotify:    reader[Notified],
	IncidentExhausted: reader[Exhausted],
	IncidentJoined:    reader[Joined],
	IncidentFlapping:  reader[FiresAgain],
	IncidentEscalate:  reader[Escalated],
	IncidentRoom:      reader[WarRoomOpened],
	IncidentRoomGone:  reader[WarRoomClosed],
}

// reader decodes the detail of one type of event.
func reader[T Event](detail []byte) (Event, error) {
	var e T
	err := json.Unmarshal(detail, &e)
	return e, err
}
