package alert

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"tocsin/internal/api"
	"tocsin/internal/channel"
	"tocsin/internal/core/event"
	"tocsin/internal/integration"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// Event is an event as the API shows it: as it was when it became part of its alert.
type Event struct {
	EventID         string            `json:"event_id" maxLength:"24" doc:"24 hexadecimal digits."`
	AlertID         string            `json:"alert_id" maxLength:"24" doc:"The alert it is part of; empty: of none."`
	AccountID       int64             `json:"account_id" doc:"Owning account."`
	ChannelID       int64             `json:"channel_id" doc:"The channel it went to; 0: to none."`
	IntegrationID   int64             `json:"integration_id" doc:"The integration that it came through."`
	IntegrationType string            `json:"integration_type" maxLength:"255" doc:"The integration's present type; empty when it was deleted."`
	DataSourceID    int64             `json:"data_source_id" deprecated:"true" doc:"Older name of integration_id."`
	Title           string            `json:"title" maxLength:"1024" doc:"What people read first."`
	TitleRule       string            `json:"title_rule" maxLength:"1024" doc:"The template of the title."`
	Description     string            `json:"description" maxLength:"6144" doc:"Its description."`
	AlertKey        string            `json:"alert_key" maxLength:"1024" doc:"What events of the same alert have in common."`
	EventSeverity   string            `json:"event_severity" enum:"Critical,Warning,Info,Ok" doc:"Its severity."`
	SeverityWord    string            `json:"severity_word,omitzero" maxLength:"64" doc:"The severity as its source sent it, of sources whose severities are free words; absent: it sent none."`
	SeverityUnknown bool              `json:"severity_unknown,omitzero" doc:"The word was unknown when the event came."`
	Shortened       bool              `json:"shortened,omitzero" doc:"Labels, images and description were cut to 2 KB together when it came, because its integration had sent more bytes than it may in a day."`
	EventStatus     string            `json:"event_status" enum:"Critical,Warning,Info,Ok" doc:"The same, or Ok when it ended the alert."`
	EventTime       int64             `json:"event_time" doc:"When it happened, Unix seconds."`
	Labels          map[string]string `json:"labels" maxProperties:"1000" maxLength:"6144" doc:"Labels."`
	Images          []Image           `json:"images" maxItems:"1000" doc:"Pictures."`
	Outcome         string            `json:"outcome" maxLength:"64" doc:"What became of it, such as opened, silenced or dropped; see /alert/explain."`
	CreatedAt       int64             `json:"created_at" doc:"When it was decided, Unix seconds."`
	UpdatedAt       int64             `json:"updated_at" doc:"The same."`
	verdict         int64
}

const eventColumns = `v.account_id, v.verdict_id, v.event_id, v.channel_id, v.alert_id, v.outcome, v.integration_id, v.decided_at, v.body`

func scanEvent(scan db.Scan) (e Event, err error) {
	var body string
	var decided int64
	err = scan(&e.AccountID, &e.verdict, &e.EventID, &e.ChannelID, &e.AlertID, &e.Outcome, &e.IntegrationID, &decided, &body)
	if err != nil {
		return e, err
	}
	var said event.Event
	if err := json.Unmarshal([]byte(body), &said); err != nil {
		return e, fault.Wrap(err, "event %s", e.EventID)
	}
	e.DataSourceID, e.AlertKey = e.IntegrationID, said.AlertKey
	e.Title = said.Title
	e.TitleRule = said.TitleRule
	e.Description = said.Description
	e.EventSeverity = cmp.Or(said.Severity, event.Info)
	e.EventStatus = said.Status
	e.EventTime = said.Time
	e.Labels = said.Labels
	e.SeverityWord, e.SeverityUnknown = said.Word, said.UnknownWord
	e.Shortened = said.Shortened
	e.CreatedAt, e.UpdatedAt = decided/1000, decided/1000
	e.Images = []Image{}
	for _, image := range said.Images {
		e.Images = append(e.Images, Image{image.Src, image.Href, image.Alt})
	}
	if e.Labels == nil {
		e.Labels = map[string]string{}
	}
	return e, nil
}

