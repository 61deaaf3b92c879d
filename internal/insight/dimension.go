package insight

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"tocsin/internal/alert"
	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/core/insight"
	"tocsin/internal/incident"
	"tocsin/internal/platform/db"
)

// Request asks for figures of incidents.
type Request struct {
	Filter
	Divided
}

// Check holds the request against its bounds.
func (in Request) Check() error {
	if err := in.Filter.Check(); err != nil {
		return err
	}
	return in.Divided.check(in.Window)
}

// Row is what the figures of a row are about.
type Row struct {
	AccountID     int64  `json:"account_id,omitzero" doc:"The account."`
	TeamID        int64  `json:"team_id,omitzero" doc:"The team that owns the channel now; absent: none does."`
	TeamName      string `json:"team_name,omitzero" doc:"Its name."`
	ChannelID     int64  `json:"channel_id,omitzero" doc:"The channel; absent: incidents of none."`
	ChannelName   string `json:"channel_name,omitzero" doc:"Its name; absent when it is gone."`
	ResponderID   int64  `json:"responder_id,omitzero" doc:"The person."`
	ResponderName string `json:"responder_name,omitzero" doc:"The name; absent when the person is gone."`
	Email         string `json:"email,omitzero" doc:"E-mail address."`
	TS            int64  `json:"ts,omitzero" doc:"With aggregate_unit: when the day, week or month begins, Unix seconds."`
	Hours         string `json:"hours,omitzero" enum:"work,sleep,off" doc:"With split_hours: the hours in which the incidents began."`
}

// Handled holds the figures that rows of all dimensions have.
type Handled struct {
	TotalIncidentCnt               int64   `json:"total_incident_cnt" doc:"Incidents that began."`
	TotalIncidentsAcknowledged     int64   `json:"total_incidents_acknowledged" doc:"Of them acknowledged at some time."`
	TotalIncidentsReassigned       int64   `json:"total_incidents_reassigned" doc:"Of them assigned to others afterwards."`
	TotalIncidentsEscalated        int64   `json:"total_incidents_escalated" doc:"Of them escalated beyond the first step."`
	TotalIncidentsTimeoutEscalated int64   `json:"total_incidents_timeout_escalated" doc:"Of them by time."`
	TotalIncidentsManuallyEscal    int64   `json:"total_incidents_manually_escalated" doc:"Of them by a person."`
	TotalInterruptions             int64   `json:"total_interruptions" doc:"Times at which a person was interrupted: by a message over another method than e-mail; messages of one incident within a minute count once."`
	TotalSleepInterruptions        int64   `json:"total_sleep_interruptions" doc:"Of them between 22:00 and 06:00 in the person's time zone."`
	TotalNotifications             int64   `json:"total_notifications" doc:"Messages that were sent about them."`
	TotalEngagedSeconds            int64   `json:"total_engaged_seconds" doc:"Seconds between acknowledgements and ends, of all persons together, without snoozes."`
	TotalSecondsToAck              int64   `json:"total_seconds_to_ack" doc:"Sum of the seconds until the first acknowledgement."`
	MeanSecondsToAck               float64 `json:"mean_seconds_to_ack" doc:"Mean of the acknowledged ones (MTTA); 0 without any."`
	AcknowledgementPct             float64 `json:"acknowledgement_pct" doc:"Share of the acknowledged ones, 0 to 100."`
}

// Dimension is a row about the account, a team or a channel.
type Dimension struct {
	Row
	Handled
	TotalIncidentsClosed         int64   `json:"total_incidents_closed" doc:"Incidents that are closed now, without those that were merged into others."`
	TotalIncidentsAutoClosed     int64   `json:"total_incidents_auto_closed" doc:"Of them because their alerts were over."`
	TotalIncidentsManuallyClosed int64   `json:"total_incidents_manually_closed" doc:"Of them by a person."`
	TotalIncidentsTimeoutClosed  int64   `json:"total_incidents_timeout_closed" doc:"Of them after the time that the channel sets."`
	TotalIncidentsMerged         int64   `json:"total_incidents_merged" doc:"Incidents that were merged into others; they have no end of their own."`
	TotalSecondsToClose          int64   `json:"total_seconds_to_close" doc:"Sum of the seconds from their beginning to their end."`
	MeanSecondsToClose           float64 `json:"mean_seconds_to_close" doc:"Mean of the closed ones (MTTR); 0 without any."`
	NoiseReductionPct            float64 `json:"noise_reduction_pct" doc:"Share of the events that opened no incident, 0 to 100; 0 without events."`
	TotalAlertCnt                int64   `json:"total_alert_cnt" doc:"Alerts of the incidents."`
	TotalAlertEventCnt           int64   `json:"total_alert_event_cnt" doc:"Events of these alerts."`
}

