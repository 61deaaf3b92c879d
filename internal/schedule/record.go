package schedule

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/secret"
)

// Record is a schedule in an account file (docs/account-file.md): the body of /schedule/create with the schedule's
// identity. A reply of /schedule/info is a valid record: computed members are read but not stored.
type Record struct {
	ScheduleID int64 `json:"schedule_id" doc:"Identifier of the schedule."`
	AccountID  int64 `json:"account_id,omitzero" doc:"The account of the file."`
	Body
	CreateAt int64 `json:"create_at,omitzero" doc:"When it was created, Unix seconds."`
	CreateBy int64 `json:"create_by,omitzero" doc:"The person who created it."`
	UpdateAt int64 `json:"update_at,omitzero" doc:"When it was last changed, Unix seconds."`
	UpdateBy int64 `json:"update_by,omitzero" doc:"The person who last changed it."`

	ID             *int64         `json:"id,omitzero" doc:"The same as schedule_id; not kept."`
	Start          jsontext.Value `json:"start,omitzero" doc:"Not kept."`
	End            jsontext.Value `json:"end,omitzero" doc:"Not kept."`
	ScheduleLayers jsontext.Value `json:"schedule_layers,omitzero" doc:"Not kept."`
	LayerSchedules jsontext.Value `json:"layer_schedules,omitzero" doc:"Not kept."`
	FinalSchedule  jsontext.Value `json:"final_schedule,omitzero" doc:"Not kept."`
	Revision       jsontext.Value `json:"revision,omitzero" doc:"Not kept: a schedule that is loaded has a later one than before."`
	Overrides      jsontext.Value `json:"overrides,omitzero" doc:"Not kept: they are in schedule_overrides."`
	CurOncall      jsontext.Value `json:"cur_oncall,omitzero" doc:"Not kept."`
	NextOncall     jsontext.Value `json:"next_oncall,omitzero" doc:"Not kept."`
	Warnings       jsontext.Value `json:"warnings,omitzero" doc:"Not kept."`
}

// Load inserts the schedules of an account file into an account that has none of them. It returns InvalidParameter for the
// first invalid value, with its path, such as schedules[3].layers[0].mode. The caller must roll the transaction back after
// an error.
func Load(tx *db.Tx, keyring *secret.Keyring, account int64, records []Record) error {
	for i, r := range records {
		path := fmt.Sprintf("schedules[%d].", i)
		s, err := r.stored(account, path)
		if err != nil {
			return err
		}
		s.Notify, err = s.Notify.sealed(keyring, s.Stamps)
		if err != nil {
			return err
		}
		s.Revision, err = configstore.Revision(tx, account)
		if err != nil {
			return err
		}
		s.Revision++ // insert increments the account's; no schedule of the account has had a higher one
		fresh, err := s.insert(tx)
		if err != nil {
			return err
		}
		if !fresh {
			return fault.Invalid(path+"schedule_id", "there is another schedule %d in the account", s.ScheduleID)
		}
		if err := needCalendars(tx, account, s.Layers, path); err != nil {
			return err
		}
		from, to := s.references()
		if err := configstore.AddReferences(tx, account, from, to...); err != nil {
			return err
		}
	}
	return nil
}

// stored returns the schedule of a record. Its secrets are not sealed yet.
func (r Record) stored(account int64, path string) (*stored, error) {
	if r.ScheduleID < 1 {
		return nil, fault.Invalid(path+"schedule_id", "must be at least 1, got %d", r.ScheduleID)
	}
	if r.ID != nil && *r.ID != r.ScheduleID {
		return nil, fault.Invalid(path+"id", "must be the same as schedule_id %d, got %d", r.ScheduleID, *r.ID)
	}
	if err := matches(path+"account_id", r.AccountID, account); err != nil {
		return nil, err
	}
	for i, l := range r.Layers {
		if err := matches(fmt.Sprintf("%slayers[%d].account_id", path, i), l.AccountID, account); err != nil {
			return nil, err
		}
		if err := matches(fmt.Sprintf("%slayers[%d].schedule_id", path, i), l.ScheduleID, r.ScheduleID); err != nil {
			return nil, err
		}
	}
	body, err := r.Body.normalise(path)
	if err != nil {
		return nil, err
	}
	if body.ScheduleName == "" {
		return nil, fault.Invalid(path+"schedule_name", "is required, 1 to %d characters", maxName)
	}
	s := &stored{Stamps: Stamps{account, r.ScheduleID, r.CreateAt, r.CreateBy, r.UpdateAt, r.UpdateBy}}
	body.applyTo(s)
	return s, nil
}

// matches returns fault.Invalid for an optional identifier, 0 when absent, that differs from that of its parent.
func matches(path string, got, want int64) error {
	if got != 0 && got != want {
		return fault.Invalid(path, "must be %d, the same as its parent, got %d", want, got)
	}
	return nil
}

// Dump returns an account's schedules as Load reads them, by schedule_id. Without secrets the webhooks' secrets are empty.
// Members that are not set are absent; for most that is the same as 0 or empty.
func Dump(tx *db.Tx, keyring *secret.Keyring, account int64, secrets bool) ([]Record, error) {
	all, err := db.All(tx, scanRow(account, false), `SELECT `+columns+` FROM schedule WHERE account_id = $1 ORDER BY schedule_id`, account)
	if err != nil {
		return nil, err
	}
	records := make([]Record, len(all))
	for i, s := range all {
		if s.Notify != nil {
			s.Notify, err = s.Notify.shown(keyring.Open, s.Stamps, secrets)
			if err != nil {
				return nil, err
			}
		}
		records[i] = s.record()
	}
	return records, nil
}

// record returns the schedule as a record of the account file.
func (s *stored) record() Record {
	r := Record{
		ScheduleID: s.ScheduleID, AccountID: s.AccountID,
		Body: Body{
			ScheduleName: s.Name, Name: s.Name, Description: unlessZero(s.Description),
			TeamID: unlessZero(s.TeamID), GroupID: unlessZero(s.TeamID), Status: unlessZero(s.Status), Disabled: unlessZero(s.Status),
			TimeZone: unlessZero(s.TimeZone), Notify: s.Notify,
		},
		CreateAt: s.CreateAt, CreateBy: s.CreateBy, UpdateAt: s.UpdateAt, UpdateBy: s.UpdateBy,
	}
	if s.WhenAbsent != 0 {
		r.WhenAbsent = &whenAbsent[s.WhenAbsent]
	}
	if s.ManagedOnly {
		r.SelfService = new(bool)
	}
	for _, l := range s.Layers {
		r.Layers = append(r.Layers, WrittenLayer{LayerConfig: l})
	}
	return r
}

// unlessZero returns nil for the zero value, and else a pointer to v.
func unlessZero[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}
