package insight

import (
	"slices"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/changeevent"
	"tocsin/internal/channel"
	"tocsin/internal/core/insight"
	"tocsin/internal/platform/fault"
	"tocsin/internal/schedule"
)

// Report is the reply of a report.
type Report[T any] struct {
	Items []T   `json:"items" doc:"The rows, by time."`
	Total int64 `json:"total" doc:"How many there are."`
}

func newReport[T any](items []T) Report[T] { return Report[T]{items, int64(len(items))} }

// ChangeRequest asks what changed: in systems, and in who is on call.
type ChangeRequest struct {
	Window
	Step        string  `json:"step,omitzero" enum:"day,week,month" doc:"A row for each day, week from Monday, or month; absent: one for the window."`
	ChannelIDs  []int64 `json:"channel_ids,omitzero" maxItems:"100" doc:"Only changes of integrations of these channels."`
	ScheduleIDs []int64 `json:"schedule_ids,omitzero" maxItems:"20" doc:"Schedules whose handoffs are counted and listed."`
}

// Check holds the request against its bounds.
func (in ChangeRequest) Check() error { return in.Window.Check() }

// ChangeRow counts changes.
type ChangeRow struct {
	TS             int64 `json:"ts" doc:"When the day, week or month begins; without step, the start of the window. Unix seconds."`
	ChangeCnt      int64 `json:"change_cnt" doc:"Changes of systems that began."`
	ChangeEventCnt int64 `json:"change_event_cnt" doc:"Their events, at most the latest 50 of each."`
	HandoffCnt     int64 `json:"handoff_cnt" doc:"Moments at which other persons were on call than before, in the schedules of the request."`
}

// Handoff is a moment at which other persons were on call than before.
type Handoff struct {
	ScheduleID   int64   `json:"schedule_id" doc:"The schedule."`
	ScheduleName string  `json:"schedule_name" doc:"Its name."`
	At           int64   `json:"at" doc:"When, Unix seconds."`
	From         []int64 `json:"from_person_ids" doc:"Who was on call before; empty: no one."`
	To           []int64 `json:"to_person_ids" doc:"Who was on call then; empty: no one."`
}

// ChangeReport is the reply of the report.
type ChangeReport struct {
	Report[ChangeRow]
	Handoffs []Handoff `json:"handoffs" doc:"The handoffs of the schedules, by schedule and time, as their rotations and overrides are now."`
}

// maxHandoffs bounds how many handoffs a report lists.
const maxHandoffs = 10_000

// changes answers /report/oncall/changes.
func (s *Service) changes(c *api.Call, in ChangeRequest) (reply ChangeReport, err error) {
	zone, err := in.zone(c.Who.Zone)
	if err != nil {
		return reply, err
	}
	if len(in.ScheduleIDs) > 0 && !c.Who.MayAny([]auth.Permission{auth.SchedulesRead}) {
		return reply, fault.Denied("this key lacks the permission %s, which schedule_ids needs", auth.SchedulesRead)
	}
	buckets := insight.Buckets{Unit: in.Step, Zone: zone}
	rows, index := []ChangeRow{{TS: in.StartTime}}, map[int64]int{}
	if in.Step != "" {
		rows = rows[:0]
		for n, ts := range buckets.All(in.StartTime, in.EndTime) {
			rows = append(rows, ChangeRow{TS: ts})
			index[ts] = n
		}
	}
	row := func(at int64) *ChangeRow { return &rows[index[buckets.Start(at)]] }
	err = eachChange(c, in, func(change *changeevent.Change) {
		r := row(change.StartTime)
		r.ChangeCnt++
		r.ChangeEventCnt += int64(len(change.Events))
	})
	if err != nil {
		return reply, err
	}
	reply.Handoffs = []Handoff{}
	schedules := slices.Clone(in.ScheduleIDs)
	slices.Sort(schedules)
	for _, id := range slices.Compact(schedules) {
		list, name, found, err := schedule.Handoffs(c.Tx, c.Who.AccountID, id, in.StartTime, in.EndTime, c.Who.Zone)
		if err != nil {
			return reply, err
		}
		if !found {
			return reply, fault.Missing("schedule", id)
		}
		if len(reply.Handoffs)+len(list) > maxHandoffs {
			return reply, fault.Invalid("end_time", "the window has more than %d handoffs; choose a shorter one, or fewer schedules", maxHandoffs)
		}
		for _, h := range list {
			row(h.At).HandoffCnt++
			reply.Handoffs = append(reply.Handoffs, Handoff{id, name, h.At, h.From, h.To})
		}
	}
	reply.Report = newReport(rows)
	return reply, nil
}

// eachChange calls fn for each change of the window that the caller may read.
func eachChange(c *api.Call, in ChangeRequest, fn func(*changeevent.Change)) error {
	hidden, err := channel.Hidden(c.Tx, c.Who)
	if err != nil {
		return err
	}
	at, id := in.StartTime-1, ""
	for read := 0; ; {
		if err := c.Ctx.Err(); err != nil {
			return err
		}
		found, err := changeevent.After(c.Tx, c.Who.AccountID, in.StartTime, in.EndTime, in.ChannelIDs, hidden, at, id, page)
		if err != nil {
			return err
		}
		if read += len(found); read > maxRows {
			return tooMany("changes")
		}
		for n := range found {
			fn(&found[n])
			at, id = found[n].StartTime, found[n].ChangeID
		}
		if len(found) < page {
			return nil
		}
	}
}

// reports returns the operations of reports.
func (s *Service) reports() []api.Op {
	return []api.Op{
		{Path: "/report/oncall/notifications",
			Doc: "Counts the messages that were sent, by method, and how many of them disturbed nights and weekends.",
			Notes: "Messages are counted when they were sent, also those about shifts, which are about no incident. A message about several " +
				"incidents counts once. Notifications are kept for --event-days.",
			Example: `{"start_time": 1776000000, "end_time": 1776600000, "step": "day"}`, Do: computed(s, s.notifications)},
		{Path: "/report/oncall/changes", Errors: api.Missing("schedule"), Allow: []auth.Permission{auth.ChannelsRead},
			Doc:     "Counts changes of systems, and the handoffs of schedules.",
			Notes:   "schedule_ids needs Schedules Read (on-call). Changes of private channels that the caller may not read do not count.",
			Example: `{"start_time": 1776000000, "end_time": 1776600000, "step": "day"}`, Do: computed(s, s.changes)},
	}
}
