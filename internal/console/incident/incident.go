package incident

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"tocsin/internal/api"
	"tocsin/internal/channel"
	"tocsin/internal/console/page"
	incidents "tocsin/internal/incident"
	"tocsin/internal/team"
)

var incidentPages = []page.Page{
	{Path: "/incidents", Template: "incidents", Tab: "incidents", Show: showIncidents},
	{Path: "/incidents/{id}", Template: "incident", Tab: "incidents", Show: showIncident},
	{Path: "/incidents/{id}/why", Template: "why", Tab: "incidents", Show: showIncidentWhy},
	{Path: "/incidents/{id}/similar", Template: "incident_similar", Tab: "incidents", Show: showSimilar},
	{Path: "/incidents/{id}/people", Template: "incident_people", Tab: "incidents", Show: showIncidentPeople, Needs: page.ManageIncidents},
	{Path: "/incidents/{id}/edit", Template: "incident_edit", Tab: "incidents", Show: showIncidentEdit, Needs: page.ManageIncidents},
}

// incident is an incident, as lists and its page show it.
type incident struct {
	incidents.View
	Untold bool // no rule notified a person of it
}

// Ackers returns who has acknowledged the incident, the first one first.
func (i incident) Ackers() []incidents.Responder {
	ackers := slices.DeleteFunc(slices.Clone(i.Responders), func(r incidents.Responder) bool { return r.AcknowledgedAt == 0 })
	slices.SortStableFunc(ackers, func(a, b incidents.Responder) int { return int(a.AcknowledgedAt - b.AcknowledgedAt) })
	return ackers
}

// Holder returns the names of the persons who have acknowledged the incident; empty: no person has.
func (i incident) Holder() string { return strings.Join(i.holders(), ", ") }

func (i incident) holders() (names []string) {
	for _, r := range i.Ackers() {
		names = append(names, r.PersonName)
	}
	return names
}

// Asked returns the names of the responders who have not acknowledged.
func (i incident) Asked() string { return strings.Join(i.asked(), ", ") }

func (i incident) asked() (names []string) {
	for _, r := range i.Responders {
		if r.AcknowledgedAt == 0 {
			names = append(names, r.PersonName)
		}
	}
	return names
}

// one names the incident.
func (i incident) one() incidents.OneRequest { return incidents.OneRequest{IncidentID: i.IncidentID} }

// Open reports whether the incident goes on.
func (i incident) Open() bool { return i.Progress != "Closed" }

// month is the longest window of the lists of incidents and alerts, in seconds.
const month = 31 * 86400

// List is a page of incidents.
type List struct {
	Items []incident
	Total int64
	Next  string
}

// OpenIncidents are the progresses of incidents that go on.
const OpenIncidents = incidents.Triggered + "," + incidents.Processing

// ReadList returns incidents that a filter finds, the newest first: those of the last month, unless the filter names another window.
func ReadList(v *page.Visit, filter incidents.ListRequest) (List, error) {
	if filter.EndTime == 0 {
		now := v.Now.Unix()
		filter.StartTime, filter.EndTime = now-month+1, now+1
	}
	reply, err := page.Call[api.CursorPage[incidents.View]](v, "/incident/list", filter)
	list := List{Total: reply.Total, Next: reply.SearchAfterCtx}
	for _, i := range reply.Items {
		list.Items = append(list.Items, incident{View: i})
	}
	return list, err
}

// named is something with an identifier and a name, to choose from.
type named struct {
	ID   string
	Name string
}

type incidentsView struct {
	page.Titled
	listFilter
	Show     string // mine, open, snoozed or all
	Tabs     []listTab
	Severity string
	Board    Board
	Channels []named
	Teams    []named
	Done     *doneToMany
	Wrong    *page.RefusalWords // why the filter is not understood
}

// listTab is an entry above the list of incidents.
type listTab struct {
	page.TabLink
	Count string // how many incidents it has; empty: it is not counted
}

func showIncidents(v *page.Visit) (page.View, error) {
	d := readIncidentsView(v, v.Request.URL.Query())
	d.Done = readDone(v)
	err := d.readTabs(v)
	if err == nil {
		d.Board, err = d.readBoard(v)
	}
	if err != nil {
		d.Wrong = misunderstood(v, err)
		if d.Wrong == nil {
			return nil, err
		}
	}
	d.Channels, err = channels(v)
	if err != nil {
		return nil, err
	}
	d.Teams, err = teams(v)
	return d, err
}

// shows are the tabs of the list of incidents.
var shows = []string{"mine", "open", "snoozed", "all"}

// readIncidentsView returns the list that the parameters of its address describe, without its rows.
func readIncidentsView(v *page.Visit, values url.Values) incidentsView {
	d := incidentsView{Titled: page.Titled(v.T("Incidents")), listFilter: readListFilter(v, values), Show: values.Get("show"),
		Severity: values.Get("severity")}
	if !slices.Contains(shows, d.Show) {
		d.Show = "open"
	}
	return d
}

// request returns what the filter and a tab ask for.
func (d incidentsView) request(v *page.Visit, show string) incidents.ListRequest {
	r := incidents.ListRequest{
		StartTime: d.from, EndTime: d.to, ChannelIDs: d.channels(), IncidentSeverity: d.Severity, Query: d.Query,
	}
	if team := page.Number(d.values.Get("team")); team != 0 {
		r.TeamIDs = []int64{team}
	}
	switch show {
	case "mine":
		r.ResponderIDs, r.Progress = []int64{v.Who.PersonID}, OpenIncidents
	case "open":
		r.Progress = OpenIncidents
	case "snoozed":
		r.IsSnoozed = true
	}
	return r
}

