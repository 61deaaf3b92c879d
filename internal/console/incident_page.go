package console

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	incidents "tocsin/internal/incident"
)

// incident is what the page of an incident shows of it.
type incident struct {
	incidentRow
	Description string                    `json:"description"`
	About       string                    `json:"headline_text"` // the description of the alert that the headline names; empty: Description
	Impact      string                    `json:"impact"`
	RootCause   string                    `json:"root_cause"`
	Resolution  string                    `json:"resolution"`
	LastTime    int64                     `json:"last_time"`
	Labels      map[string]string         `json:"labels"`
	Fields      map[string]jsontext.Value `json:"fields"`
	EverMuted   bool                      `json:"ever_muted"`
	Closer      *responder                `json:"closer"`
	Creator     *responder                `json:"creator"`
	CloserID    int64                     `json:"closer_id"`
}

type incidentView struct {
	titled
	Incident incident
	Reason   string     // why the visitor is notified of it; empty: the visitor is not
	Reached  string     // the persons who were notified
	Summary  string     // why no person was
	Next     *next      // of the escalation; nil: none
	Mine     *responder // the visitor as a responder; nil: is none
	Undo     bool       // the visitor acknowledged it a moment ago
	Feed     feed
	Alerts   []alertRow
	Labels   []pair // whose values are texts
	Links    []pair // whose values are addresses that a browser may open
	Fields   []pair
	Rooms    []warRoom
	Made     []madeSilence
	Apps     []named   // with which a war room can be opened
	Note     string    // that was being written
	Found    *ruleCard // of the alert rule that found the first alert; nil: none did
	Missing  []string
}

// pair is a name and its value.
type pair struct{ Name, Value string }

// next is the next step of an escalation.
type next struct {
	At  int64    `json:"at"`
	Who []string `json:"who"`
}

// NotifiedNext returns who is notified next: names, and targets such as the person on call in a schedule.
func (v *visit) NotifiedNext(n *next) string {
	names := make([]string, len(n.Who))
	for i, who := range n.Who {
		names[i] = v.Words(who).Text
	}
	return strings.Join(names, ", ")
}

// findIncident returns the incident of the address.
func (v *visit) findIncident() (i incident, err error) {
	err = v.call("/incident/info", map[string]any{"incident_id": v.r.PathValue("id")}, &i)
	return i, err
}

func showIncident(v *visit) (view, error) {
	i, err := v.findIncident()
	if err != nil {
		return nil, err
	}
	d := &incidentView{titled: titled(i.Title), Incident: i, Note: v.field("comment")}
	d.Labels, d.Links = labels(i.Labels)
	for n := range i.Responders {
		if i.Responders[n].ID == v.who.PersonID {
			d.Mine = &i.Responders[n]
		}
	}
	d.Undo = d.Mine != nil && v.query("done") == "ack" && i.Progress == "Processing" && v.recently(d.Mine.AckedAt, 5*time.Minute)
	for _, part := range []struct {
		name string
		read func(*visit) error
	}{
		{v.T("What happened"), d.readFeed}, {v.T("Why"), d.readWhy}, {v.T("Alerts"), d.readAlerts}, {v.T("Fields"), d.readFields},
		{v.T("War room"), d.readRooms}, {v.T("Silences"), d.readSilences},
		{v.T("Alert rule"), d.readRule}, // after the alerts
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

func (d *incidentView) readFeed(v *visit) (err error) {
	d.Feed, err = v.feed("/incident/feed", map[string]any{"incident_id": d.Incident.ID})
	return err
}

// readWhy reads why the visitor is notified, and who was notified at all.
func (d *incidentView) readWhy(v *visit) error {
	x, err := v.explain("/incident/explain", map[string]any{"incident_id": d.Incident.ID})
	if err != nil {
		return err
	}
	d.Reached, d.Summary = x.Reached(), x.Summary
	for _, s := range x.Incidents {
		if s.ID != d.Incident.ID {
			continue
		}
		d.Next = s.Next
		for _, n := range s.Notices {
			if n.PersonID == v.who.PersonID && d.Reason == "" {
				d.Reason = n.Reason
			}
		}
	}
	return nil
}

func (d *incidentView) readAlerts(v *visit) error {
	var reply struct {
		Items []alertRow `json:"items"`
	}
	err := v.call("/incident/alert/list", map[string]any{"incident_id": d.Incident.ID, "limit": pageSize}, &reply)
	d.Alerts = reply.Items
	return err
}

// readFields reads the names of the custom fields that have a value.
func (d *incidentView) readFields(v *visit) error {
	if len(d.Incident.Fields) == 0 {
		return nil
	}
	fields, err := v.fields()
	for _, f := range fields {
		if value := shown(d.Incident.Fields[f.Name]); value != "" {
			d.Fields = append(d.Fields, pair{f.Display, value})
		}
	}
	return err
}

// readRule reads the rule that found an alert of the incident: the first that is open, else the first.
func (d *incidentView) readRule(v *visit) (err error) {
	if len(d.Alerts) == 0 {
		return nil
	}
	open := slices.IndexFunc(d.Alerts, func(a alertRow) bool { return a.End == 0 })
	d.Found, err = v.ruleCard(d.Alerts[max(open, 0)])
	return err
}

func (d *incidentView) readSilences(v *visit) (err error) {
	d.Made, err = v.silencesMade("/incidents/"+d.Incident.ID, incidents.SilencesRequest{IncidentID: d.Incident.ID})
	return err
}

type warRoom struct {
	AppID  int64  `json:"integration_id"`
	ChatID string `json:"chat_id"`
	Name   string `json:"chat_name"`
	Link   string `json:"share_link"`
	Status string `json:"status"`
	Plugin string `json:"plugin_type"`
}

func (d *incidentView) readRooms(v *visit) error {
	if !v.who.May(auth.IncidentsRead) {
		return nil
	}
	var rooms struct {
		Items []warRoom `json:"items"`
	}
	if err := v.call("/incident/war-room/list", map[string]any{"incident_id": d.Incident.ID}, &rooms); err != nil {
		return err
	}
	d.Rooms = rooms.Items
	var apps struct {
		Items []struct {
			ID     int64  `json:"integration_id"`
			Name   string `json:"integration_name"`
			Plugin string `json:"plugin_type"`
		} `json:"items"`
	}
	if !v.ManagesIncidents() || !d.Incident.Open() {
		return nil
	}
	err := v.call("/datasource/im/war-room-enabled/list", struct{}{}, &apps)
	if refused := api.RefusalOf(err); refused != nil && refused.Code == "AccessDenied" {
		return nil // the visitor may not see integrations: there is nothing to open one with
	}
	for _, a := range apps.Items {
		if !slices.ContainsFunc(d.Rooms, func(r warRoom) bool { return r.AppID == a.ID }) {
			d.Apps = append(d.Apps, named{strconv.FormatInt(a.ID, 10), a.Name})
		}
	}
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

// shown returns the value of a field for people.
func shown(value jsontext.Value) string {
	var some any
	if len(value) == 0 || json.Unmarshal(value, &some) != nil {
		return ""
	}
	switch some := some.(type) {
	case nil:
		return ""
	case string:
		return some
	case []any:
		var words []string
		for _, one := range some {
			if text, ok := one.(string); ok {
				words = append(words, text)
			}
		}
		return strings.Join(words, ", ")
	}
	return string(value)
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
