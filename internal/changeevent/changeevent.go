package changeevent

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/channel"
	"tocsin/internal/core/filter"
	"tocsin/internal/integration"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/id"
	read "tocsin/internal/source/change"
)

//go:embed testdata/golden/*.json
var golden embed.FS

// Change is one change, with the values of its last event.
type Change struct {
	ChangeID       string            `json:"change_id" doc:"24 hexadecimal digits."`
	IntegrationID  int64             `json:"integration_id" doc:"The integration that received it."`
	DataSourceID   int64             `json:"data_source_id" deprecated:"true" doc:"Older name of integration_id."`
	DataSourceName string            `json:"data_source_name" doc:"The integration's name at its last event."`
	ChannelID      int64             `json:"channel_id" doc:"The integration's channel; 0: none."`
	Title          string            `json:"title" doc:"What people read first."`
	Description    string            `json:"description" doc:"Description in its last event."`
	ChangeKey      string            `json:"change_key" doc:"What its events have in common."`
	ChangeStatus   string            `json:"change_status" enum:"Planned,Ready,Processing,Canceled,Done" doc:"Of its last event."`
	Link           string            `json:"link" doc:"URL of further information."`
	StartTime      int64             `json:"start_time" doc:"Its first event, Unix seconds."`
	LastTime       int64             `json:"last_time" doc:"Its last event, Unix seconds."`
	EndTime        int64             `json:"end_time" doc:"When it was canceled or done, Unix seconds; 0: not yet."`
	Labels         map[string]string `json:"labels" doc:"Of its last event."`
	Events         []Event           `json:"events,omitempty" doc:"Its latest events, at most 50; with include_events only."`
}

// View is a change as the API shows it, with the short names that clients of the list read.
type View struct {
	Change
	Status string `json:"status" enum:"Planned,Ready,Processing,Canceled,Done" doc:"The same as change_status."`
	Type   string `json:"type" doc:"The label type of its last event, such as deployment; empty: it has none."`
}

// Event is one event of a change.
type Event struct {
	EventID       string            `json:"event_id" doc:"24 hexadecimal digits."`
	IntegrationID int64             `json:"integration_id" doc:"The integration that received it."`
	Title         string            `json:"title" doc:"What people read first."`
	Description   string            `json:"description" doc:"Its description."`
	ChangeKey     string            `json:"change_key" doc:"The change it is about."`
	ChangeStatus  string            `json:"change_status" doc:"Planned, Ready, Processing, Canceled or Done."`
	Link          string            `json:"link" doc:"URL of further information."`
	EventTime     int64             `json:"event_time" doc:"When, Unix seconds."`
	Labels        map[string]string `json:"labels" doc:"Labels."`
}

// maxEvents is how many events a change keeps.
const maxEvents = 50

// Put stores an event and updates its change, or creates it. It returns the identifiers of the event and the change.
func Put(tx *db.Tx, from integration.Integration, e read.Event, now time.Time) (eventID, changeID string, err error) {
	c, found, err := db.One(tx, scan, `SELECT body FROM change WHERE account_id = $1 AND integration_id = $2 AND change_key = $3`,
		from.AccountID, from.IntegrationID, e.Key)
	if err != nil {
		return "", "", err
	}
	if !found {
		c = Change{ChangeID: id.Object(now), IntegrationID: from.IntegrationID, DataSourceID: from.IntegrationID, ChangeKey: e.Key,
			StartTime: e.Time}
	}
	c.DataSourceName, c.ChannelID = from.IntegrationName, from.ChannelID
	c.Title = e.Title
	c.Description = e.Description
	c.ChangeStatus = e.Status
	c.Link = e.Link
	c.Labels = e.Labels
	c.LastTime, c.EndTime = max(c.LastTime, e.Time), 0
	if read.Over(e.Status) {
		c.EndTime = e.Time
	}
	eventID = id.Object(now)
	c.Events = append(c.Events, Event{eventID, from.IntegrationID, e.Title, e.Description, e.Key, e.Status, e.Link, e.Time, e.Labels})
	c.Events = c.Events[max(0, len(c.Events)-maxEvents):]
	body, err := json.Marshal(c, json.Deterministic(true))
	if err != nil {
		return "", "", err
	}
	err = tx.Do(`INSERT INTO change (account_id, change_id, integration_id, channel_id, change_key, start_time, last_time, body)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
		ON CONFLICT (account_id, change_id) DO UPDATE SET channel_id = excluded.channel_id, last_time = excluded.last_time, body = excluded.body`,
		from.AccountID, c.ChangeID, c.IntegrationID, c.ChannelID, c.ChangeKey, c.StartTime, c.LastTime, string(body))
	return eventID, c.ChangeID, err
}

