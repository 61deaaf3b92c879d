package schedule

import (
	"github.com/go-json-experiment/json"

	"tocsin/internal/absence"
	"tocsin/internal/configstore"
	"tocsin/internal/core/oncall"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// stored is a schedule as the database holds it: with normalised layers and sealed secrets.
type stored struct {
	Stamps
	Name        string
	Description string
	TeamID      int64 // 0: none
	Status      int64
	TimeZone    string // empty: the account's
	WhenAbsent  int64  // an oncall.WhenAbsent
	ManagedOnly bool   // its persons do not change their shifts themselves
	Layers      []LayerConfig
	Notify      *Notify // nil: not set
	Revision    int64   // counts the changes

	overrides []Override       // in the order in which they were made
	absences  []oncall.Absence // of the persons in the layers

	calendars calendars // of the layers; nil: not read

	compiled *compiled // set in a schedule that other readers share; nil: the schedule may be changed
}

// scheduleKey is the cache key of a schedule.
type scheduleKey struct{ id int64 }

const columns = `schedule_id, schedule_name, description, team_id, status, time_zone, when_absent, managed_only, layers, notify,
	create_at, create_by, update_at, update_by, revision`

// scanRow returns a function that reads the columns of a schedule; brief leaves the layers out. Who is on call is only
// known after attach.
func scanRow(account int64, brief bool) func(db.Scan) (*stored, error) {
	return func(scan db.Scan) (*stored, error) {
		s := &stored{}
		s.AccountID = account
		var layers, notify string
		var managedOnly int64
		err := scan(&s.ScheduleID, &s.Name, &s.Description, &s.TeamID, &s.Status, &s.TimeZone, &s.WhenAbsent, &managedOnly, &layers, &notify,
			&s.CreateAt, &s.CreateBy, &s.UpdateAt, &s.UpdateBy, &s.Revision)
		if err != nil {
			return nil, err
		}
		s.ManagedOnly = managedOnly != 0
		if !brief {
			if err := json.Unmarshal([]byte(layers), &s.Layers); err != nil {
				return nil, fault.Wrap(err, "layers of schedule %d", s.ScheduleID)
			}
		}
		if notify != "" {
			if err := json.Unmarshal([]byte(notify), &s.Notify); err != nil {
				return nil, fault.Wrap(err, "notify of schedule %d", s.ScheduleID)
			}
		}
		return s, nil
	}
}

// find returns one schedule; nil when the account has none of this id. Other readers share it, so it must not be changed
// unless the transaction writes.
func find(tx *db.Tx, account, schedule int64) (*stored, error) {
	s, _, err := configstore.Kept(tx, account, scheduleKey{schedule}, func() (*stored, bool, error) {
		s, found, err := db.One(tx, scanRow(account, false), `SELECT `+columns+` FROM schedule WHERE account_id = $1 AND schedule_id = $2`,
			account,
			schedule)
		if err != nil || !found {
			return nil, found, err
		}
		if tx.Cache() != nil {
			s.compiled = &compiled{}
		}
		return s, true, s.attach(tx)
	})
	return s, err
}

// attach reads what the timeline is made of besides the schedule's own row.
func (s *stored) attach(tx *db.Tx) (err error) {
	s.overrides, err = overridesOf(tx, s.AccountID, s.ScheduleID)
	if err != nil {
		return err
	}
	if err := s.attachAbsences(tx); err != nil {
		return err
	}
	return s.readCalendars(tx, s.AccountID)
}

// attachAbsences reads the absences of the persons in the layers.
func (s *stored) attachAbsences(tx *db.Tx) (err error) {
	s.absences, err = absence.Of(tx, s.AccountID, s.persons())
	return err
}

// get returns one schedule, or fault.Missing.
func get(tx *db.Tx, account, schedule int64) (*stored, error) {
	s, err := find(tx, account, schedule)
	if err == nil && s == nil {
		err = fault.Missing("schedule", schedule)
	}
	return s, err
}

// insert stores a new schedule; it returns false when the id is taken.
func (s *stored) insert(tx *db.Tx) (bool, error) {
	layers, notify, err := s.documents()
	if err != nil {
		return false, err
	}
	n, err := tx.Exec(`INSERT INTO schedule (account_id, schedule_id, schedule_name, name_folded, description, team_id, status, time_zone,
		when_absent, managed_only, layers, notify, create_at, create_by, update_at, update_by, revision)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17) ON CONFLICT DO NOTHING`,
		s.AccountID, s.ScheduleID, s.Name, db.Fold(s.Name), s.Description, s.TeamID, s.Status, s.TimeZone, s.WhenAbsent, number(s.ManagedOnly),
		layers, notify, s.CreateAt, s.CreateBy, s.UpdateAt, s.UpdateBy, s.Revision)
	if err != nil || n == 0 {
		return false, err
	}
	return true, configstore.BumpRevision(tx, s.AccountID)
}

// update stores a changed schedule under its next revision.
func (s *stored) update(tx *db.Tx) error {
	layers, notify, err := s.documents()
	if err != nil {
		return err
	}
	s.Revision++
	err = tx.Do(`UPDATE schedule SET schedule_name = $1, name_folded = $2, description = $3, team_id = $4, status = $5, time_zone = $6,
		when_absent = $7, managed_only = $8, layers = $9, notify = $10, update_at = $11, update_by = $12, revision = $13
		WHERE account_id = $14 AND schedule_id = $15`,
		s.Name, db.Fold(s.Name), s.Description, s.TeamID, s.Status, s.TimeZone, s.WhenAbsent, number(s.ManagedOnly), layers, notify, s.UpdateAt,
		s.UpdateBy, s.Revision, s.AccountID, s.ScheduleID)
	if err != nil {
		return err
	}
	return configstore.BumpRevision(tx, s.AccountID)
}

// number returns a column's number of a truth value.
func number(is bool) int64 {
	if is {
		return 1
	}
	return 0
}

// documents returns the JSON columns.
func (s *stored) documents() (layers, notify string, err error) {
	l, err := json.Marshal(s.Layers)
	if err != nil || s.Notify == nil {
		return string(l), "", err
	}
	n, err := json.Marshal(s.Notify)
	return string(l), string(n), err
}
