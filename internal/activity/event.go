package activity

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Event is what happened to an alert or incident. Its members are the detail that the feed shows; Type is its name in
// feeds and webhooks. A subscriber that needs a member names it, so that one that is renamed does not compile.
type Event interface{ Type() string }

// AlertDecided is a decision that changed an alert: it is new, was updated, has ended, or is muted. Kind says which, one
// of the constants that begin with Alert.
type AlertDecided struct {
	Kind     string `json:"-"`
	Severity string `json:"severity"`
	Status   string `json:"status"`
	Title    string `json:"title"`
}

// AlertClosed is an alert that a person closed.
type AlertClosed struct{}

// AlertMerged is an alert that a person moved to an incident.
type AlertMerged struct {
	IncidentID string `json:"incident_id"`
	Comment    string `json:"comment"`
}

// Opened is a new incident.
type Opened struct {
	Severity string `json:"severity"`
	Title    string `json:"title"`
}

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

// RespondersAdded is an incident that further persons were made responsible for.
type RespondersAdded struct {
	To []int64 `json:"to"` // persons
}

// Acknowledged is an incident that a responder takes care of.
type Acknowledged struct{}

// Unacknowledged is an incident whose acknowledgement was taken back.
type Unacknowledged struct{}

// Snoozed is an incident that escalates no further for some minutes.
type Snoozed struct {
	Minutes int64 `json:"minutes"`
}

// Woken is an incident whose snooze ended before its time.
type Woken struct {
	SnoozedBefore int64 `json:"snoozedBefore"` // Unix seconds
}

// Stormed is an incident that reached a number of alerts.
type Stormed struct {
	Threshold int64 `json:"threshold"`
}

// Resolved is an incident that was closed. From says by what: manual, recovery, timeout.
type Resolved struct {
	From string `json:"from"`
}

// Reopened is a closed incident that is open again.
type Reopened struct {
	Reason string `json:"reason"`
}

// Merged is an incident that others were merged into, or that was merged into another.
type Merged struct {
	SourceIncidentIDs []string `json:"source_incident_ids"`
	TargetIncidentID  string   `json:"target_incident_id"`
	Comment           string   `json:"comment,omitzero"`
}

// Commented is a comment on an incident.
type Commented struct {
	Comment   string `json:"comment"`
	MuteReply bool   `json:"mute_reply"`
}

// TextChanged is another title, description, impact, root cause or resolution of an incident. Kind says which.
type TextChanged struct {
	Kind string `json:"-"`
	From string `json:"from"`
	To   string `json:"to"`
}

// SeverityChanged is another severity of an incident.
type SeverityChanged struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// FieldChanged is another value of a custom field of an incident; null where it has none.
type FieldChanged struct {
	FieldName string         `json:"field_name"`
	From      jsontext.Value `json:"from"`
	To        jsontext.Value `json:"to"`
}

// Notified is a notification of an incident that was sent or could not be, or a step of its escalation that notified no
// person. It is in the feed only: nothing follows from it.
type Notified struct {
	RID              string  `json:"rid,omitzero"` // of the notification
	By               string  `json:"by"`           // the method; nobody: the step notified no person
	LayerIdx         int64   `json:"layer_idx"`
	EscalateRuleID   string  `json:"escalate_rule_id"`
	EscalateRuleName string  `json:"escalate_rule_name"`
	FireType         string  `json:"fire_type,omitzero"` // fire, or refire when it is repeated
	Persons          []Fired `json:"persons,omitempty"`
	Robots           []Fired `json:"robots,omitempty"`
	Reason           string  `json:"reason,omitzero"` // why no person was notified
	Then             string  `json:"then,omitzero"`   // what the rule does about that: skip, wait or fallback
	Until            int64   `json:"until,omitzero"`  // Unix seconds; until when it waits
}

// Fired is who a notification was for.
type Fired struct {
	PersonID     int64  `json:"person_id,omitzero"`
	Alias        string `json:"alias,omitzero"` // of a chat or an address
	FailedReason string `json:"failed_reason"`  // empty: it was sent
}

// Exhausted is an escalation that ended without a notified person, or did not begin. It is in the feed only.
type Exhausted struct {
	Reason string  `json:"reason"`
	To     []int64 `json:"to,omitempty"` // persons who were notified instead
}

// WarRoomOpened is a chat group that was opened for an incident. It is in the feed only.
type WarRoomOpened struct{ WarRoom }

// WarRoomClosed is a war room that was closed. It is in the feed only.
type WarRoomClosed struct{ WarRoom }

// WarRoom names the chat group.
type WarRoom struct {
	IntegrationID int64  `json:"integration_id"`
	PluginType    string `json:"plugin_type"`
	ChatID        string `json:"chat_id"`
	ChatName      string `json:"chat_name"`
	ShareLink     string `json:"share_link"`
}

// The names of events in feeds and webhooks.

func (e AlertDecided) Type() string  { return e.Kind }
func (AlertClosed) Type() string     { return AlertClose }
func (AlertMerged) Type() string     { return AlertMerge }
func (Opened) Type() string          { return IncidentNew }
func (Assigned) Type() string        { return IncidentAssign }
func (RespondersAdded) Type() string { return IncidentResponder }
func (Acknowledged) Type() string    { return IncidentAck }
func (Unacknowledged) Type() string  { return IncidentUnack }
func (Snoozed) Type() string         { return IncidentSnooze }
func (Woken) Type() string           { return IncidentWake }
func (Stormed) Type() string         { return IncidentStorm }
func (Resolved) Type() string        { return IncidentResolve }
func (Reopened) Type() string        { return IncidentReopen }
func (Merged) Type() string          { return IncidentMerge }
func (Commented) Type() string       { return IncidentComment }
func (e TextChanged) Type() string   { return e.Kind }
func (SeverityChanged) Type() string { return IncidentSeverity }
func (FieldChanged) Type() string    { return IncidentField }
func (Notified) Type() string        { return IncidentNotify }
func (Exhausted) Type() string       { return IncidentExhausted }
func (WarRoomOpened) Type() string   { return IncidentRoom }
func (WarRoomClosed) Type() string   { return IncidentRoomGone }

// Read returns the event of a stored type with the members that its detail has; nil when the type is not known, as that
// of a newer version.
func Read(kind string, detail []byte) (Event, error) {
	read, known := readers[kind]
	if !known {
		return nil, nil
	}
	return read(detail)
}

var readers = map[string]func(detail []byte) (Event, error){
	AlertMerge: reader[AlertMerged], IncidentNew: reader[Opened], IncidentAssign: reader[Assigned], IncidentResponder: reader[RespondersAdded],
	IncidentAck: reader[Acknowledged], IncidentUnack: reader[Unacknowledged], IncidentSnooze: reader[Snoozed], IncidentWake: reader[Woken],
	IncidentStorm: reader[Stormed], IncidentResolve: reader[Resolved], IncidentReopen: reader[Reopened], IncidentMerge: reader[Merged],
	IncidentComment: reader[Commented], IncidentSeverity: reader[SeverityChanged], IncidentField: reader[FieldChanged],
	IncidentNotify: reader[Notified], IncidentExhausted: reader[Exhausted], IncidentRoom: reader[WarRoomOpened], IncidentRoomGone: reader[WarRoomClosed],
}

func reader[T Event](detail []byte) (Event, error) {
	var e T
	err := json.Unmarshal(detail, &e)
	return e, err
}
