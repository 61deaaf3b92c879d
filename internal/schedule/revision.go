package schedule

import (
	"fmt"

	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// IfRevision is embedded in the request of a change that must not undo another one.
type IfRevision struct {
	Expected int64 `json:"if_revision,omitzero" minimum:"1" doc:"Change it only if this is the schedule's revision; else the reply is RequestVerifyFailed with the present one. Absent: whatever it is."`
}

// check returns fault.Outdated unless the schedule has the revision of the request.
func (r IfRevision) check(s *stored) error {
	if r.Expected == 0 || r.Expected == s.Revision {
		return nil
	}
	return &fault.Error{Kind: fault.Outdated, Newer: s.Revision,
		Message: fmt.Sprintf("schedule %d has revision %d by now, and if_revision is %d", s.ScheduleID, s.Revision, r.Expected)}
}

// Revised is embedded in the reply of a change.
type Revised struct {
	Revision int64 `json:"revision" doc:"The schedule's revision after it; with dry_run as it is."`
}

// revise counts a change of the schedule's overrides.
func (s *stored) revise(tx *db.Tx) error {
	s.Revision++
	err := tx.Do(`UPDATE schedule SET revision = $1 WHERE account_id = $2 AND schedule_id = $3`, s.Revision, s.AccountID, s.ScheduleID)
	if err != nil {
		return err
	}
	return configstore.BumpRevision(tx, s.AccountID)
}
