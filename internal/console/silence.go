package console

import (
	"cmp"
	"net/url"
	"slices"

	"tocsin/internal/alert"
	"tocsin/internal/api"
	incidents "tocsin/internal/incident"
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

type silenceView struct {
	titled
	Subject string // the title of the alert or incident
	Back    string // the page of the alert or incident
	Whole   bool   // the subject is an incident
	Preview incidents.SilencePreview
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
	d := silenceView{Subject: a.Name(), Back: "/alerts/" + a.AlertID}
	return v.silenceForm(d, func(labels incidents.PreviewLabels) (incidents.SilencePreview, error) {
		request := incidents.PreviewAlertRequest{OneRequest: alert.OneRequest{AlertID: a.AlertID}, PreviewLabels: labels}
		return call[incidents.SilencePreview](v, "/alert/silence/preview", request)
	})
}

func showSilenceOfIncident(v *visit) (view, error) {
	i, err := v.findIncident()
	if err != nil {
		return nil, err
	}
	d := silenceView{Subject: i.Headline, Back: "/incidents/" + i.IncidentID, Whole: true}
	return v.silenceForm(d, func(labels incidents.PreviewLabels) (incidents.SilencePreview, error) {
		request := incidents.PreviewIncidentRequest{OneRequest: incidents.OneRequest{IncidentID: i.IncidentID}, PreviewLabels: labels}
		return call[incidents.SilencePreview](v, "/incident/silence/preview", request)
	})
}

// silenceForm returns the form with the entered choice, or at first with the narrowest choice for an hour.
func (v *visit) silenceForm(
	d silenceView, preview func(incidents.PreviewLabels) (incidents.SilencePreview, error),
) (view, error) {
	d.titled = titled(v.T("Silence %s", d.Subject))
	d.By, d.Minutes = cmp.Or(v.field("by"), "key"), int(cmp.Or(number(v.field("minutes")), 60))
	sent := v.field("by") != ""
	var labels incidents.PreviewLabels // absent: the usual ones
	if sent {
		labels.Labels = v.chosenLabels()
	}
	var err error
	d.Preview, err = preview(labels)
	if err != nil {
		return nil, err
	}
	d.Preview.Labels = slices.Clone(d.Preview.Labels)
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
	if v.field("do") == "preview" {
		return "", nil
	}
	request := incidents.SilenceAlertRequest{OneRequest: alert.OneRequest{AlertID: v.r.PathValue("id")}, SilenceRequest: v.silence()}
	next := "/alerts/" + url.PathEscape(v.r.PathValue("id")) + "?done=silence"
	return next, do[incidents.SilenceMade](v, "/alert/silence", request)
}

func silenceIncident(v *visit) (string, error) {
	if v.field("do") == "preview" {
		return "", nil
	}
	request := incidents.SilenceIncidentRequest{OneRequest: incidents.OneRequest{IncidentID: v.r.PathValue("id")}, SilenceRequest: v.silence()}
	next := "/incidents/" + url.PathEscape(v.r.PathValue("id")) + "?done=silence"
	return next, do[incidents.SilenceMade](v, "/incident/silence", request)
}

// silence returns the silence of the form.
func (v *visit) silence() incidents.SilenceRequest {
	request := incidents.SilenceRequest{Minutes: number(v.field("minutes")), RuleName: v.field("name")}
	if v.field("by") == "labels" {
		request.By, request.Labels = "labels", v.chosenLabels()
	}
	return request
}

// undoSilence returns an action that ends a silence, and leads back to the page.
func undoSilence(back string) func(*visit) (string, error) {
	return func(v *visit) (string, error) {
		path := back + url.PathEscape(v.r.PathValue("id")) + "?done=undo-silence"
		return path, do[api.Empty](v, "/alert/silence/undo", incidents.UndoSilenceRequest{RuleID: v.field("rule")})
	}
}

// madeSilence is a silence in force that a responder made from the alert or incident of a page.
type madeSilence struct {
	incidents.RespondersSilence
	Who  string
	Back string // the page
}

// silencesMade returns the silences of an alert or an incident that the visitor may end.
func (v *visit) silencesMade(back string, request incidents.SilencesRequest) (all []madeSilence, err error) {
	if !v.ManagesIncidents() {
		return nil, nil
	}
	reply, err := call[incidents.SilencesReply](v, "/alert/silence/list", request)
	if err != nil {
		return nil, err
	}
	var ids []int64
	for _, s := range reply.Items {
		ids = append(ids, s.MadeBy)
	}
	people, err := v.people(ids)
	for _, s := range reply.Items {
		all = append(all, madeSilence{s, people[s.MadeBy].Name, back})
	}
	return all, err
}