// scan reads a change from its JSON.
func scan(row db.Scan) (c Change, err error) {
	var body string
	err = row(&body)
	if err == nil {
		err = json.Unmarshal([]byte(body), &c)
	}
	return c, err
}

// Ops returns the operations of this package.
func Ops() []api.Op {
	return api.WithReplies(golden, []api.Op{{
		Path:    "/change/list",
		Allow:   []auth.Permission{auth.ChannelsRead},
		Effect:  api.Snapshot,
		Doc:     "Lists changes by start time, the newest first.",
		Notes:   "Without a window, those of the last hour. At most the newest 10,000 changes of a window are searched.",
		Example: `{"start_time": 1776000000, "end_time": 1776100000, "query": "checkout"}`,
		Do:      api.Do(list),
	}})
}

// ListRequest asks for the changes of a window.
type ListRequest struct {
	StartTime      int64         `json:"start_time,omitzero" minimum:"0" maximum:"9999999999" doc:"Start of the window in which changes began, Unix seconds."`
	EndTime        int64         `json:"end_time,omitzero" minimum:"0" maximum:"9999999999" doc:"Its end, exclusive, at most 31 days later."`
	Filters        filter.Filter `json:"filters,omitzero" maxItems:"20" doc:"Groups joined by OR, the conditions of a group by AND."`
	IncludeEvents  bool          `json:"include_events,omitzero" doc:"With their latest events."`
	IntegrationIDs []int64       `json:"integration_ids,omitzero" maxItems:"100" doc:"Only those of these integrations."`
	ChannelIDs     []int64       `json:"channel_ids,omitzero" maxItems:"100" doc:"Only those of these channels."`
	OrderBy        string        `json:"order_by,omitzero" enum:"start_time,last_time" doc:"Accepted; always by start_time."`
	Asc            bool          `json:"asc,omitzero" doc:"Oldest first."`
	Query          string        `json:"query,omitzero" maxLength:"200" doc:"Text that title, description or change_key contain."`
	api.CursorRequest
}

// Check holds the window against its bounds.
func (in ListRequest) Check() error {
	if (in.StartTime == 0) != (in.EndTime == 0) {
		return fault.Invalid("end_time", "and start_time must be set together")
	}
	if span := in.EndTime - in.StartTime; in.EndTime > 0 && (span <= 0 || span > 31*86400) {
		return fault.Invalid("end_time", "must be 1 second to 31 days after start_time, got %d seconds", span)
	}
	if wrong := (*filter.Error)(nil); errors.As(filter.Check(in.Filters), &wrong) {
		return fault.Invalid("filters"+wrong.Path, "%s", wrong.Clause())
	}
	return in.Page.Check()
}

