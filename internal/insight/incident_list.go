package insight

import (
	"cmp"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"tocsin/internal/api"
	"tocsin/internal/core/insight"
	"tocsin/internal/incident"
)

// Item is an incident with its figures.
type Item struct {
	IncidentID         string                    `json:"incident_id" doc:"24 hexadecimal digits."`
	Title              string                    `json:"title" doc:"What people read first."`
	Description        string                    `json:"description" doc:"What it is about."`
	TeamID             int64                     `json:"team_id" doc:"The team that owns its channel now; 0: none."`
	TeamName           string                    `json:"team_name" doc:"Its name."`
	ChannelID          int64                     `json:"channel_id" doc:"Its channel; 0: none."`
	ChannelName        string                    `json:"channel_name" doc:"Its name now; empty when it is gone."`
	Progress           string                    `json:"progress" enum:"Triggered,Processing,Closed" doc:"How far people have come with it."`
	Severity           string                    `json:"severity" enum:"Critical,Warning,Info,Ok" doc:"The highest of its alerts, unless a person set it."`
	CreatedAt          int64                     `json:"created_at" doc:"When it began, Unix seconds."`
	ClosedBy           string                    `json:"closed_by,omitzero" enum:"auto,timeout,manually,merged" doc:"How it was closed; merged: it became part of another incident; absent: it is open."`
	SecondsToAck       int64                     `json:"seconds_to_ack" doc:"From its beginning to the first acknowledgement; 0 without any."`
	SecondsToClose     int64                     `json:"seconds_to_close" doc:"From its beginning to its end; 0 while it is open, and for one that was merged."`
	EngagedSeconds     int64                     `json:"engaged_seconds" doc:"Seconds between acknowledgements and the end, of all persons together, without snoozes."`
	Hours              string                    `json:"hours" enum:"work,sleep,off" doc:"The hours in which it began."`
	Responders         []incident.Responder      `json:"responders" doc:"Who is responsible now."`
	AssignedTo         incident.AssignedTo       `json:"assigned_to" doc:"The latest assignment."`
	Labels             map[string]string         `json:"labels" doc:"Of its first alert."`
	Fields             map[string]jsontext.Value `json:"fields" doc:"Values of custom fields by name."`
	Notifications      int64                     `json:"notifications" doc:"Messages that were sent."`
	Interruptions      int64                     `json:"interruptions" doc:"Times at which a person was interrupted."`
	SleepInterruptions int64                     `json:"sleep_interruptions" doc:"Of them between 22:00 and 06:00 in the person's time zone."`
	Assignments        int64                     `json:"assignments" doc:"How often persons were made responsible."`
	Reassignments      int64                     `json:"reassignments" doc:"How often others were made responsible instead."`
	Acknowledgements   int64                     `json:"acknowledgements" doc:"How often it was acknowledged."`
	Escalations        int64                     `json:"escalations" doc:"How many further steps of its rule began."`
	TimeoutEscalations int64                     `json:"timeout_escalations" doc:"Of them by time."`
	ManualEscalations  int64                     `json:"manual_escalations" doc:"Of them by a person."`
	CreatorID          int64                     `json:"creator_id" doc:"Who made it; 0: Tocsin itself."`
	CreatorName        string                    `json:"creator_name" doc:"The name."`
	Headline           string                    `json:"headline" doc:"What is wrong now, and in brackets where, on one line: what messages and the console call it."`
}

// ListRequest asks for the incidents of figures, page by page.
type ListRequest struct {
	Filter
	api.CursorRequest
}

// Check holds the request against its bounds.
func (in ListRequest) Check() error {
	if err := in.Filter.Check(); err != nil {
		return err
	}
	return in.Page.Check()
}

