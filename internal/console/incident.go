package console

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"tocsin/internal/auth"
)

var incidentPages = []page{
	{path: "/incidents", template: "incidents", tab: "incidents", show: showIncidents},
	{path: "/incidents/{id}", template: "incident", tab: "incidents", show: showIncident},
	{path: "/incidents/{id}/why", template: "why", tab: "incidents", show: showIncidentWhy},
	{path: "/incidents/{id}/similar", template: "incident_similar", tab: "incidents", show: showSimilar},
	{path: "/incidents/{id}/people", template: "incident_people", tab: "incidents", show: showIncidentPeople, needs: manageIncidents},
	{path: "/incidents/{id}/merge", template: "incident_merge", tab: "incidents", show: showIncidentMerge, needs: manageIncidents},
	{path: "/incidents/{id}/edit", template: "incident_edit", tab: "incidents", show: showIncidentEdit, needs: manageIncidents},
}

// incidentRow is an incident in a list.
type incidentRow struct {
	ID         string `json:"incident_id"`
	Num        string `json:"num"`
	Title      string `json:"headline"` // as in messages
	Given      string `json:"title"`    // that a person changes
	Severity   string `json:"incident_severity"`
	Progress   string `json:"progress"`
	ChannelID  int64  `json:"channel_id"`
	Channel    string `json:"channel_name"`
	StartTime  int64  `json:"start_time"`
	AckTime    int64  `json:"ack_time"`
	CloseTime  int64  `json:"close_time"`
	Snoozed    int64  `json:"snoozed_before"`
	Alerts     int64  `json:"alert_cnt"`
	Firing     int64  `json:"active_alert_cnt"`
	Test       bool   `json:"is_test"`
	MergedInto string `json:"merged_into"`
	Flapping   *struct {
		MaxChanges int64 `json:"max_changes"`
		InMins     int64 `json:"in_mins"`
		MuteMins   int64 `json:"mute_mins"`
	} `json:"flapping"` // an alert of the incident changes too often; nil: no alert does
	Responders []responder `json:"responders"`
}

type responder struct {
	ID      int64  `json:"person_id"`
	Name    string `json:"person_name"`
	AckedAt int64  `json:"acknowledged_at"`
}

// Ackers returns who has acknowledged the incident, the first one first.
func (i incidentRow) Ackers() []responder {
	ackers := slices.DeleteFunc(slices.Clone(i.Responders), func(r responder) bool { return r.AckedAt == 0 })
	slices.SortStableFunc(ackers, func(a, b responder) int { return int(a.AckedAt - b.AckedAt) })
	return ackers
}

// Holder returns the names of the persons who have acknowledged the incident; empty: no person has.
func (i incidentRow) Holder() string {
	var names []string
	for _, r := range i.Ackers() {
		names = append(names, r.Name)
	}
	return strings.Join(names, ", ")
}

// Asked returns the names of the responders who have not acknowledged.
func (i incidentRow) Asked() string {
	var names []string
	for _, r := range i.Responders {
		if r.AckedAt == 0 {
			names = append(names, r.Name)
		}
	}
	return strings.Join(names, ", ")
}

// Open reports whether the incident goes on.
func (i incidentRow) Open() bool { return i.Progress != "Closed" }

// month is the longest window of the lists of incidents and alerts, in seconds.
const month = 31 * 86400

// incidentList is a page of /incident/list.
type incidentList struct {
	Items []incidentRow `json:"items"`
	Total int64         `json:"total"`
	Next  string        `json:"search_after_ctx"`
}

// incidents returns incidents of the last month that a filter of /incident/list finds, the newest first. A filter may
// name another window.
func (v *visit) incidents(filter map[string]any) (list incidentList, err error) {
	if filter["end_time"] == nil {
		now := v.Now.Unix()
		filter["start_time"], filter["end_time"] = now-month+1, now+1
	}
	err = v.call("/incident/list", filter, &list)
	return list, err
}

// named is something with an identifier and a name, to choose from.
type named struct {
	ID   string
	Name string
}

type incidentsView struct {
	titled
	listFilter
	Show     string // mine, open or all
	Severity string
	List     incidentList
	Channels []named
	Teams    []named
	Wrong    *refusalWords // why the filter is not understood
}

// pageSize is how many rows a list shows.
const pageSize = 50

