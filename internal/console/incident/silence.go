package incident

import (
	"cmp"
	"math"
	"net/url"
	"slices"
	"time"

	"tocsin/internal/alert"
	"tocsin/internal/api"
	"tocsin/internal/console/page"
	incidents "tocsin/internal/incident"
)

var silencePages = []page.Page{
	{Path: "/alerts/{id}/silence", Template: "silence", Tab: "alerts", Show: showSilenceOfAlert, Needs: page.ManageIncidents},
	{Path: "/incidents/{id}/silence", Template: "silence", Tab: "incidents", Show: showSilenceOfIncident, Needs: page.ManageIncidents},
}

var silenceActions = []page.Action{
	{Path: "/alerts/{id}/silence", Do: silenceAlert, Show: showSilenceOfAlert, Template: "silence", Needs: page.ManageIncidents},
	{Path: "/incidents/{id}/silence", Do: silenceIncident, Show: showSilenceOfIncident, Template: "silence", Needs: page.ManageIncidents},
	{Path: "/alerts/{id}/silence/undo", Do: undoSilence("/alerts/"), Show: showAlert, Template: "alert", Needs: page.ManageIncidents},
	{Path: "/incidents/{id}/silence/undo", Do: undoSilence("/incidents/"), Show: showIncident, Template: "incident",
		Needs: page.ManageIncidents},
}

type silenceView struct {
	page.Titled
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

func showSilenceOfAlert(v *page.Visit) (page.View, error) {
	a, err := findAlert(v, v.Request.PathValue("id"))
	if err != nil {
		return nil, err
	}
	d := silenceView{Subject: a.Name(), Back: "/alerts/" + a.AlertID}
	return silenceForm(v, d, func(labels incidents.PreviewLabels) (incidents.SilencePreview, error) {
		request := incidents.PreviewAlertRequest{OneRequest: alert.OneRequest{AlertID: a.AlertID}, PreviewLabels: labels}
		return page.Call[incidents.SilencePreview](v, "/alert/silence/preview", request)
	})
}

func showSilenceOfIncident(v *page.Visit) (page.View, error) {
	i, err := findIncident(v)
	if err != nil {
		return nil, err
	}
	d := silenceView{Subject: i.Headline, Back: "/incidents/" + i.IncidentID, Whole: true}
	return silenceForm(v, d, func(labels incidents.PreviewLabels) (incidents.SilencePreview, error) {
		request := incidents.PreviewIncidentRequest{OneRequest: incidents.OneRequest{IncidentID: i.IncidentID}, PreviewLabels: labels}
		return page.Call[incidents.SilencePreview](v, "/incident/silence/preview", request)
	})
}

// silenceForm returns the form with the entered choice, or at first with the narrowest choice for an hour.
func silenceForm(v *page.Visit,
	d silenceView, preview func(incidents.PreviewLabels) (incidents.SilencePreview, error),
) (page.View, error) {
	d.Titled = page.Titled(v.T("Silence %s", d.Subject))
	d.By, d.Minutes = cmp.Or(v.Field("by"), "key"), int(cmp.Or(v.Number("minutes"), 60))
	sent := v.Field("by") != ""
	var labels incidents.PreviewLabels // absent: the usual ones
	if sent {
		labels.Labels = chosenLabels(v)
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
			l.Ticked = slices.Contains(chosenLabels(v), l.Name)
		}
		d.Ticked = d.Ticked || l.Ticked
	}
	return d, nil
}

// chosenLabels returns the names of the labels that are ticked.
func chosenLabels(v *page.Visit) []string { return append([]string{}, v.Request.PostForm["label"]...) }

func silenceAlert(v *page.Visit) (string, error) {
	if v.Field("do") == "preview" {
		return "", nil
	}
	request := incidents.SilenceAlertRequest{OneRequest: alert.OneRequest{AlertID: v.Request.PathValue("id")}, SilenceRequest: silence(v)}
	next := "/alerts/" + url.PathEscape(v.Request.PathValue("id")) + "?done=silence"
	return next, page.Do[incidents.SilenceMade](v, "/alert/silence", request)
}

func silenceIncident(v *page.Visit) (string, error) {
	if v.Field("do") == "preview" {
		return "", nil
	}
	request := incidents.SilenceIncidentRequest{OneRequest: incidents.OneRequest{IncidentID: v.Request.PathValue("id")},
		SilenceRequest: silence(v)}
	next := "/incidents/" + url.PathEscape(v.Request.PathValue("id")) + "?done=silence"
	return next, page.Do[incidents.SilenceMade](v, "/incident/silence", request)
}

// silence returns the silence of the form.
func silence(v *page.Visit) incidents.SilenceRequest {
	request := incidents.SilenceRequest{Minutes: v.Number("minutes"), RuleName: v.Field("name")}
	if v.Field("minutes") == "morning" {
		request.Minutes = untilMorning(v.Now.In(v.Zone))
	}
	if v.Field("by") == "labels" {
		request.By, request.Labels = "labels", chosenLabels(v)
	}
	return request
}

// longestSilence is how many minutes a responder's silence may last.
const longestSilence = 24 * 60

// untilMorning returns the minutes until the next 09:00 by the clock of the wall, a day at most: the day on which the clock is set
// back has an hour more.
func untilMorning(now time.Time) int64 {
	morning := time.Date(now.Year(), now.Month(), now.Day(), 9, 0, 0, 0, now.Location())
	if !morning.After(now) {
		morning = time.Date(now.Year(), now.Month(), now.Day()+1, 9, 0, 0, 0, now.Location())
	}
	return min(longestSilence, int64(math.Ceil(morning.Sub(now).Minutes())))
}

// undoSilence returns an action that ends a silence, and leads back to the page.
func undoSilence(back string) func(*page.Visit) (string, error) {
	return func(v *page.Visit) (string, error) {
		path := back + url.PathEscape(v.Request.PathValue("id")) + "?done=undo-silence"
		return path, page.Do[api.Empty](v, "/alert/silence/undo", incidents.UndoSilenceRequest{RuleID: v.Field("rule")})
	}
}

// madeSilence is a silence in force that a responder made from the alert or incident of a page.
type madeSilence struct {
	incidents.RespondersSilence
	Who  string
	Back string // the page
}

// silencesMade returns the silences of an alert or an incident that the visitor may end.
func silencesMade(v *page.Visit, back string, request incidents.SilencesRequest) (all []madeSilence, err error) {
	if !v.ManagesIncidents() {
		return nil, nil
	}
	reply, err := page.Call[incidents.SilencesReply](v, "/alert/silence/list", request)
	if err != nil {
		return nil, err
	}
	var ids []int64
	for _, s := range reply.Items {
		ids = append(ids, s.MadeBy)
	}
	people, err := v.People(ids)
	for _, s := range reply.Items {
		all = append(all, madeSilence{s, people[s.MadeBy].Name, back})
	}
	return all, err
}