// list answers /insight/incident/list. All incidents of the window are read for the exact total; the figures are
// computed for those of the page, unless the filter tests them.
func (s *Service) list(c *api.Call, in ListRequest) (reply api.CursorPage[Item], err error) {
	reply.Items = []Item{}
	q, err := open(c.Ctx, c.Tx, c.Who, c.Unix(), in.Filter)
	if err != nil {
		return reply, err
	}
	filter, err := json.Marshal(in.Filter, json.Deterministic(true))
	if err != nil {
		return reply, err
	}
	binding := fmt.Sprint("insight", c.Who.AccountID, string(filter), q.window.Channels)
	from, err := in.From(c, binding)
	if err != nil {
		return reply, err
	}
	asked, offset := in.CursorRequest.Window(20)
	found, limit := []Item{}, asked
	skipped, bytes := int64(0), int64(0)
	err = q.each(api.Position{}, in.Asc, func(i *incident.Incident) (bool, error) {
		listed := after(i, from, in.Asc)
		show := listed && skipped >= offset && int64(len(found)) <= limit // one more: whether there is a next page
		count := func() {
			reply.Total++
			if listed && !show {
				skipped++
			}
		}
		if !show && !in.narrowsByTime() {
			count()
			return true, nil
		}
		f, matches, err := q.measure(i)
		if err != nil || !matches {
			return true, err
		}
		if count(); !show {
			return true, nil
		}
		one, err := q.item(i, &f)
		found = append(found, one)
		if bytes += one.bytes(); bytes > api.PageBytes && len(found) > 1 {
			limit = min(limit, int64(len(found))-1)
		}
		return true, err
	})
	if err != nil {
		return reply, err
	}
	c.WarnShort(limit, asked, "")
	return api.NewCursorPage(c, found, limit, reply.Total, binding,
		func(i Item) api.Position { return api.Position{At: i.CreatedAt, ID: i.IncidentID} }), nil
}

// bytes returns about how long the item is.
func (i *Item) bytes() int64 {
	n := len(i.Title) + len(i.Description)
	for name, value := range i.Labels {
		n += len(name) + len(value)
	}
	for name, value := range i.Fields {
		n += len(name) + len(value)
	}
	return int64(n)
}

// after reports whether an incident is listed after a position; all are after the zero Position.
func after(i *incident.Incident, from api.Position, oldestFirst bool) bool {
	if from.Unset() {
		return true
	}
	order := cmp.Or(cmp.Compare(i.StartTime, from.At), cmp.Compare(i.IncidentID, from.ID))
	return order > 0 && oldestFirst || order < 0 && !oldestFirst
}

// item returns an incident with its figures and names.
func (q *query) item(i *incident.Incident, f *insight.Figures) (Item, error) {
	ch, team, err := q.channel(i.ChannelID)
	if err != nil {
		return Item{}, err
	}
	one := Item{
		IncidentID: i.IncidentID, Title: i.Title, Description: i.Description, TeamID: ch.TeamID, TeamName: team,
		ChannelID: i.ChannelID, ChannelName: ch.ChannelName, Progress: i.Progress, Severity: i.Severity, CreatedAt: i.StartTime,
		ClosedBy: f.ClosedBy, SecondsToAck: f.SecondsToAck, SecondsToClose: f.SecondsToClose, EngagedSeconds: f.EngagedSeconds,
		Hours: insight.HoursOf(i.StartTime, q.zone), Labels: i.Labels, Fields: i.Fields,
		Notifications: f.Notifications, Interruptions: f.Interruptions, SleepInterruptions: f.SleepInterruptions,
		Assignments: f.Assignments, Reassignments: f.Reassignments, Acknowledgements: f.Acknowledgements,
		Escalations: f.Escalations(), TimeoutEscalations: f.TimeoutEscalations, ManualEscalations: f.ManualEscalations,
		CreatorID: i.CreatorID,
	}
	if one.Labels == nil {
		one.Labels = map[string]string{}
	}
	if one.Fields == nil {
		one.Fields = map[string]jsontext.Value{}
	}
	one.Headline, err = q.nameOf(i)
	if err != nil {
		return one, err
	}
	if i.AssignedTo != nil {
		one.AssignedTo = *i.AssignedTo
	}
	if i.CreatorID != 0 {
		p, err := q.person(i.CreatorID)
		if err != nil {
			return one, err
		}
		one.CreatorName = p.PersonName
	}
	one.Responders, err = incident.Responders(q.tx, q.account, i.IncidentID)
	return one, err
}