func showIncidents(v *visit) (view, error) {
	d := incidentsView{titled: titled(v.T("Incidents")), listFilter: v.listFilter(), Show: v.query("show"), Severity: v.query("severity")}
	filter := map[string]any{"limit": pageSize, "start_time": d.from, "end_time": d.to}
	switch d.Show {
	case "mine":
		filter["responder_ids"], filter["progress"] = []int64{v.who.PersonID}, "Triggered,Processing"
	case "all":
	default:
		d.Show = "open"
		filter["progress"] = "Triggered,Processing"
	}
	d.fill(filter)
	if d.Severity != "" {
		filter["incident_severity"] = d.Severity
	}
	if team := number(v.query("team")); team != 0 {
		filter["team_ids"] = []int64{team}
	}
	if d.Query != "" {
		filter["query"] = d.Query
	}
	var err error
	d.List, err = v.incidents(filter)
	if err != nil {
		d.Wrong = v.misunderstood(err)
		if d.Wrong == nil {
			return nil, err
		}
	}
	d.Channels, err = v.channels()
	if err != nil {
		return nil, err
	}
	d.Teams, err = v.teams()
	return d, err
}

// listFilter is what the lists of incidents and alerts are filtered by in the address.
type listFilter struct {
	Query, Channel, Days, Cursor string
	from, to                     int64
	values                       url.Values
}

// days are the windows that lists offer, in days.
var days = []string{"1", "7", "31"}

// listFilter reads the filter of a list from the address. Windows end now, unless the address has an end.
func (v *visit) listFilter() listFilter {
	f := listFilter{
		Query: v.query("q"), Channel: v.query("channel"), Days: v.query("days"), Cursor: v.query("after"), values: v.r.URL.Query(),
	}
	if !slices.Contains(days, f.Days) {
		f.Days = "31"
	}
	f.to = v.Now.Unix() + 1
	if end := number(v.query("until")); end > 0 {
		f.to = end
	}
	f.from = max(1, f.to-number(f.Days)*86400)
	return f
}

// fill adds the channel and the place in the list to a request.
func (f listFilter) fill(request map[string]any) {
	if channel := number(f.Channel); channel != 0 {
		request["channel_ids"] = []int64{channel}
	}
	if f.Cursor != "" {
		request["search_after_ctx"] = f.Cursor
	}
}

// DaysOffered returns the windows to choose from.
func (f listFilter) DaysOffered() []string { return days }

// Address returns the parameters of the page's address with another value of one, from the first row.
func (f listFilter) Address(name, value string) string { return "?" + f.with(name, value).Encode() }

// with returns the parameters with another value of one, without the place in the list.
func (f listFilter) with(name, value string) url.Values {
	values := url.Values{}
	for k, list := range f.values {
		values[k] = list
	}
	values.Del("after")
	values.Del("until")
	values.Set(name, value)
	if value == "" {
		values.Del(name)
	}
	return values
}

// After returns the parameters of the next page of the list. The window stays that of this page, or the cursor would not
// belong to it.
func (f listFilter) After(cursor string) string {
	values := f.with("after", cursor)
	values.Set("until", strconv.FormatInt(f.to, 10))
	return "?" + values.Encode()
}

// channels returns the channels that the visitor may choose from.
func (v *visit) channels() ([]named, error) {
	var reply struct {
		Items []struct {
			ID   int64  `json:"channel_id"`
			Name string `json:"channel_name"`
		} `json:"items"`
	}
	err := v.call("/channel/list", map[string]any{"is_brief": true, "limit": 100}, &reply)
	all := make([]named, len(reply.Items))
	for i, c := range reply.Items {
		all[i] = named{strconv.FormatInt(c.ID, 10), c.Name}
	}
	slices.SortStableFunc(all, func(a, b named) int { return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)) })
	return all, err
}

// teams returns the teams that the visitor may choose from.
func (v *visit) teams() ([]named, error) {
	var reply struct {
		Items []struct {
			ID   int64  `json:"team_id"`
			Name string `json:"team_name"`
		} `json:"items"`
	}
	err := v.call("/team/list", map[string]any{"limit": 100, "orderby": "team_name", "asc": true}, &reply)
	all := make([]named, len(reply.Items))
	for i, t := range reply.Items {
		all[i] = named{strconv.FormatInt(t.ID, 10), t.Name}
	}
	return all, err
}

// ManagesIncidents reports whether the visitor may act on incidents.
func (v *visit) ManagesIncidents() bool { return v.who.May(auth.IncidentsManage) }

// recently reports whether a moment, in Unix seconds, is not longer ago than a time.
func (v *visit) recently(at int64, ago time.Duration) bool {
	return at > 0 && v.Now.Unix()-at <= int64(ago/time.Second)
}
