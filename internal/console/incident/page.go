package incident

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"tocsin/internal/alert"
	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/changeevent"
	"tocsin/internal/console/page"
	"tocsin/internal/core/filter"
	"tocsin/internal/core/sentence"
	"tocsin/internal/engine/explain"
	incidents "tocsin/internal/incident"
	"tocsin/internal/warroom"
)

type incidentView struct {
	page.Titled
	Incident incident
	Reason   sentence.Words       // why the visitor is notified of it; empty: the visitor is not
	Reached  string               // the persons who were notified
	Summary  sentence.Words       // why no person was
	Next     *explain.Next        // of the escalation; nil: none
	Mine     *incidents.Responder // the visitor as a responder; nil: is none
	Undo     bool                 // the visitor acknowledged it a moment ago
	Feed     feed
	Alerts   []page.AlertRow
	Labels   []pair // whose values are texts
	Links    []pair // whose values are addresses that a browser may open
	Fields   []pair
	Rooms    []warroom.Record
	Made     []madeSilence
	Apps     []named            // with which a war room can be opened
	Note     string             // that was being written
	Found    *page.RuleCard     // of the alert rule that found the first alert; nil: none did
	Changes  []changeevent.View // of its service, shortly before it began
	List     listFilter         // the list that it was opened from
	Before   *incident          // the incident that stands before it in the list; nil: none does
	After    *incident          // the one behind it
	Missing  []string
}

// pair is a name and its value.
type pair struct{ Name, Value string }

// notifiedNext returns who is notified next: names, and targets such as the person on call in a schedule.
func notifiedNext(v *page.Visit, n *explain.Next) string {
	names := make([]string, len(n.Who))
	for i, who := range n.Who {
		names[i] = v.Words(who).Text
	}
	return strings.Join(names, ", ")
}

// findIncident returns the incident of the address.
func findIncident(v *page.Visit) (incident, error) {
	i, err := page.Call[incidents.View](v, "/incident/info", incidents.OneRequest{IncidentID: v.Request.PathValue("id")})
	return incident{View: i}, err
}

func showIncident(v *page.Visit) (page.View, error) {
	i, err := findIncident(v)
	if err != nil {
		return nil, err
	}
	d := &incidentView{Titled: page.Titled(i.Headline), Incident: i, Note: v.Field("comment")}
	d.Labels, d.Links = labels(i.Labels)
	for n := range i.Responders {
		if i.Responders[n].PersonID == v.Who.PersonID {
			d.Mine = &i.Responders[n]
		}
	}
	d.Undo = d.Mine != nil && v.Query("done") == "ack" && i.Progress == "Processing" && recently(v, d.Mine.AcknowledgedAt, 5*time.Minute)
	for _, part := range []struct {
		name string
		read func(*page.Visit) error
	}{
		{v.T("Timeline"), d.readFeed}, {v.T("Why"), d.readWhy}, {v.T("Alerts"), d.readAlerts}, {v.T("Fields"), d.readFields},
		{v.T("War room"), d.readRooms}, {v.T("Silences"), d.readSilences},
		{v.T("Alert rule"), d.readRule}, // after the alerts
		{v.T("Changes"), d.readChanges}, {v.T("Open incidents"), d.readNeighbours},
	} {
		if err := part.read(v); err != nil {
			if api.RefusalOf(err) == nil {
				return nil, err
			}
			d.Missing = append(d.Missing, part.name)
		}
	}
	return *d, nil
}

func (d *incidentView) readFeed(v *page.Visit) (err error) {
	d.Feed, err = readFeed(v, func(part alert.FeedRequest) (api.CursorPage[alert.Entry], error) {
		request := incidents.FeedRequest{OneRequest: d.Incident.one(), FeedRequest: part}
		return page.Call[api.CursorPage[alert.Entry]](v, "/incident/feed", request)
	})
	if d.Incident.ChannelID != 0 && v.Who.MayAny(page.ReadLint) {
		linkRules(d.Feed.Lines, d.Incident.ChannelID)
	}
	return err
}

// readWhy reads why the visitor is notified, and who was notified at all.
func (d *incidentView) readWhy(v *page.Visit) error {
	x, err := explainIncident(v, d.Incident.IncidentID)
	if err != nil {
		return err
	}
	d.Reached, d.Summary = x.Reached(), x.Summary
	for _, s := range x.Incidents {
		if s.IncidentID != d.Incident.IncidentID {
			continue
		}
		d.Next = s.Next
		for _, n := range s.Notices {
			if n.PersonID == v.Who.PersonID && d.Reason == "" {
				d.Reason = n.Reason
			}
		}
	}
	return nil
}

