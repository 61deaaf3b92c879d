package schedule

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"tocsin/internal/configstore"
	"tocsin/internal/platform/fault"
)

// Body is the part of a schedule that callers write (specification 4.2). A member that is absent or null is unset: a new
// schedule takes its default, an existing one keeps its value.
type Body struct {
	ScheduleName string         `json:"schedule_name,omitzero" maxLength:"40" doc:"Name of the schedule, 1 to 40 characters; required under one of its names to create one. A label: names may repeat."`
	Name         string         `json:"name,omitzero" maxLength:"40" doc:"Older name of schedule_name, used where that is empty."`
	Description  *string        `json:"description,omitzero" maxLength:"500" doc:"Description, at most 500 characters."`
	TeamID       *int64         `json:"team_id,omitzero" minimum:"0" doc:"Owning team; 0: none."`
	GroupID      *int64         `json:"group_id,omitzero" minimum:"0" doc:"Older name of team_id, used where that is unset."`
	Status       *int64         `json:"status,omitzero" minimum:"0" maximum:"1" doc:"0 enabled, 1 disabled: it is computed as usual and no person is paged from it."`
	Disabled     *int64         `json:"disabled,omitzero" minimum:"0" maximum:"1" doc:"Older name of status, used where that is unset."`
	TimeZone     *string        `json:"time_zone,omitzero" maxLength:"255" doc:"IANA zone of layers that have none of their own; empty: the account's."`
	WhenAbsent   *string        `json:"when_absent,omitzero" enum:"next,gap" doc:"What rotations do when everyone of a group is absent: next (the default): the next group that has a person present takes the time; gap: no one is on call."`
	SelfService  *bool          `json:"self_service,omitzero" doc:"Whether persons of the schedule may take shifts of others, hand over their own and ask for cover; absent for a new one: true."`
	Notify       *Notify        `json:"notify,omitzero" doc:"Who is notified about shifts, and how."`
	Layers       []WrittenLayer `json:"layers,omitzero" maxItems:"500" doc:"Rotations and overrides. Without any, no one is on call."`
}

const (
	maxName        = 40  // characters
	maxDescription = 500 // characters
)

// normalise returns a copy of the body in which both names of each pair have one value and each layer is complete, or
// fault.Invalid for the first invalid value. prefix precedes the names of fields in errors.
func (b Body) normalise(prefix string) (Body, error) {
	unify(&b.ScheduleName, &b.Name)
	unify(&b.TeamID, &b.GroupID)
	unify(&b.Status, &b.Disabled)
	if err := text(prefix+"schedule_name", b.ScheduleName, maxName); err != nil {
		return b, err
	}
	if b.Description != nil {
		if err := text(prefix+"description", *b.Description, maxDescription); err != nil {
			return b, err
		}
	}
	if b.TeamID != nil && *b.TeamID < 0 {
		return b, fault.Invalid(prefix+"team_id", "must not be negative, got %d", *b.TeamID)
	}
	if b.Status != nil {
		if err := between(prefix+"status", *b.Status, 0, 1); err != nil {
			return b, err
		}
	}
	if b.WhenAbsent != nil {
		if _, err := parseWhenAbsent(prefix+"when_absent", *b.WhenAbsent); err != nil {
			return b, err
		}
	}
	b.Layers = slices.Clone(b.Layers)
	for i := range b.Layers {
		l := &b.Layers[i]
		l.Groups = slices.Clone(l.Groups)
		if err := l.normalise(fmt.Sprintf("%slayers[%d]", prefix, i)); err != nil {
			return b, err
		}
	}
	if err := check(b.TimeZone, b.layers(), prefix); err != nil {
		return b, err
	}
	var err error
	b.Notify, err = b.Notify.normalise(prefix + "notify")
	return b, err
}

// layers returns the layers as they are stored.
func (b Body) layers() []LayerConfig {
	all := make([]LayerConfig, len(b.Layers))
	for i := range b.Layers {
		all[i] = b.Layers[i].LayerConfig
	}
	return all
}

// text returns fault.Invalid for a text of more than most characters, or with U+0000, which PostgreSQL cannot store.
func text(field, s string, most int) error {
	if n := utf8.RuneCountInString(s); n > most {
		return fault.Invalid(field, "must have at most %d characters, got %d", most, n)
	}
	if strings.ContainsRune(s, 0) {
		return fault.Invalid(field, "must not hold the character U+0000")
	}
	return nil
}

// applyTo copies the members that are set in a normalised body to a stored schedule. The notification's secrets are not
// sealed yet.
func (b Body) applyTo(s *stored) {
	if b.ScheduleName != "" {
		s.Name = b.ScheduleName
	}
	configstore.SetIfSent(&s.Description, b.Description)
	configstore.SetIfSent(&s.TeamID, b.TeamID)
	configstore.SetIfSent(&s.Status, b.Status)
	configstore.SetIfSent(&s.TimeZone, b.TimeZone)
	if b.WhenAbsent != nil {
		s.WhenAbsent, _ = parseWhenAbsent("", *b.WhenAbsent) // normalise has checked it
	}
	if b.SelfService != nil {
		s.ManagedOnly = !*b.SelfService
	}
	if b.Layers != nil {
		s.Layers = b.layers()
	}
	if b.Notify != nil {
		s.Notify = b.Notify
	}
}
