package alert

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tocsin/internal/api"
	"tocsin/internal/channel"
	"tocsin/internal/integration"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// ListRequest asks for alerts that began or changed in a window.
type ListRequest struct {
	StartTime      int64    `json:"start_time" minimum:"1" maximum:"9999999999" doc:"Start of the window in which alerts began, Unix seconds."`
	EndTime        int64    `json:"end_time" minimum:"1" maximum:"9999999999" doc:"Its end, exclusive, at most 31 days later."`
	IsActive       *bool    `json:"is_active,omitzero" doc:"Only those that are not over, or only those that are."`
	EverMuted      *bool    `json:"ever_muted,omitzero" doc:"Only those that were muted at some time, or only those that never were."`
	AlertSeverity  string   `json:"alert_severity,omitzero" maxLength:"100" doc:"Critical, Warning, Info and Ok, joined by commas."`
	ChannelIDs     []int64  `json:"channel_ids,omitzero" maxItems:"100" doc:"Only those of these channels."`
	IntegrationIDs []int64  `json:"integration_ids,omitzero" maxItems:"100" doc:"Only those of these integrations."`
	AlertIDs       []string `json:"alert_ids,omitzero" maxItems:"100" pattern:"^[0-9a-fA-F]{24}$" patternDescription:"24 hexadecimal digits" doc:"Only these."`
	Title          string   `json:"title,omitzero" maxLength:"2048" doc:"Only those with this title; * stands for any characters, ? for one, and /x/ is a regular expression that is found anywhere, as in filters."`
	AlertKeys      []string `json:"alert_keys,omitzero" maxItems:"100" maxLength:"255" doc:"Only those with these keys; a key with a comma is never found."`
	OrderBy        string   `json:"orderby,omitzero" enum:"created_at,updated_at" doc:"By updated_at; else by start_time."`
	Asc            bool     `json:"asc,omitzero" doc:"Oldest first."`
	ByUpdatedAt    bool     `json:"by_updated_at,omitzero" doc:"The window and the order are those of the last change."`
	api.CursorRequest
}

// longest is the length of the longest window of a list, in seconds.
const longest = 31 * 86400

func window(start, end int64) error {
	switch span := end - start; {
	case span <= 0:
		return fault.Invalid("end_time", "must be greater than start_time %d, got %d", start, end)
	case span > longest:
		return fault.Invalid("end_time", "must be at most 31 days (%d seconds) after start_time, got %d seconds", longest, span)
	}
	return nil
}

// Check holds the request against its bounds.
func (in ListRequest) Check() error {
	if err := window(in.StartTime, in.EndTime); err != nil {
		return err
	}
	if err := severities("alert_severity", in.AlertSeverity); err != nil {
		return err
	}
	if err := checkTitle(in.Title); err != nil {
		return err
	}
	return in.Page.Check()
}

const narrowed = ` AND alert.deleted_at = 0
	AND ($4 = -1 OR $4 = 1 AND alert.end_time = 0 OR $4 = 0 AND alert.end_time > 0)
	AND ($5 = -1 OR $5 = 1 AND alert.ever_muted OR $5 = 0 AND NOT alert.ever_muted)
	AND ($6 = '' OR $6 LIKE '%,' || alert.alert_severity || ',%')
	AND ($7 = '' OR $7 LIKE '%,' || alert.channel_id || ',%')
	AND NOT ($8 LIKE '%,' || alert.channel_id || ',%')
	AND ($9 = '' OR $9 LIKE '%,' || alert.integration_id || ',%')
	AND ($10 = '' OR $10 LIKE '%,' || alert.alert_id || ',%')
	AND ($11 = '' OR replace($11, ',' || alert.alert_key || ',', '') <> $11)`