// The statements of the events of an alert, which are numbered by their verdicts, in the order in which they came.
const (
	eventsOfAlert  = ` FROM verdict v WHERE v.account_id = $1 AND v.alert_id = $2 AND v.event_id <> ''`
	latestOfAlert  = `SELECT ` + eventColumns + eventsOfAlert + ` AND ($3 = 0 OR v.verdict_id < $3) ORDER BY v.verdict_id DESC` + eventWindow
	firstOfAlert   = `SELECT ` + eventColumns + eventsOfAlert + ` AND ($3 = 0 OR v.verdict_id > $3) ORDER BY v.verdict_id` + eventWindow
	eventWindow    = ` LIMIT $4 + 0 OFFSET $5 + 0`
	countedOfAlert = `SELECT count(*)` + eventsOfAlert
)

// eventsOf returns the newest events of an alert, at most limit and most bytes, in the order in which they came.
func eventsOf(tx *db.Tx, account int64, alert string, limit, most int64) ([]Event, error) {
	events, short, err := db.Page(tx, limit, most, scanEvent, latestOfAlert, account, alert, 0, limit, 0)
	events = events[:min(short, int64(len(events)))]
	slices.Reverse(events)
	return typed(tx, account, events, err)
}

// typed fills in the types of integrations, unless err is set, which it returns.
func typed(tx *db.Tx, account int64, events []Event, err error) ([]Event, error) {
	if err != nil {
		return events, err
	}
	types := map[int64]string{}
	for i := range events {
		id := events[i].IntegrationID
		if _, known := types[id]; !known {
			types[id], err = typeOf(tx, account, id)
			if err != nil {
				return events, err
			}
		}
		events[i].IntegrationType = types[id]
	}
	return events, nil
}

// mostEvents is the number of events that eventList returns at most when it is not asked for a page.
const mostEvents = 1000

type eventListRequest struct {
	OneRequest
	Asc *bool `json:"asc,omitzero" doc:"Oldest first; absent: pages are newest first."`
	api.CursorRequest
}

// Check holds the page against its bounds.
func (in eventListRequest) Check() error { return in.Page.Check() }

// eventList shows pages in the order that asc asks for. Clients that know no pages get the newest events, in the order in
// which they came.
func eventList(c *api.Call, in eventListRequest) (reply api.CursorPage[Event], err error) {
	a, err := info(c, in.OneRequest)
	if err != nil {
		return reply, err
	}
	asc := in.Asc != nil && *in.Asc
	binding := fmt.Sprint("events of an alert", a.AccountID, a.AlertID, asc)
	from, err := in.From(c, binding)
	if err != nil {
		return reply, err
	}
	whole := in.Asc == nil && in.CursorRequest == api.CursorRequest{}
	limit, offset := in.CursorRequest.Window(20)
	if whole {
		limit = mostEvents
	}
	total, _, err := db.One(c.Tx, db.Column[int64], countedOfAlert, c.Who.AccountID, a.AlertID)
	if err != nil {
		return reply, err
	}
	query := latestOfAlert
	if asc {
		query = firstOfAlert
	}
	found, onPage, err := db.Page(c.Tx, limit, api.PageBytes, scanEvent, query, c.Who.AccountID, a.AlertID, from.Number(), limit+1, offset)
	found, err = typed(c.Tx, c.Who.AccountID, found, err)
	if err != nil {
		return reply, err
	}
	c.WarnShort(onPage, limit, "")
	reply = api.NewCursorPage(c, found, onPage, total, binding, func(e Event) api.Position { return api.NumberedAt(0, e.verdict) })
	if whole {
		slices.Reverse(reply.Items)
	}
	return reply, nil
}

// EventsRequest asks for events of all alerts in a window.
type EventsRequest struct {
	StartTime        int64    `json:"start_time,omitzero" minimum:"0" maximum:"9999999999" doc:"Start of the window in which events happened, Unix seconds; absent: the last day."`
	EndTime          int64    `json:"end_time,omitzero" minimum:"0" maximum:"9999999999" doc:"Its end, exclusive, at most 31 days later; absent: now."`
	IntegrationIDs   []int64  `json:"integration_ids,omitzero" maxItems:"100" doc:"Only those of these integrations."`
	IntegrationTypes []string `json:"integration_types,omitzero" maxItems:"100" maxLength:"255" doc:"Only those of integrations of these types."`
	ChannelIDs       []int64  `json:"channel_ids,omitzero" maxItems:"100" doc:"Only those that went to these channels."`
	Severities       string   `json:"severities,omitzero" maxLength:"100" doc:"Critical, Warning, Info and Ok, joined by commas."`
	Outcomes         []string `json:"outcomes,omitzero" maxItems:"20" maxLength:"255" doc:"Only those that ended so, such as dropped."`
	OrderBy          string   `json:"orderby,omitzero" enum:"event_time" doc:"Always event_time."`
	Asc              bool     `json:"asc,omitzero" doc:"Oldest first."`
	api.CursorRequest
}

