package insight

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"tocsin/internal/api"
	"tocsin/internal/channel"
	"tocsin/internal/core/insight"
	"tocsin/internal/engine/notify"
	"tocsin/internal/incident"
	"tocsin/internal/team"
)

// NotificationRequest asks how often persons were notified.
type NotificationRequest struct {
	Window
	Step       string  `json:"step,omitzero" enum:"day,week,month" doc:"A row for each day, week from Monday, or month; absent: one for the window."`
	ChannelIDs []int64 `json:"channel_ids,omitzero" maxItems:"100" doc:"Only messages about incidents of these channels."`
	PersonIDs  []int64 `json:"person_ids,omitzero" maxItems:"100" doc:"Only messages to these persons."`
	TeamIDs    []int64 `json:"team_ids,omitzero" maxItems:"100" doc:"Only messages to members of these teams."`
	GroupBy    string  `json:"group_by,omitzero" enum:"person,team" doc:"A row for each person, or for each team with its members' messages; absent: one for all."`
}

// Check holds the request against its bounds.
func (in NotificationRequest) Check() error { return in.Window.Check() }

// NotificationRow counts messages that were sent.
type NotificationRow struct {
	TS              int64     `json:"ts" doc:"When the day, week or month begins; without step, the start of the window. Unix seconds."`
	PersonID        int64     `json:"person_id,omitzero" doc:"With group_by person; absent: chats and other addresses."`
	PersonName      string    `json:"person_name,omitzero" doc:"The name."`
	TeamID          int64     `json:"team_id,omitzero" doc:"With group_by team; absent: persons in no team, chats and other addresses."`
	TeamName        string    `json:"team_name,omitzero" doc:"Its name."`
	SMSCnt          int64     `json:"sms_cnt" doc:"Text messages."`
	VoiceCnt        int64     `json:"voice_cnt" doc:"Calls."`
	EmailCnt        int64     `json:"email_cnt" doc:"E-mails."`
	AppCnt          int64     `json:"app_cnt" doc:"Messages to persons over other methods."`
	ChatCnt         int64     `json:"chat_cnt" doc:"Messages to chats, webhooks and other addresses."`
	TotalCnt        int64     `json:"total_cnt" doc:"All of them."`
	InterruptingCnt int64     `json:"interrupting_cnt" doc:"Messages to persons over another method than e-mail."`
	SleepCnt        int64     `json:"sleep_cnt" doc:"Of them between 22:00 and 06:00 in the person's time zone."`
	WeekendCnt      int64     `json:"weekend_cnt" doc:"Of them on a Saturday or Sunday there."`
	HourCnts        [24]int64 `json:"hour_cnts" doc:"Of them by hour of the day there, from 00:00."`
}

// cellOf identifies a row of a report: its part of the window, and the person or team.
type cellOf struct{ ts, id int64 }

// notifications answers /report/oncall/notifications.
func (s *Service) notifications(c *api.Call, in NotificationRequest) (reply Report[NotificationRow], err error) {
	r, err := s.newNotificationReport(c, in)
	if err != nil {
		return reply, err
	}
	if !r.none {
		if err := r.read(); err != nil {
			return reply, err
		}
	}
	if in.GroupBy == "" { // a row for each part of the window, so that charts have no holes
		for _, ts := range r.starts() {
			r.row(ts, 0)
		}
	}
	rows := []NotificationRow{}
	order := func(a, b cellOf) int { return cmp.Or(cmp.Compare(a.ts, b.ts), cmp.Compare(a.id, b.id)) }
	for _, k := range slices.SortedFunc(maps.Keys(r.rows), order) {
		row := r.rows[k]
		switch in.GroupBy {
		case "person":
			p, err := r.person(k.id)
			if err != nil {
				return reply, err
			}
			row.PersonID, row.PersonName = k.id, p.PersonName
		case "team":
			row.TeamID = k.id
			row.TeamName, err = r.team(k.id)
			if err != nil {
				return reply, err
			}
		}
		rows = append(rows, *row)
	}
	return newReport(rows), nil
}

// notificationReport is the state while messages are counted.
type notificationReport struct {
	query
	in      NotificationRequest
	buckets insight.Buckets
	hidden  []int64
	persons []int64           // whose messages count; empty: all
	member  map[int64][]int64 // teams by person
	rows    map[cellOf]*NotificationRow
	found   map[string]int64     // by incident, of the latest ones; -1: it was removed
	seen    map[seenMessage]bool // bundles of the current moment, which count as one message
}

type seenMessage struct {
	bundle, method string
	person         int64
}

func (s *Service) newNotificationReport(c *api.Call, in NotificationRequest) (r *notificationReport, err error) {
	r = &notificationReport{in: in, rows: map[cellOf]*NotificationRow{}, found: map[string]int64{}, member: map[int64][]int64{}}
	r.query = query{ctx: c.Ctx, tx: c.Tx, account: c.Who.AccountID, now: c.Unix(), home: c.Who.Zone, names: newNames()}
	r.zone, err = in.zone(c.Who.Zone)
	if err != nil {
		return nil, err
	}
	r.buckets = insight.Buckets{Unit: in.Step, Zone: r.zone}
	r.hidden, err = channel.Hidden(c.Tx, c.Who)
	if err != nil {
		return nil, err
	}
	r.persons = slices.Clone(in.PersonIDs)
	if len(in.TeamIDs) > 0 {
		members := []int64{}
		for _, id := range in.TeamIDs {
			more, err := team.Members(c.Tx, r.account, id)
			if err != nil {
				return nil, err
			}
			members = append(members, more...)
		}
		if len(in.PersonIDs) > 0 {
			members = slices.DeleteFunc(members, func(id int64) bool { return !slices.Contains(in.PersonIDs, id) })
		}
		r.persons, r.none = members, len(members) == 0
	}
	return r, nil
}