const (
	begun   = ` WHERE alert.account_id = $1 AND alert.start_time >= $2 AND alert.start_time < $3` + narrowed
	changed = ` WHERE alert.account_id = $1 AND alert.updated_at >= $2 AND alert.updated_at < $3` + narrowed
	next    = ` LIMIT $14 + 0 OFFSET $15 + 0`

	begunDown = begun + ` AND ($12 = '' OR alert.start_time < $13 OR alert.start_time = $13 AND alert.alert_id < $12)
		ORDER BY alert.start_time DESC, alert.alert_id DESC` + next
	begunUp = begun + ` AND ($12 = '' OR alert.start_time > $13 OR alert.start_time = $13 AND alert.alert_id > $12)
		ORDER BY alert.start_time, alert.alert_id` + next
	changedDown = changed + ` AND ($12 = '' OR alert.updated_at < $13 OR alert.updated_at = $13 AND alert.alert_id < $12)
		ORDER BY alert.updated_at DESC, alert.alert_id DESC` + next
	changedUp = changed + ` AND ($12 = '' OR alert.updated_at > $13 OR alert.updated_at = $13 AND alert.alert_id > $12)
		ORDER BY alert.updated_at, alert.alert_id` + next
)

func list(c *api.Call, in ListRequest) (reply api.CursorPage[Alert], err error) {
	hidden, err := channel.Hidden(c.Tx, c.Who)
	if err != nil {
		return reply, err
	}
	ids := make([]string, len(in.AlertIDs))
	for i, id := range in.AlertIDs {
		ids[i] = strings.ToLower(id)
	}
	args := []any{
		c.Who.AccountID, in.StartTime, in.EndTime,
		either(in.IsActive), either(in.EverMuted), db.List(words(in.AlertSeverity)),
		db.List(in.ChannelIDs), "", db.List(in.IntegrationIDs), db.List(ids), db.List(in.AlertKeys),
	}
	byChange := in.ByUpdatedAt || in.OrderBy == "updated_at"
	binding := fmt.Sprint("alerts", args, in.Asc, byChange, in.Title)
	args[7] = db.List(hidden) // after the binding: a channel that becomes private must not end the cursor
	from, err := in.From(c, binding)
	if err != nil {
		return reply, err
	}
	limit, offset := in.Window(20)
	var found []Alert
	var total int64
	if in.Title != "" {
		found, limit, total, err = listTitle(c, in, byChange, args, from, limit, offset)
	} else {
		found, limit, total, err = listAll(c, byChange, in.Asc, args, from, limit, offset)
	}
	if err != nil {
		return reply, err
	}
	for i := range found {
		if in := found[i].Incident; in != nil && slices.Contains(hidden, in.channel) {
			in.blank()
		}
	}
	if err := named(c.Tx, c.Who.AccountID, found); err != nil {
		return reply, err
	}
	place := func(a Alert) api.Position { return api.Position{At: a.StartTime, ID: a.AlertID} }
	if byChange {
		place = func(a Alert) api.Position { return api.Position{At: a.UpdatedAt, ID: a.AlertID} }
	}
	return api.NewCursorPage(c, found, limit, total, binding, place), nil
}

// listAll returns the alerts of a page and one more, those after a position or, without one, after offset others. It returns
// how many are on the page, which is limit at most, and the number of all.
func listAll(
	c *api.Call, byChange, asc bool, args []any, from api.Position, limit, offset int64,
) (found []Alert, onPage, total int64, err error) {
	matching, page := begun, begunDown
	switch {
	case byChange && asc:
		matching, page = changed, changedUp
	case byChange:
		matching, page = changed, changedDown
	case asc:
		page = begunUp
	}
	total, _, err = db.One(c.Tx, db.Column[int64], `SELECT count(*) FROM alert`+matching, args...)
	if err != nil {
		return nil, 0, 0, err
	}
	found, onPage, err = db.Page(c.Tx, limit, api.PageBytes, scanAlert, selection+page,
		append(args, from.ID, from.At, limit+1, offset)...)
	if err == nil {
		c.WarnShort(onPage, limit, "")
	}
	return found, onPage, total, err
}

// either returns a filter of a query: 1 for true, 0 for false, -1 for both when the flag is absent.
func either(flag *bool) int64 {
	switch {
	case flag == nil:
		return -1
	case *flag:
		return 1
	}
	return 0
}

// named fills in the present name and status of the alerts' channels.
func named(tx *db.Tx, account int64, alerts []Alert) error {
	known := map[int64]channel.Channel{}
	for i := range alerts {
		id := alerts[i].ChannelID
		if _, ok := known[id]; !ok {
			ch, _, err := channel.Find(tx, account, id)
			if err != nil {
				return err
			}
			known[id] = ch
		}
		alerts[i].in(known[id])
	}
	return nil
}