// readTabs counts the incidents of each tab.
func (d *incidentsView) readTabs(v *page.Visit) error {
	names := []string{v.T("Mine"), v.T("Open"), v.T("Snoozed"), v.T("All")}
	for i, show := range shows {
		tab := listTab{TabLink: page.TabLink{Link: page.Link{Path: d.Address("show", show), Text: names[i]}, Here: show == d.Show}}
		if show != "all" {
			request := d.request(v, show)
			request.Limit = 1
			counted, err := ReadList(v, request)
			if err != nil {
				return err
			}
			tab.Count = strconv.FormatInt(counted.Total, 10)
		}
		d.Tabs = append(d.Tabs, tab)
	}
	return nil
}

// readBoard reads the incidents of the tab.
func (d incidentsView) readBoard(v *page.Visit) (Board, error) {
	request := d.request(v, d.Show)
	request.Continue(0, d.Cursor)
	if d.Show == "all" {
		return readHistory(v, request)
	}
	return ReadBoard(v, request)
}

// channels returns the channel of the filter as lists take it; nil: none is chosen.
func (f listFilter) channels() []int64 {
	if channel := page.Number(f.Channel); channel != 0 {
		return []int64{channel}
	}
	return nil
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
	for _, part := range append([]string{"after", "until"}, doneParts...) {
		values.Del(part)
	}
	values.Set(name, value)
	if value == "" {
		values.Del(name)
	}
	return values
}

// within returns the parameters by which the page of an incident knows the list that it was opened from; empty: that of open incidents.
func (f listFilter) within() string {
	values := f.with("after", f.Cursor)
	if until := f.values.Get("until"); until != "" {
		values.Set("until", until)
	}
	if values.Get("show") == "open" {
		values.Del("show")
	}
	return values.Encode()
}

// Within returns what the addresses of the list's incidents end with.
func (f listFilter) Within() string {
	if list := f.within(); list != "" {
		return "?list=" + url.QueryEscape(list)
	}
	return ""
}

// After returns the parameters of the next page of the list. The window stays that of this page, or the cursor would not
// belong to it.
func (f listFilter) After(cursor string) string {
	values := f.with("after", cursor)
	values.Set("until", strconv.FormatInt(f.to, 10))
	return "?" + values.Encode()
}

// channels returns the channels that the visitor may choose from.
func channels(v *page.Visit) ([]named, error) {
	request := channel.ListRequest{IsBrief: true}
	request.Limit = 100
	reply, err := page.Call[api.CursorPage[channel.Shown]](v, "/channel/list", request)
	all := make([]named, len(reply.Items))
	for i, c := range reply.Items {
		all[i] = named{strconv.FormatInt(c.ChannelID, 10), c.ChannelName}
	}
	slices.SortStableFunc(all, func(a, b named) int { return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)) })
	return all, err
}

// teams returns the teams that the visitor may choose from.
func teams(v *page.Visit) ([]named, error) {
	request := team.ListRequest{OrderBy: "team_name", Asc: true}
	request.Limit = 100
	reply, err := page.Call[team.Listed](v, "/team/list", request)
	all := make([]named, len(reply.Items))
	for i, t := range reply.Items {
		all[i] = named{strconv.FormatInt(t.TeamID, 10), t.TeamName}
	}
	return all, err
}

// recently reports whether a moment, in Unix seconds, is not longer ago than a time.
func recently(v *page.Visit, at int64, ago time.Duration) bool {
	return at > 0 && v.Now.Unix()-at <= int64(ago/time.Second)
}

// listFilter is what the lists of incidents and alerts are filtered by in the address.
type listFilter struct {
	Query, Channel, Days, Cursor string
	Between                      between
	from, to                     int64
	values                       url.Values
}

// between is a window of the address, as a form holds it.
type between struct{ From, To string }

// Set reports whether the address names a window.
func (b between) Set() bool { return b.From != "" }

// readListFilter reads the filter of a list from the parameters of its address. Windows end now, unless these have an end.
func readListFilter(v *page.Visit, values url.Values) listFilter {
	f := listFilter{
		Query: strings.TrimSpace(values.Get("q")), Channel: values.Get("channel"), Days: values.Get("days"),
		Cursor: values.Get("after"), values: values,
	}
	if !slices.Contains(days, f.Days) {
		f.Days = "31"
	}
	f.to = v.Now.Unix() + 1
	if end := page.Number(values.Get("until")); end > 0 {
		f.to = end
	}
	f.from = max(1, f.to-page.Number(f.Days)*86400)
	f.readBetween(v)
	return f
}

// readBetween takes over a window of the address, which precedes the days. Without an end it has a month.
func (f *listFilter) readBetween(v *page.Visit) {
	from, err := page.ParseLocal(f.values.Get("from"), v.Zone)
	if err != nil {
		return
	}
	f.Between.From = v.Local(from)
	f.from = max(1, from.Unix())
	f.to = min(v.Now.Unix()+1, f.from+month)
	if to, err := page.ParseLocal(f.values.Get("to"), v.Zone); err == nil {
		f.Between.To, f.to = v.Local(to), to.Unix()+60 // the minute that is named is part of it
	}
}

// days are the windows that lists offer, in days.
var days = []string{"1", "7", "31"}