// read counts all messages of the window.
func (r *notificationReport) read() error {
	from, until := r.in.StartTime*1000, r.in.EndTime*1000
	at, id := from-1, ""
	for read := 0; ; {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		found, err := notify.SentAfter(r.tx, r.account, from, until, r.persons, at, id, page)
		if err != nil {
			return err
		}
		if read += len(found); read > maxRows {
			return tooMany("messages")
		}
		for n := range found {
			if found[n].At != at {
				r.seen = map[seenMessage]bool{}
			}
			at, id = found[n].At, found[n].ID
			if err := r.count(&found[n]); err != nil {
				return err
			}
		}
		if len(found) < page {
			return nil
		}
	}
}

// count counts one message, unless the caller may not read what it is about, or it was counted with its bundle.
func (r *notificationReport) count(d *notify.Delivered) error {
	visible, err := r.visible(d.Incident)
	if err != nil || !visible {
		return err
	}
	if d.Bundle != "" {
		k := seenMessage{d.Bundle, d.Method, d.Person}
		if r.seen[k] {
			return nil
		}
		r.seen[k] = true
	}
	zone, err := r.zoneOf(d.Person)
	if err != nil {
		return err
	}
	ts := r.in.StartTime
	if r.in.Step != "" {
		ts = r.buckets.Start(d.At / 1000)
	}
	switch r.in.GroupBy {
	case "person":
		r.row(ts, d.Person).add(d, zone)
	case "team":
		teams, err := r.teamsOf(d.Person)
		if err != nil {
			return err
		}
		for _, id := range teams {
			r.row(ts, id).add(d, zone)
		}
	default:
		r.row(ts, 0).add(d, zone)
	}
	return nil
}

func (row *NotificationRow) add(d *notify.Delivered, zone *time.Location) {
	row.TotalCnt++
	switch {
	case d.Method == "sms":
		row.SMSCnt++
	case d.Method == "voice":
		row.VoiceCnt++
	case d.Method == "email":
		row.EmailCnt++
	case d.Person != 0:
		row.AppCnt++
	default:
		row.ChatCnt++
	}
	if d.Person == 0 || !insight.Interrupts(d.Method) {
		return
	}
	at := d.At / 1000
	row.InterruptingCnt++
	row.HourCnts[time.Unix(at, 0).In(zone).Hour()]++
	if insight.Asleep(at, zone) {
		row.SleepCnt++
	}
	if insight.Weekend(at, zone) {
		row.WeekendCnt++
	}
}

// row returns a row, which is made when it is first counted in.
func (r *notificationReport) row(ts, id int64) *NotificationRow {
	k := cellOf{ts, id}
	if r.rows[k] == nil {
		r.rows[k] = &NotificationRow{TS: ts}
	}
	return r.rows[k]
}

// starts returns the parts of the window.
func (r *notificationReport) starts() []int64 {
	if r.in.Step == "" {
		return []int64{r.in.StartTime}
	}
	return r.buckets.All(r.in.StartTime, r.in.EndTime)
}

// maxChannels is how many incidents a report remembers the channels of.
const maxChannels = 10_000

// visible reports whether messages about an incident count: the caller may read its channel, and the filter selects it. An
// incident that was removed has no channel, so that only callers from whom nothing is hidden see it counted.
func (r *notificationReport) visible(id string) (bool, error) {
	if id == "" {
		return len(r.in.ChannelIDs) == 0, nil
	}
	if len(r.hidden) == 0 && len(r.in.ChannelIDs) == 0 {
		return true, nil
	}
	in, known := r.found[id]
	if !known {
		ch, found, err := incident.ChannelOf(r.tx, r.account, id)
		if err != nil {
			return false, err
		}
		in = ch
		if !found {
			in = -1
		}
		if len(r.found) >= maxChannels {
			clear(r.found)
		}
		r.found[id] = in
	}
	if in == -1 || slices.Contains(r.hidden, in) {
		return false, nil
	}
	return len(r.in.ChannelIDs) == 0 || slices.Contains(r.in.ChannelIDs, in), nil
}

// teamsOf returns the teams of a person, of those that the filter names; 0: none.
func (r *notificationReport) teamsOf(id int64) ([]int64, error) {
	if teams, known := r.member[id]; known {
		return teams, nil
	}
	teams := []int64{}
	if id != 0 {
		var err error
		teams, err = team.Of(r.tx, r.account, id)
		if err != nil {
			return nil, err
		}
	}
	if len(r.in.TeamIDs) > 0 {
		teams = slices.DeleteFunc(teams, func(id int64) bool { return !slices.Contains(r.in.TeamIDs, id) })
	}
	if len(teams) == 0 {
		teams = []int64{0}
	}
	r.member[id] = teams
	return teams, nil
}
