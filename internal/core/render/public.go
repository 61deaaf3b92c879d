package render

import "strings"

// The names that templates of the public template language use for an incident, as far as it has another name here.

// ID is IncidentID.
func (i Incident) ID() string { return i.IncidentID }

// Num is the short name of the incident for people. It is not unique.
func (i Incident) Num() string {
	return strings.ToUpper(i.IncidentID[max(0, len(i.IncidentID)-6):])
}

// SpokenNum is Num as a call reads it out: a character at a time.
func (i Incident) SpokenNum() string { return strings.Join(strings.Split(i.Num(), ""), " ") }

// IncidentSeverity is Severity.
func (i Incident) IncidentSeverity() string { return i.Severity }

// IncidentStatus is the severity of an incident, and Ok at its end.
func (i Incident) IncidentStatus() string { return i.Look() }

// AlertCnt is AlertCount.
func (i Incident) AlertCnt() int64 { return i.AlertCount }

// ChannelName is Channel.
func (i Incident) ChannelName() string { return i.Channel }

// AccountName is Account.
func (i Incident) AccountName() string { return i.Account }

// AccountLocale is the language of the texts that functions write.
func (i Incident) AccountLocale() string { return "en-US" }

// FireType is refire for a message that repeats an earlier one, otherwise fire.
func (i Incident) FireType() string {
	if i.FireTimes > 1 || i.Event == "i_remind" {
		return "refire"
	}
	return "fire"
}

// CreatorID is the person who created the incident; 0: none did.
func (i Incident) CreatorID() int64 { return i.Creator.PersonID() }

// CloserID is the person who closed the incident; 0: none did.
func (i Incident) CloserID() int64 { return i.Closer.PersonID() }

// OwnerID is the person who leads; 0: none does.
func (i Incident) OwnerID() int64 { return i.Owner.PersonID() }

// AISummary is empty: Tocsin asks no language model.
func (i Incident) AISummary() string { return "" }

// fireReason is the beginning of a subject: why there is another message; empty for the first one.
func fireReason(of any) string {
	i, ok := of.(Incident)
	switch {
	case !ok:
		return ""
	case i.Test:
		return "[DRILL] "
	case i.MergedInto != "" || i.MergedFrom != "" && i.Progress != "Closed":
		return "[MERGED] "
	case i.Progress == "Closed":
		return "[RESOLVED] "
	case i.Event == "i_ack":
		return "[ACKNOWLEDGED] "
	case i.FireType() == "refire":
		return "[REFIRE] "
	case i.Event == "i_storm":
		return "[STORM] "
	case i.Reopened:
		return "[REOPEN] "
	}
	switch a := i.AssignedTo; {
	case a.Type == "escalate" && a.LayerIdx > 0, a.Type == "reassign", a.Type == "reopen":
		return "[" + strings.ToUpper(a.Type) + "] "
	}
	return ""
}

// PersonID is ID.
func (p Person) PersonID() int64 { return p.ID }

// PersonName is Name.
func (p Person) PersonName() string { return p.Name }

// Actor is a person who did something, or nil. Its members are methods, so that a template may read them of nil.
type Actor struct{ Person }

// PersonID returns 0 for nil.
func (a *Actor) PersonID() int64 {
	if a == nil {
		return 0
	}
	return a.Person.ID
}

// PersonName returns an empty text for nil.
func (a *Actor) PersonName() string {
	if a == nil {
		return ""
	}
	return a.Person.Name
}

// Email returns an empty text for nil.
func (a *Actor) Email() string {
	if a == nil {
		return ""
	}
	return a.Person.Email
}

// Name is PersonName.
func (a *Actor) Name() string { return a.PersonName() }

// String is PersonName.
func (a *Actor) String() string { return a.PersonName() }

// AlertSeverity is Severity.
func (a Alert) AlertSeverity() string { return a.Severity }

// AlertStatus is Status.
func (a Alert) AlertStatus() string { return a.Status }

// Progress is Closed for an alert that has ended, otherwise Triggered.
func (a Alert) Progress() string {
	if a.EndTime != 0 {
		return "Closed"
	}
	return "Triggered"
}

// CloseTime is EndTime.
func (a Alert) CloseTime() int64 { return a.EndTime }

// Assignment is who was made responsible last: persons, or an escalation rule.
type Assignment struct {
	PersonIDs        []int64
	EscalateRuleID   string
	EscalateRuleName string
	LayerIdx         int64  // of the rule, from 0
	Type             string // assign, reassign, escalate or reopen; empty: no one was
}

// Flapping holds the settings of the incident's channel for alerts that change too often.
type Flapping struct{ MaxChanges, InMinutes, MuteMinutes int64 }

// Image is an image of an incident's first alert.
type Image struct {
	Src  string // an address, or the key of an upload, which is not stored
	Href string // where a click on it leads
	Alt  string
}

// LabelValues are the values that a label has in the alerts of an incident.
type LabelValues struct {
	All      []string // the different ones, in the order of the alerts; at most 50, of 100 characters
	Min, Max string   // of the values that are numbers; empty: none is
}