// Some names several alerts.
type Some struct {
	AlertIDs []string `json:"alert_ids" minItems:"1" maxItems:"100" pattern:"^[0-9a-fA-F]{24}$" patternDescription:"24 hexadecimal digits" doc:"Alerts, at most 100, of 24 hexadecimal digits each."`
}

func listByIDs(c *api.Call, in Some) (api.Items[Alert], error) {
	reply := api.Items[Alert]{Items: []Alert{}}
	seen, bytes := map[string]bool{}, int64(0)
	for _, id := range in.AlertIDs {
		id = strings.ToLower(id)
		if seen[id] {
			continue
		}
		seen[id] = true
		a, err := info(c, OneRequest{id})
		if err != nil {
			return reply, err
		}
		reply.Items = append(reply.Items, a)
		if bytes += a.bytes(); bytes > api.PageBytes && len(reply.Items) > 1 {
			reply.Items = reply.Items[:len(reply.Items)-1]
			c.WarnShort(int64(len(reply.Items)), int64(len(in.AlertIDs)), "Ask for the others by their ids.")
			return reply, nil
		}
	}
	return reply, nil
}

// Query selects alerts of an incident.
type Query struct {
	Incident string
	Hidden   []int64 // channels whose alerts are left out
	Active   *bool   // true: only active alerts, false: only ended alerts; nil: all
	Events   bool    // with the 20 latest events of each
	After    api.Position
	Limit    int64
	Offset   int64
}

// ListOf returns a page of the alerts of an incident, ordered by their beginning. A page of more than api.PageBytes ends early,
// and the events of all its alerts have as many bytes again.
func ListOf(c *api.Call, binding string, q Query) (page api.CursorPage[Alert], err error) {
	const of = ` WHERE alert.account_id = $1 AND alert.incident_id = $2
		AND alert.incident_id <> '' AND alert.deleted_at = 0
		AND ($3 = -1 OR $3 = 1 AND alert.end_time = 0 OR $3 = 0 AND alert.end_time > 0)
		AND NOT ($4 LIKE '%,' || alert.channel_id || ',%')`
	args := []any{c.Who.AccountID, q.Incident, either(q.Active), db.List(q.Hidden)}
	total, _, err := db.One(c.Tx, db.Column[int64], `SELECT count(*) FROM alert`+of, args...)
	if err != nil {
		return page, err
	}
	found, onPage, err := db.Page(c.Tx, q.Limit, api.PageBytes, scanAlert,
		selection+of+` AND ($5 OR (alert.start_time, alert.alert_id) > ($6, $7))
		ORDER BY alert.start_time, alert.alert_id LIMIT $8 + 0 OFFSET $9 + 0`,
		append(args, q.After.Unset(), q.After.At, q.After.ID, q.Limit+1, q.Offset)...)
	if err != nil {
		return page, err
	}
	c.WarnShort(onPage, q.Limit, "")
	page = api.NewCursorPage(c, found, onPage, total, binding,
		func(a Alert) api.Position { return api.Position{At: a.StartTime, ID: a.AlertID} })
	if q.Events {
		for i := range page.Items {
			page.Items[i].Events, err = eventsOf(c.Tx, c.Who.AccountID, page.Items[i].AlertID, 20, api.PageBytes/int64(len(page.Items)))
			if err != nil {
				return page, err
			}
		}
	}
	return page, named(c.Tx, c.Who.AccountID, page.Items)
}

func typeOf(tx *db.Tx, account, id int64) (string, error) {
	i, _, err := integration.Kind.Find(tx, account, strconv.FormatInt(id, 10))
	return i.IntegrationType, err
}

// ofTypes returns the ids of the integrations that have one of the types; if among is not empty, only ids of among.
func ofTypes(tx *db.Tx, account int64, types []string, among []int64) (ids []int64, err error) {
	all, err := integration.Kind.All(tx, account)
	wanted := db.List(types)
	for _, i := range all {
		if strings.Contains(wanted, ","+i.IntegrationType+",") &&
			(len(among) == 0 || strings.Contains(db.List(among), fmt.Sprintf(",%d,", i.IntegrationID))) {
			ids = append(ids, i.IntegrationID)
		}
	}
	return ids, err
}
