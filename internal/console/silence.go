package console

import (
	"cmp"
	"net/url"
	"slices"
)

var silencePages = []page{
	{path: "/alerts/{id}/silence", template: "silence", tab: "alerts", show: showSilenceOfAlert, needs: manageIncidents},
	{path: "/incidents/{id}/silence", template: "silence", tab: "incidents", show: showSilenceOfIncident, needs: manageIncidents},
}

var silenceActions = []action{
	{path: "/alerts/{id}/silence", do: silenceAlert, show: showSilenceOfAlert, page: "silence", needs: manageIncidents},
	{path: "/incidents/{id}/silence", do: silenceIncident, show: showSilenceOfIncident, page: "silence", needs: manageIncidents},
	{path: "/alerts/{id}/silence/undo", do: undoSilence("/alerts/"), show: showAlert, page: "alert", needs: manageIncidents},
	{path: "/incidents/{id}/silence/undo", do: undoSilence("/incidents/"), show: showIncident, page: "incident", needs: manageIncidents},
}

// silencePreview is the API's preview of the alerts that silences would cover now.
type silencePreview struct {
	Name     string         `json:"rule_name"`
	Severity string         `json:"severity"`
	ByKey    silenceCover   `json:"by_key"`
	ByLabels silenceCover   `json:"by_labels"`
	Labels   []silenceLabel `json:"labels"`
	Complete bool           `json:"complete"`
}

type silenceCover struct {
	Open    int64  `json:"open_alerts"`
	Refused string `json:"refused"`
}

type silenceLabel struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Ticked bool   `json:"ticked"`
}

type silenceView struct {
	titled
	Subject string // the title of the alert or incident
	Back    string // the page of the alert or incident
	Whole   bool   // the subject is an incident
	Preview silencePreview
	By      string // key or labels
	Minutes int
	Ticked  bool // a label is ticked
}

// Path returns the address that the form is sent to.
func (d silenceView) Path() string { return d.Back + "/silence" }

func showSilenceOfAlert(v *visit) (view, error) {
	a, err := v.findAlert(v.r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	d := silenceView{Subject: a.Name(), Back: "/alerts/" + a.ID}
	return v.silenceForm(d, "/alert/silence/preview", map[string]any{"alert_id": a.ID})
}

func showSilenceOfIncident(v *visit) (view, error) {
	i, err := v.findIncident()
	if err != nil {
		return nil, err
	}
	d := silenceView{Subject: i.Title, Back: "/incidents/" + i.ID, Whole: true}
	return v.silenceForm(d, "/incident/silence/preview", map[string]any{"incident_id": i.ID})
}

// silenceForm returns the form with the entered choice, or at first with the narrowest choice for an hour.
func (v *visit) silenceForm(d silenceView, path string, request map[string]any) (view, error) {
	d.titled = titled(v.T("Silence %s", d.Subject))
	d.By, d.Minutes = cmp.Or(v.field("by"), "key"), int(cmp.Or(number(v.field("minutes")), 60))
	sent := v.field("by") != ""
	if sent {
		request["labels"] = v.chosenLabels()
	}
	if err := v.call(path, request, &d.Preview); err != nil {
		return nil, err
	}
	for i := range d.Preview.Labels {
		l := &d.Preview.Labels[i]
		if sent {
			l.Ticked = slices.Contains(v.chosenLabels(), l.Name)
		}
		d.Ticked = d.Ticked || l.Ticked
	}
	return d, nil
}

// chosenLabels returns the names of the labels that are ticked.
func (v *visit) chosenLabels() []string { return append([]string{}, v.r.PostForm["label"]...) }

func silenceAlert(v *visit) (string, error) {
	return v.silence("/alert/silence", map[string]any{"alert_id": v.r.PathValue("id")}, "/alerts/")
}

func silenceIncident(v *visit) (string, error) {
	return v.silence("/incident/silence", map[string]any{"incident_id": v.r.PathValue("id")}, "/incidents/")
}

// silence creates the silence of the form, unless the visitor asks for the preview.
func (v *visit) silence(operation string, request map[string]any, back string) (string, error) {
	if v.field("do") == "preview" {
		return "", nil
	}
	request["minutes"] = number(v.field("minutes"))
	if name := v.field("name"); name != "" {
		request["rule_name"] = name
	}
	if v.field("by") == "labels" {
		request["by"], request["labels"] = "labels", v.chosenLabels()
	}
	return back + url.PathEscape(v.r.PathValue("id")) + "?done=silence", v.call(operation, request, nil)
}

// undoSilence returns an action that ends a silence, and leads back to the page.
func undoSilence(back string) func(*visit) (string, error) {
	return func(v *visit) (string, error) {
		path := back + url.PathEscape(v.r.PathValue("id")) + "?done=undo-silence"
		return path, v.call("/alert/silence/undo", map[string]any{"rule_id": v.field("rule")}, nil)
	}
}

// madeSilence is a silence in force that a responder made from the alert or incident of a page.
type madeSilence struct {
	RuleID string `json:"rule_id"`
	Name   string `json:"rule_name"`
	Until  int64  `json:"until"`
	By     int64  `json:"made_by"`
	Who    string `json:"-"`
	Back   string `json:"-"` // the page
}

// silencesMade returns the silences of an alert or an incident that the visitor may end.
func (v *visit) silencesMade(back string, request map[string]any) ([]madeSilence, error) {
	if !v.ManagesIncidents() {
		return nil, nil
	}
	var reply struct {
		Items []madeSilence `json:"items"`
	}
	if err := v.call("/alert/silence/list", request, &reply); err != nil {
		return nil, err
	}
	var ids []int64
	for _, s := range reply.Items {
		ids = append(ids, s.By)
	}
	people, err := v.people(ids)
	for i := range reply.Items {
		s := &reply.Items[i]
		s.Who, s.Back = people[s.By].Name, back
	}
	return reply.Items, err
}