// Responder is a row about a person who was responsible or was notified.
type Responder struct {
	Row
	Handled
}

// key identifies a row: the team, channel or person, and its part of the window.
type key struct {
	ts    int64
	id    int64
	hours string
}

// totals are the figures of all rows.
type totals map[key]*insight.Total

// of returns the figures of a row.
func (t totals) of(k key) *insight.Total {
	if t[k] == nil {
		t[k] = &insight.Total{}
	}
	return t[k]
}

// order returns the rows by time, then by what they are about.
func (t totals) order() []key {
	return slices.SortedFunc(maps.Keys(t), func(a, b key) int {
		return cmp.Or(cmp.Compare(a.ts, b.ts), cmp.Compare(a.id, b.id), -cmp.Compare(a.hours, b.hours)) // work, sleep, off
	})
}

// part returns the part of the window that an incident is counted in: by its beginning.
func (q *query) part(in Divided, i *incident.Incident) key {
	k := key{ts: insight.Buckets{Unit: in.AggregateUnit, Zone: q.zone}.Start(i.StartTime)}
	if in.SplitHours {
		k.hours = insight.HoursOf(i.StartTime, q.zone)
	}
	return k
}

// source is what rows are computed for: a caller at a moment.
type source struct {
	ctx context.Context
	tx  *db.Tx
	who auth.Principal
	now int64
}

func sourceOf(c *api.Call) source { return source{c.Ctx, c.Tx, c.Who, c.Unix()} }

// dimensions computes rows about what by returns of an incident, and names them.
func (s source) dimensions(in Request, by func(*query, *incident.Incident) (int64, error), name func(*query, int64) (Row, error)) (
	reply api.Items[Dimension], err error,
) {
	reply, _, err = s.withTotal(in, by, name)
	return reply, err
}

// withTotal computes the rows of dimensions, and the figures of all incidents together.
func (s source) withTotal(in Request, by func(*query, *incident.Incident) (int64, error), name func(*query, int64) (Row, error)) (
	reply api.Items[Dimension], whole insight.Total, err error,
) {
	q, err := open(s.ctx, s.tx, s.who, s.now, in.Filter)
	if err != nil {
		return reply, whole, err
	}
	sums := totals{}
	err = q.walk(func(i *incident.Incident, f *insight.Figures) error {
		k := q.part(in.Divided, i)
		k.id, err = by(q, i)
		if err != nil {
			return err
		}
		count, err := alert.CountOf(q.tx, q.account, i.IncidentID)
		sums.of(k).Add(f, count.Alerts, count.Events)
		whole.Add(f, count.Alerts, count.Events)
		return err
	})
	if err != nil {
		return reply, whole, err
	}
	reply.Items = []Dimension{}
	for _, k := range sums.order() {
		row, err := name(q, k.id)
		if err != nil {
			return reply, whole, err
		}
		row.TS, row.Hours = k.ts, k.hours
		reply.Items = append(reply.Items, dimension(row, sums[k]))
	}
	return reply, whole, nil
}

func handled(t *insight.Total) Handled {
	return Handled{
		TotalIncidentCnt: t.Incidents, TotalIncidentsAcknowledged: t.Acknowledged, TotalIncidentsReassigned: t.Reassigned,
		TotalIncidentsEscalated: t.Escalated, TotalIncidentsTimeoutEscalated: t.TimeoutEscalated,
		TotalIncidentsManuallyEscal: t.ManuallyEscalated, TotalInterruptions: t.Interruptions,
		TotalSleepInterruptions: t.SleepInterruptions, TotalNotifications: t.Notifications, TotalEngagedSeconds: t.EngagedSeconds,
		TotalSecondsToAck: t.SecondsToAck, MeanSecondsToAck: t.MeanSecondsToAck(), AcknowledgementPct: t.AcknowledgementPct(),
	}
}

func dimension(row Row, t *insight.Total) Dimension {
	return Dimension{
		Row: row, Handled: handled(t),
		TotalIncidentsClosed: t.Closed, TotalIncidentsAutoClosed: t.AutoClosed, TotalIncidentsManuallyClosed: t.ManuallyClosed,
		TotalIncidentsTimeoutClosed: t.TimeoutClosed, TotalIncidentsMerged: t.Merged,
		TotalSecondsToClose: t.SecondsToClose, MeanSecondsToClose: t.MeanSecondsToClose(),
		NoiseReductionPct: t.NoiseReductionPct(), TotalAlertCnt: t.Alerts, TotalAlertEventCnt: t.Events,
	}
}
