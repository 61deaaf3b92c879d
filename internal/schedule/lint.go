package schedule

import (
	"time"

	"tocsin/internal/api"
	"tocsin/internal/configstore"
	"tocsin/internal/core/lint"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// maxChecked is how many schedules one call checks.
const maxChecked = 500

type lintRequest struct {
	ScheduleIDs []int64 `json:"schedule_ids,omitzero" maxItems:"500" doc:"The schedules to check; absent or empty: all of the account, the first 500 by schedule_id."`
}

// Linted is the reply of /schedule/lint.
type Linted struct {
	Items    []lint.Finding `json:"items" doc:"The findings, by schedule; persons who are on call in several schedules at once come last."`
	Total    int64          `json:"total" doc:"How many there are."`
	Checked  int64          `json:"checked" doc:"How many schedules were checked."`
	Complete bool           `json:"complete" doc:"Whether all schedules that were asked for were checked, and all persons in several of them found."`
}

// lint answers /schedule/lint.
func (r *Service) lint(c *api.Call, in lintRequest) (reply Linted, err error) {
	reply.Complete = true
	ids := distinct(in.ScheduleIDs)
	if len(ids) == 0 {
		ids, err = all(c.Tx, c.Who.AccountID)
		if err != nil {
			return reply, err
		}
		if len(ids) > maxChecked {
			ids, reply.Complete = ids[:maxChecked], false
		}
	}
	for _, id := range ids {
		if _, err := get(c.Tx, c.Who.AccountID, id); err != nil {
			return reply, err
		}
	}
	schedules, err := Checked(c.Tx, c.Who.AccountID, ids, c.Who.Zone)
	if err != nil {
		return reply, err
	}
	reply.Items = []lint.Finding{}
	for i := range schedules {
		reply.Items = append(reply.Items, lint.OfSchedule(&schedules[i], c.Unix())...)
	}
	across, complete := lint.Across(schedules, c.Unix(), c.Who.Zone)
	reply.Items = append(reply.Items, across...)
	reply.Complete = reply.Complete && complete
	reply.Total, reply.Checked = int64(len(reply.Items)), int64(len(schedules))
	return reply, nil
}

func all(tx *db.Tx, account int64) ([]int64, error) {
	return db.All(tx, db.Column[int64], `SELECT schedule_id FROM schedule WHERE account_id = $1 ORDER BY schedule_id`, account)
}

// Checked returns schedules as they are checked, in the order of the ids. A schedule that does not exist is left out.
func Checked(tx *db.Tx, account int64, ids []int64, zone *time.Location) (list []lint.Schedule, err error) {
	for _, id := range ids {
		s, err := find(tx, account, id)
		if err != nil {
			return nil, err
		}
		if s == nil {
			continue
		}
		names, err := personNames(tx, account, s.persons())
		if err != nil {
			return nil, err
		}
		checked, err := s.checked(names, zone)
		if err != nil {
			return nil, err
		}
		rules, err := configstore.Sources(tx, account, configstore.Schedule, id, configstore.Escalate)
		if err != nil {
			return nil, err
		}
		checked.Pages = s.Status == 0 && len(rules) > 0
		list = append(list, checked)
	}
	return list, nil
}

// checked returns the schedule as it is checked, with the names of its persons. It does not know whether the schedule pages.
func (s *stored) checked(names map[int64]string, zone *time.Location) (lint.Schedule, error) {
	e, err := s.engine(zone)
	ref := fault.Ref{Kind: configstore.Schedule, ID: configstore.RefTo(configstore.Schedule, s.ScheduleID).ID, Name: s.Name}
	return lint.Schedule{Ref: ref, Timeline: e, Names: names}, err
}

// personNames returns the names of persons by id. Persons who do not exist or have left are left out.
func personNames(tx *db.Tx, account int64, ids []int64) (map[int64]string, error) {
	names := make(map[int64]string, len(ids))
	for _, id := range ids {
		p, found, err := person.Find(tx, account, id)
		if err != nil {
			return nil, err
		}
		if found && p.Status != "deleted" {
			names[id] = p.PersonName
		}
	}
	return names, nil
}