func list(c *api.Call, in ListRequest) (reply api.CursorPage[View], err error) {
	filters, err := json.Marshal(in.Filters, json.Deterministic(true))
	if err != nil {
		return reply, err
	}
	binding := fmt.Sprint("changes", c.Who.AccountID, in.StartTime, in.EndTime, string(filters),
		in.IntegrationIDs, in.ChannelIDs, in.Asc, in.Query)
	from, err := in.From(c, binding)
	if err != nil {
		return reply, err
	}
	if in.EndTime == 0 {
		in.StartTime, in.EndTime = c.Unix()-3600, c.Unix()+1
	}
	hidden, err := channel.Hidden(c.Tx, c.Who)
	if err != nil {
		return reply, err
	}
	query := `SELECT body FROM change WHERE account_id = $1 AND start_time >= $2 AND start_time < $3
		AND ($4 = '' OR $4 LIKE '%,' || integration_id || ',%')
		AND ($5 = '' OR $5 LIKE '%,' || channel_id || ',%') AND NOT ($6 LIKE '%,' || channel_id || ',%') 
		ORDER BY start_time DESC, change_id DESC LIMIT 10000`
	if in.Asc {
		query = strings.Replace(query, "start_time DESC, change_id DESC", "start_time, change_id", 1)
	}
	found, err := db.All(c.Tx, scan, query, c.Who.AccountID, in.StartTime, in.EndTime, db.List(in.IntegrationIDs), db.List(in.ChannelIDs),
		db.List(hidden))
	if err != nil {
		return reply, err
	}
	m, _ := filter.Compile(in.Filters)
	text := strings.ToLower(in.Query)
	items := []View{}
	for _, change := range found {
		if m.Match(fields{&change}, nil) && (text == "" ||
			strings.Contains(strings.ToLower(change.Title+"\n"+change.Description+"\n"+change.ChangeKey), text)) {
			if !in.IncludeEvents {
				change.Events = nil
			}
			items = append(items, View{Change: change, Status: change.ChangeStatus, Type: change.Labels["type"]})
		}
	}
	limit, offset := in.Window(10)
	total := int64(len(items))
	begin := slices.IndexFunc(items, func(v View) bool { return behind(&v.Change, from, in.Asc) })
	if begin < 0 {
		begin = len(items)
	}
	items = items[begin:]
	items = items[min(offset, int64(len(items))):]
	return api.NewCursorPage(c, items, limit, total, binding,
		func(v View) api.Position { return api.Position{At: v.StartTime, ID: v.ChangeID} }), nil
}

// behind reports whether a change is listed behind a position.
func behind(c *Change, from api.Position, asc bool) bool {
	order := cmp.Or(cmp.Compare(c.StartTime, from.At), cmp.Compare(c.ChangeID, from.ID))
	return from.Unset() || order > 0 && asc || order < 0 && !asc
}

// fields implements the access of filters to a change.
type fields struct{ *Change }

// Field returns the value of a field, and whether there is one.
func (f fields) Field(name string) (string, bool) {
	switch name {
	case "title":
		return f.Title, true
	case "description":
		return f.Description, true
	case "status":
		return f.ChangeStatus, true
	case "integration_id":
		return fmt.Sprint(f.IntegrationID), true
	}
	return "", false
}

// Label returns the value of a label, and whether the change has it.
func (f fields) Label(name string) (string, bool) {
	value, ok := f.Labels[name]
	return value, ok
}

// After returns at most limit changes that began between two moments (Unix seconds, until is exclusive) after one of them,
// in the order of their beginning; before the first, at is from - 1. Those of hidden channels are left out.
func After(tx *db.Tx, account, from, until int64, channels, hidden []int64, at int64, id string, limit int64) ([]Change, error) {
	return db.All(tx, scan, `SELECT body FROM change WHERE account_id = $1 AND start_time >= $2 AND start_time < $3
		AND ($4 = '' OR $4 LIKE '%,' || channel_id || ',%') AND NOT ($5 LIKE '%,' || channel_id || ',%')
		AND (start_time > $6 OR start_time = $6 AND change_id > $7)
		ORDER BY start_time, change_id LIMIT $8 + 0`,
		account, max(from, at), until, db.List(channels), db.List(hidden), at, id, limit)
}