func (d *incidentView) readAlerts(v *page.Visit) error {
	request := incidents.AlertListRequest{OneRequest: d.Incident.one(), Limit: page.PageSize}
	reply, err := page.Call[api.CursorPage[incidents.AlertView]](v, "/incident/alert/list", request)
	for _, a := range reply.Items {
		d.Alerts = append(d.Alerts, page.AlertRow{Alert: a.Alert})
	}
	return err
}

// readFields reads the names of the custom fields that have a value.
func (d *incidentView) readFields(v *page.Visit) error {
	if len(d.Incident.Fields) == 0 {
		return nil
	}
	fields, err := fields(v)
	for _, f := range fields {
		if value := page.Shown(d.Incident.Fields[f.FieldName]); value != "" {
			d.Fields = append(d.Fields, pair{f.DisplayName, value})
		}
	}
	return err
}

// readRule reads the rule that found an alert of the incident: the first that is open, else the first.
func (d *incidentView) readRule(v *page.Visit) (err error) {
	if len(d.Alerts) == 0 {
		return nil
	}
	open := slices.IndexFunc(d.Alerts, func(a page.AlertRow) bool { return a.EndTime == 0 })
	d.Found, err = v.RuleCard(d.Alerts[max(open, 0)])
	return err
}

// changesBefore is how long before an incident a change counts as one that may have led to it, in seconds.
const changesBefore = 2 * 3600

// readChanges reads the changes of the service of the incident in the hours before it.
func (d *incidentView) readChanges(v *page.Visit) error {
	service := d.Incident.Labels["service"]
	if service == "" || !v.Who.May(auth.ChannelsRead) {
		return nil
	}
	request := changeevent.ListRequest{
		StartTime: max(1, d.Incident.StartTime-changesBefore), EndTime: d.Incident.StartTime + 1,
		Filters: filter.Filter{{{Key: "labels.service", Oper: filter.In, Vals: []string{filter.Exact(service)}}}},
	}
	request.Limit = 5
	reply, err := page.Call[api.CursorPage[changeevent.View]](v, "/change/list", request)
	d.Changes = reply.Items
	return err
}

// Ago returns how long before the incident a change began.
func (d incidentView) Ago(c changeevent.View) int64 { return d.Incident.StartTime - c.StartTime }

// listOf returns the list that the visitor came from: the form or the address names its parameters.
func listOf(v *page.Visit) incidentsView {
	address := url.URL{RawQuery: v.Request.FormValue("list")}
	return readIncidentsView(v, address.Query())
}

// ListPath returns the address of the list that the incident was opened from.
func (d incidentView) ListPath() string { return d.List.SendTo() }

// ListQuery returns the parameters of that list, as the forms of the page send them.
func (d incidentView) ListQuery() string { return d.List.within() }

// readNeighbours reads the incidents before and behind it in the list that the visitor came from.
func (d *incidentView) readNeighbours(v *page.Visit) error {
	list := listOf(v)
	d.List = list.listFilter
	if !d.Incident.Open() && list.Show == "open" {
		return nil
	}
	board, err := list.readBoard(v)
	var all []incident
	for _, p := range board.Parts {
		for _, r := range p.Rows {
			all = append(all, r.All()...)
		}
	}
	at := slices.IndexFunc(all, func(i incident) bool { return i.IncidentID == d.Incident.IncidentID })
	if at < 0 {
		return err
	}
	d.Incident.Untold = all[at].Untold
	if at > 0 {
		d.Before = &all[at-1]
	}
	if at+1 < len(all) {
		d.After = &all[at+1]
	}
	return err
}

func (d *incidentView) readSilences(v *page.Visit) (err error) {
	d.Made, err = silencesMade(v, "/incidents/"+d.Incident.IncidentID, incidents.SilencesRequest{IncidentID: d.Incident.IncidentID})
	return err
}

func (d *incidentView) readRooms(v *page.Visit) error {
	if !v.Who.May(auth.IncidentsRead) {
		return nil
	}
	var err error
	d.Rooms, d.Apps, err = roomsOf(v, d.Incident)
	return err
}

// pairs returns a map as a list, in the order of the names.
func pairs(m map[string]string) []pair {
	list := make([]pair, 0, len(m))
	for name, value := range m {
		list = append(list, pair{name, value})
	}
	slices.SortFunc(list, func(a, b pair) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// labels returns labels whose values are texts, and those whose values are addresses that a browser may open.
func labels(m map[string]string) (texts, links []pair) {
	for _, p := range pairs(m) {
		if link := outside(p.Value); link != "" {
			links = append(links, pair{p.Name, link})
		} else {
			texts = append(texts, p)
		}
	}
	return texts, links
}

// outside returns an address of another site if a browser may open it; empty otherwise. Links in alerts are written by
// strangers.
func outside(link string) string {
	u, err := url.Parse(strings.TrimSpace(link))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	return u.String()
}
