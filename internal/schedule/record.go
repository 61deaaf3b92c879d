package schedule

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	bounds "tocsin/internal/configstore"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/secret"
)

// Record is a schedule in an account file (docs/account-file.md): the body of /schedule/create with the
// schedule's identity. What /schedule/info shows is accepted as it stands: members that are computed from
// others are read and not kept.
type Record struct {
	ScheduleID int64 `json:"schedule_id" doc:"Identifier of the schedule."`
	AccountID  int64 `json:"account_id,omitzero" doc:"The account of the file."`
	Body
	Layers   []RecordLayer `json:"layers,omitzero" doc:"Rotations and overrides."`
	CreateAt int64         `json:"create_at,omitzero" doc:"When it was created, Unix seconds."`
	CreateBy int64         `json:"create_by,omitzero" doc:"The person who created it."`
	UpdateAt int64         `json:"update_at,omitzero" doc:"When it was last changed, Unix seconds."`
	UpdateBy int64         `json:"update_by,omitzero" doc:"The person who last changed it."`

	ID             *int64         `json:"id,omitzero" doc:"The same as schedule_id; not kept."`
	Start          jsontext.Value `json:"start,omitzero" doc:"Not kept."`
	End            jsontext.Value `json:"end,omitzero" doc:"Not kept."`
	ScheduleLayers jsontext.Value `json:"schedule_layers,omitzero" doc:"Not kept."`
	LayerSchedules jsontext.Value `json:"layer_schedules,omitzero" doc:"Not kept."`
	FinalSchedule  jsontext.Value `json:"final_schedule,omitzero" doc:"Not kept."`
	CurOncall      jsontext.Value `json:"cur_oncall,omitzero" doc:"Not kept."`
	NextOncall     jsontext.Value `json:"next_oncall,omitzero" doc:"Not kept."`
	Warnings       jsontext.Value `json:"warnings,omitzero" doc:"Not kept."`
}

// RecordLayer is a layer in an account file. It bears the stamps of its schedule, so its own are not kept.
type RecordLayer struct {
	LayerConfig
	AccountID  int64 `json:"account_id,omitzero" doc:"The account of the file; not kept."`
	ScheduleID int64 `json:"schedule_id,omitzero" doc:"The schedule; not kept."`
	CreateAt   int64 `json:"create_at,omitzero" doc:"Not kept."`
	CreateBy   int64 `json:"create_by,omitzero" doc:"Not kept."`
	UpdateAt   int64 `json:"update_at,omitzero" doc:"Not kept."`
	UpdateBy   int64 `json:"update_by,omitzero" doc:"Not kept."`
}

// Load writes the schedules of an account file into an account that has none of them. The first value
// that cannot be accepted is reported as InvalidParameter with its path, such as
// schedules[3].layers[0].mode. Nothing may be kept of the transaction after an error.
func Load(tx *db.Tx, keyring *secret.Keyring, account int64, records []Record) error {
	for i, r := range records {
		path := fmt.Sprintf("schedules[%d].", i)
		s, err := r.stored(account, path)
		if err != nil {
			return err
		}
		if err := bounds.PathOf("schedules", i).Bounds(r); err != nil {
			return err
		}
		if s.Notify, err = s.Notify.sealed(keyring, s.Stamps); err != nil {
			return err
		}
		fresh, err := s.insert(tx)
		if err != nil {
			return err
		}
		if !fresh {
			return fault.Invalid(path+"schedule_id", "there is another schedule %d in the account", s.ScheduleID)
		}
		if err := s.refer(tx); err != nil {
			return err
		}
	}
	return nil
}

// stored is the schedule that a record describes, its secrets in clear.
func (r Record) stored(account int64, path string) (*stored, error) {
	if r.ScheduleID < 1 {
		return nil, fault.Invalid(path+"schedule_id", "must be at least 1, got %d", r.ScheduleID)
	}
	if r.ID != nil && *r.ID != r.ScheduleID {
		return nil, fault.Invalid(path+"id", "must be the same as schedule_id %d, got %d", r.ScheduleID, *r.ID)
	}
	if err := same(path+"account_id", r.AccountID, account); err != nil {
		return nil, err
	}
	for i, l := range r.Layers {
		if err := same(fmt.Sprintf("%slayers[%d].account_id", path, i), l.AccountID, account); err != nil {
			return nil, err
		}
		if err := same(fmt.Sprintf("%slayers[%d].schedule_id", path, i), l.ScheduleID, r.ScheduleID); err != nil {
			return nil, err
		}
		r.Body.Layers = append(r.Body.Layers, l.LayerConfig)
	}
	body, err := r.Body.settle(path)
	if err != nil {
		return nil, err
	}
	if body.ScheduleName == "" {
		return nil, fault.Invalid(path+"schedule_name", "is required, 1 to %d characters", maxName)
	}
	s := &stored{Stamps: Stamps{account, r.ScheduleID, r.CreateAt, r.CreateBy, r.UpdateAt, r.UpdateBy}}
	body.onto(s)
	return s, nil
}

// same holds an identifier that need not be there against the one it stands beneath.
func same(path string, got, want int64) error {
	if got != 0 && got != want {
		return fault.Invalid(path, "must be %d as everywhere around it, got %d", want, got)
	}
	return nil
}

// Dump is an account's schedules as Load reads them, by schedule_id. Without secrets those of webhooks
// are empty. Members that are not set, which for most is the same as 0 or empty, are absent.
func Dump(tx *db.Tx, keyring *secret.Keyring, account int64, secrets bool) ([]Record, error) {
	all, err := db.All(tx, row(account, false), `SELECT `+columns+` FROM schedule WHERE account_id = $1 ORDER BY schedule_id`, account)
	if err != nil {
		return nil, err
	}
	records := make([]Record, len(all))
	for i, s := range all {
		if s.Notify != nil {
			if s.Notify, err = s.Notify.shown(keyring.Open, s.Stamps, secrets); err != nil {
				return nil, err
			}
		}
		records[i] = s.record()
	}
	return records, nil
}

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
	for _, l := range s.Layers {
		r.Layers = append(r.Layers, RecordLayer{LayerConfig: l})
	}
	return r
}

func unlessZero[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}
