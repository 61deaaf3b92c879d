package absence

import (
	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/configstore"
	"tocsin/internal/core/oncall"
	"tocsin/internal/platform/fault"
)

// Bounds of absences.
const (
	maxAbsences = 100         // of one person that are not past
	maxPast     = 100         // of one person that are; beyond that the oldest are deleted
	maxSpan     = 400 * 86400 // seconds that one lasts
	maxAhead    = 800 * 86400 // seconds that one begins ahead
	effectSpan  = 45 * 86400  // seconds from its start for which a reply shows the effect
)

// Absence is a time in which a person cannot be on call.
type Absence struct {
	AbsenceID int64  `json:"absence_id" doc:"Identifier of the absence."`
	AccountID int64  `json:"account_id" required:"false" doc:"Owning account."`
	PersonID  int64  `json:"person_id" doc:"The person."`
	Start     int64  `json:"start" doc:"First second, Unix seconds."`
	End       int64  `json:"end" doc:"First second after it, Unix seconds."`
	Note      string `json:"note" required:"false" maxLength:"499" doc:"What it is; empty for callers who are not the person and may not change schedules or members."`
	CreateAt  int64  `json:"create_at" required:"false" doc:"When it was created, Unix seconds."`
	CreateBy  int64  `json:"create_by" required:"false" doc:"The person who created it."`
	UpdateAt  int64  `json:"update_at" required:"false" doc:"When it was last changed, Unix seconds."`
	UpdateBy  int64  `json:"update_by" required:"false" doc:"The person who last changed it."`
}

// Body is the part of an absence that callers write. A member that is absent or null is unset: an existing absence keeps
// its value.
type Body struct {
	Start *int64  `json:"start,omitzero" minimum:"1000000000" maximum:"9999999999" doc:"First second, Unix seconds in ten digits; at most 800 days ahead; required for a new one."`
	End   *int64  `json:"end,omitzero" minimum:"1000000000" maximum:"9999999999" doc:"First second after it: in the future, after start, and at most 400 days after it; required for a new one."`
	Note  *string `json:"note,omitzero" maxLength:"499" doc:"What it is, such as holiday; at most 499 characters."`
}

// applyTo copies the members that are set to an absence.
func (b Body) applyTo(a *Absence) {
	configstore.SetIfSent(&a.Start, b.Start)
	configstore.SetIfSent(&a.End, b.End)
	configstore.SetIfSent(&a.Note, b.Note)
}

// check returns fault.Invalid for the first member that is out of its bounds at any time.
func (a *Absence) check(at configstore.RecordPath) error {
	switch {
	case a.Start < 1:
		return at.Invalid("start", "must be at least 1, got %d", a.Start)
	case a.End <= a.Start:
		return at.Invalid("end", "must be after start %d, got %d", a.Start, a.End)
	case a.End-a.Start > maxSpan:
		return at.Invalid("end", "must be at most %d days after start %d, got %d", maxSpan/86400, a.Start, a.End)
	}
	return at.Length("note", a.Note, 0, 499)
}

// checkNow returns fault.Invalid for an absence that is past or too far ahead, or that is one too many beside the others
// of the person.
func (a *Absence) checkNow(others []Absence, now int64) error {
	switch {
	case a.End <= now:
		return fault.Invalid("end", "must be after the present moment %d, got %d", now, a.End)
	case a.Start > now+maxAhead:
		return fault.Invalid("start", "must be at most %d days after the present moment %d, got %d", maxAhead/86400, now, a.Start)
	}
	live := 0
	for _, o := range others {
		if o.AbsenceID != a.AbsenceID && o.End > now {
			live++
		}
	}
	if live >= maxAbsences {
		return fault.Invalid("person_id", "person %d has %d absences that are not past, and at most %d are allowed", a.PersonID, live,
			maxAbsences)
	}
	return nil
}

// mayPlan reports whether the caller may write the absences of others, and read their notes: schedules are planned with
// them, and members managed.
func mayPlan(who auth.Principal) bool {
	return who.May(auth.SchedulesManage) || who.May(auth.MembersManage)
}

// permit returns fault.AccessDenied for a caller who may not write absences of a person. The person's own need no
// permission, except of a narrowed key.
func permit(c *api.Call, person int64) error {
	if mayPlan(c.Who) || person == c.Who.PersonID && !c.Who.Narrowed {
		return nil
	}
	return fault.Denied("the absences of another person need %s or %s", auth.SchedulesManage, auth.MembersManage)
}

// engine returns absences as the engine computes them.
func engine(list []Absence) []oncall.Absence {
	out := make([]oncall.Absence, len(list))
	for i, a := range list {
		out[i] = oncall.Absence{PersonID: a.PersonID, Start: a.Start, End: a.End}
	}
	return out
}

// Changed is the part that the replies of all changes of absences have.
type Changed struct {
	DryRun  bool     `json:"dry_run,omitzero" doc:"Nothing was changed; the other members show the effect."`
	Start   int64    `json:"start" doc:"Start of the compared window, Unix seconds: the time of the call, or the start of the absence if that is later."`
	End     int64    `json:"end" doc:"Its end, Unix seconds: the end of the absence, at most 45 days later."`
	Effects []Effect `json:"effects" doc:"What it changes in each schedule that names the person; schedules without a change are left out."`
	api.Warnings
}