// Check holds the request against its bounds.
func (in EventsRequest) Check() error {
	if err := severities("severities", in.Severities); err != nil {
		return err
	}
	return in.Page.Check()
}

const eventsMatching = ` FROM verdict v WHERE v.account_id = $1 AND v.event_id <> '' AND v.event_time >= $2 AND v.event_time < $3
	AND ($4 = '' OR $4 LIKE '%,' || v.integration_id || ',%')
	AND ($5 = '' OR $5 LIKE '%,' || v.channel_id || ',%')
	AND NOT ($6 LIKE '%,' || v.channel_id || ',%')
	AND ($7 = '' OR $7 LIKE '%,' || v.severity || ',%')
	AND ($8 = '' OR $8 LIKE '%,' || v.outcome || ',%')
	AND NOT (v.channel_id = 0 AND $9 LIKE '%,' || v.integration_id || ',%')`

func allEvents(c *api.Call, in EventsRequest) (reply api.CursorPage[Event], err error) {
	asked := fmt.Sprint(in.StartTime, in.EndTime) // without the defaults, which change with the time of the call
	if in.EndTime == 0 {
		in.EndTime = c.Unix() + 1
	}
	if in.StartTime == 0 {
		in.StartTime = in.EndTime - 86400
	}
	if err := window(in.StartTime, in.EndTime); err != nil {
		return reply, err
	}
	if len(in.IntegrationTypes) > 0 {
		in.IntegrationIDs, err = ofTypes(c.Tx, c.Who.AccountID, in.IntegrationTypes, in.IntegrationIDs)
		if err != nil || len(in.IntegrationIDs) == 0 {
			return api.CursorPage[Event]{Items: []Event{}}, err
		}
	}
	hidden, err := channel.Hidden(c.Tx, c.Who)
	if err != nil {
		return reply, err
	}
	sources, err := integration.Hidden(c.Tx, c.Who) // an event that reached no channel is as private as its source
	if err != nil {
		return reply, err
	}
	args := []any{
		c.Who.AccountID, in.StartTime, in.EndTime,
		db.List(in.IntegrationIDs), db.List(in.ChannelIDs), "",
		db.List(words(in.Severities)), db.List(in.Outcomes), "",
	}
	binding := fmt.Sprint("events", asked, args[3:], c.Who.AccountID, in.Asc)
	args[5], args[8] = db.List(hidden), db.List(sources) // after the binding, as in list
	from, err := in.From(c, binding)
	if err != nil {
		return reply, err
	}
	total, _, err := db.One(c.Tx, db.Column[int64], `SELECT count(*)`+eventsMatching, args...)
	if err != nil {
		return reply, err
	}
	limit, offset := in.Window(20)
	page := ` AND ($10 = 0 OR v.event_time < $11 OR v.event_time = $11 AND v.verdict_id < $10)
		ORDER BY v.event_time DESC, v.verdict_id DESC LIMIT $12 + 0 OFFSET $13 + 0`
	if in.Asc {
		page = ` AND ($10 = 0 OR v.event_time > $11 OR v.event_time = $11 AND v.verdict_id > $10)
			ORDER BY v.event_time, v.verdict_id LIMIT $12 + 0 OFFSET $13 + 0`
	}
	found, onPage, err := db.Page(c.Tx, limit, api.PageBytes, scanEvent, `SELECT `+eventColumns+eventsMatching+page,
		append(args, from.Number(), from.At, limit+1, offset)...)
	found, err = typed(c.Tx, c.Who.AccountID, found, err)
	if err != nil {
		return reply, err
	}
	c.WarnShort(onPage, limit, "")
	place := func(e Event) api.Position { return api.NumberedAt(e.EventTime, e.verdict) }
	return api.NewCursorPage(c, found, onPage, total, binding, place), nil
}

func words(list string) (all []string) {
	for _, word := range strings.Split(list, ",") {
		word = strings.TrimSpace(word)
		if word != "" {
			all = append(all, word)
		}
	}
	return all
}

func severities(field, list string) error {
	for _, word := range words(list) {
		if word != event.Ok && event.Rank(word) == 0 {
			return fault.Invalid(field, "must be of Critical, Warning, Info and Ok, joined by commas, got %.60q", word)
		}
	}
	return nil
}
