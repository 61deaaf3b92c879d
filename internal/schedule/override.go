package schedule

import (
	"fmt"
	"slices"
	"strconv"

	"tocsin/internal/api"
	"tocsin/internal/core/oncall"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// Bounds of overrides.
const (
	maxOverrides     = 500         // of one schedule that are not past
	maxCovered       = 1_000_000   // the overrides of a schedule times the persons whom its layers name
	maxPastOverrides = 500         // of one schedule that are; beyond that the oldest are deleted
	maxOverrideSpan  = 400 * 86400 // seconds that one lasts, and that one begins ahead
	maxReason        = 499         // characters
)

// Override is a person who is on call in a schedule in place of another, or of everyone who holds a role: a cover of the engine.
// The layers stay as they are, and so do the others of the group.
type Override struct {
	OverrideID int64  `json:"override_id" doc:"Identifier of the override."`
	AccountID  int64  `json:"account_id" required:"false" doc:"Owning account."`
	ScheduleID int64  `json:"schedule_id" doc:"The schedule."`
	PersonID   int64  `json:"person_id" required:"false" doc:"Who is replaced; 0: everyone who holds role_id."`
	RoleID     *int64 `json:"role_id" required:"false" doc:"The on-call role in which they are replaced; -1: each role that person_id holds."`
	By         int64  `json:"by" doc:"The person who is on call instead."`
	Start      int64  `json:"start" doc:"First second, Unix seconds."`
	End        int64  `json:"end" doc:"First second after it, Unix seconds."`
	Reason     string `json:"reason" required:"false" maxLength:"499" doc:"Why; may be empty."`
	Revision   int64  `json:"revision,omitzero" doc:"The schedule's revision with the last change of the override; 0: not changed since it was imported."`
	CreateAt   int64  `json:"create_at" required:"false" doc:"When it was created, Unix seconds."`
	CreateBy   int64  `json:"create_by" required:"false" doc:"The person who created it."`
	UpdateAt   int64  `json:"update_at" required:"false" doc:"When it was last changed, Unix seconds."`
	UpdateBy   int64  `json:"update_by" required:"false" doc:"The person who last changed it."`
}

// OverrideBody is the part of an override that callers write. A member that is absent or null is unset: a new override
// takes its default, an existing one keeps its value.
type OverrideBody struct {
	PersonID *int64  `json:"person_id,omitzero" minimum:"0" doc:"The person who is replaced; 0: everyone who holds role_id. One of the two is required."`
	RoleID   *int64  `json:"role_id,omitzero" minimum:"-1" doc:"The on-call role in which they are replaced: 0 primary, 1 backup, or one of the account's own; -1, and for a new one absent: each role that person_id holds."`
	By       *int64  `json:"by,omitzero" minimum:"1" doc:"The person who is on call instead; required for a new one."`
	Start    *int64  `json:"start,omitzero" minimum:"1000000000" maximum:"9999999999" doc:"First second, Unix seconds in ten digits; at most 400 days ahead; required for a new one."`
	End      *int64  `json:"end,omitzero" minimum:"1000000000" maximum:"9999999999" doc:"First second after it: in the future, after start, and at most 400 days after it; required for a new one."`
	Reason   *string `json:"reason,omitzero" maxLength:"499" doc:"Why; at most 499 characters."`
}

// required returns fault.Invalid for the first member that a new override must have and that is unset.
func (b OverrideBody) required() error {
	for _, m := range []struct {
		name  string
		value *int64
	}{{"by", b.By}, {"start", b.Start}, {"end", b.End}} {
		if m.value == nil {
			return fault.Invalid(m.name, "is required")
		}
	}
	return nil
}

// role returns the role in which the person is replaced; oncall.AnyRole: in each.
func (o *Override) role() int64 {
	if o.RoleID == nil {
		return oncall.AnyRole
	}
	return *o.RoleID
}

// check returns fault.Invalid for the first member that is out of its bounds whatever else there is. prefix precedes the
// names of members.
func (o *Override) check(prefix string) error {
	switch {
	case o.PersonID < 0:
		return fault.Invalid(prefix+"person_id", "must not be negative, got %d", o.PersonID)
	case o.role() < oncall.AnyRole:
		return fault.Invalid(prefix+"role_id", "must be at least -1, got %d", o.role())
	case o.PersonID == 0 && o.role() == oncall.AnyRole:
		return fault.Invalid(prefix+"person_id", "or role_id is required: who is replaced")
	case o.By < 1:
		return fault.Invalid(prefix+"by", "must be at least 1, got %d", o.By)
	case o.By == o.PersonID:
		return fault.Invalid(prefix+"by", "must be another person than person_id, got %d for both", o.By)
	case o.Start < 1:
		return fault.Invalid(prefix+"start", "must be at least 1, got %d", o.Start)
	case o.End <= o.Start:
		return fault.Invalid(prefix+"end", "must be after start %d, got %d", o.Start, o.End)
	case o.End-o.Start > maxOverrideSpan:
		return fault.Invalid(prefix+"end", "must be at most %d days after start %d, got %d", maxOverrideSpan/86400, o.Start, o.End)
	}
	return text(prefix+"reason", o.Reason, maxReason)
}

// checkNow returns fault.Invalid for an override that is past, too far ahead, or by a person who does not exist.
func (o *Override) checkNow(tx *db.Tx, now int64) error {
	if o.End <= now {
		return fault.Invalid("end", "must be after the present moment %d, got %d", now, o.End)
	}
	if o.Start > now+maxOverrideSpan {
		return fault.Invalid("start", "must be at most %d days after the present moment %d, got %d", maxOverrideSpan/86400, now, o.Start)
	}
	return person.Table.Need(tx, o.AccountID, "by", o.By)
}

// warnings lists what is accepted in an override but probably not meant.
func (o *Override) warnings(s *stored) (all []string) {
	roles := map[int64]bool{}
	for _, l := range s.Layers {
		for _, g := range l.Groups {
			for _, m := range g.Members {
				if len(m.PersonIDs) > 0 && (o.PersonID == 0 || slices.Contains(m.PersonIDs, o.PersonID)) {
					roles[m.RoleID] = true
				}
			}
		}
	}
	for i := range s.overrides {
		other := &s.overrides[i]
		if other.OverrideID != o.OverrideID && other.By == o.PersonID && o.PersonID != 0 {
			roles[other.role()], roles[o.role()] = true, true // who takes over by another override holds its role
		}
	}
	switch {
	case o.PersonID != 0 && len(roles) == 0:
		all = append(all, fmt.Sprintf("person_id: person %d takes no shifts in schedule %d: the override has no effect", o.PersonID,
			s.ScheduleID))
	case o.role() != oncall.AnyRole && !roles[o.role()]:
		all = append(all, fmt.Sprintf("role_id: no one to replace has role %d in schedule %d: the override has no effect", o.role(),
			s.ScheduleID))
	}
	return all
}

// covers returns the overrides as the engine computes them.
func (s *stored) covers() []oncall.Cover {
	covers := make([]oncall.Cover, len(s.overrides))
	for i := range s.overrides {
		o := &s.overrides[i]
		covers[i] = oncall.Cover{ID: o.OverrideID, Start: o.Start, End: o.End, PersonID: o.PersonID, RoleID: o.role(), By: o.By}
	}
	return covers
}

// showOverrides returns the overrides that overlap a window.
func (s *stored) showOverrides(w window) *[]Override {
	list := []Override{}
	for _, o := range s.overrides {
		if o.Start < w.to && o.End > w.from {
			list = append(list, o)
		}
	}
	return &list
}

// append appends the override as the JSON encoder would write it; see Schedule.AppendJSON.
func (o *Override) append(b []byte) []byte {
	b = strconv.AppendInt(append(b, `{"override_id":`...), o.OverrideID, 10)
	b = strconv.AppendInt(append(b, `,"account_id":`...), o.AccountID, 10)
	b = strconv.AppendInt(append(b, `,"schedule_id":`...), o.ScheduleID, 10)
	b = strconv.AppendInt(append(b, `,"person_id":`...), o.PersonID, 10)
	b = appendOptional(append(b, `,"role_id":`...), o.RoleID)
	b = strconv.AppendInt(append(b, `,"by":`...), o.By, 10)
	b = strconv.AppendInt(append(b, `,"start":`...), o.Start, 10)
	b = strconv.AppendInt(append(b, `,"end":`...), o.End, 10)
	b = appendText(append(b, `,"reason":`...), o.Reason)
	if o.Revision != 0 {
		b = strconv.AppendInt(append(b, `,"revision":`...), o.Revision, 10)
	}
	b = strconv.AppendInt(append(b, `,"create_at":`...), o.CreateAt, 10)
	b = strconv.AppendInt(append(b, `,"create_by":`...), o.CreateBy, 10)
	b = strconv.AppendInt(append(b, `,"update_at":`...), o.UpdateAt, 10)
	b = strconv.AppendInt(append(b, `,"update_by":`...), o.UpdateBy, 10)
	return append(b, '}')
}

// stamp records who changed an override, and when.
func (o *Override) stamp(c *api.Call) { o.UpdateAt, o.UpdateBy = c.Unix(), c.Who.PersonID }
