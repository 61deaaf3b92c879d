package incident

import (
	"net/url"
	"slices"

	"tocsin/internal/api"
	"tocsin/internal/console/page"
	incidents "tocsin/internal/incident"
)

var mergePages = []page.Page{
	{Path: "/incidents/{id}/merge", Template: "incident_merge", Tab: "incidents", Show: showIncidentMerge, Needs: page.ManageIncidents},
	{Path: "/alerts/{id}/merge", Template: "incident_merge", Tab: "alerts", Show: showAlertMerge, Needs: page.ManageIncidents},
}

var mergeActions = []page.Action{
	{Path: "/incidents/{id}/merge", Do: mergeIncident, Show: showIncidentMerge, Template: "incident_merge", Needs: page.ManageIncidents},
	{Path: "/alerts/{id}/merge", Do: mergeAlert, Show: showAlertMerge, Template: "incident_merge", Needs: page.ManageIncidents},
}

// mergeView is the form in which the incident is chosen that an incident or an alert moves to.
type mergeView struct {
	page.Titled
	Back, Name string // of the incident or the alert
	IsAlert    bool
	Query      string
	Incidents  []incident
	People     page.Offer
	Owner      page.Picker
}

// showIncidentMerge shows the open incidents that the incident can be merged into.
func showIncidentMerge(v *page.Visit) (page.View, error) {
	i, err := findIncident(v)
	if err != nil {
		return nil, err
	}
	d := mergeView{Titled: page.Titled(v.T("Merge %s", i.Headline)), Back: "/incidents/" + i.IncidentID, Name: i.Headline}
	return d, d.read(v, i.IncidentID)
}

// showAlertMerge shows the open incidents that the alert can be moved to.
func showAlertMerge(v *page.Visit) (page.View, error) {
	a, err := findAlert(v, v.Request.PathValue("id"))
	if err != nil {
		return nil, err
	}
	present := ""
	if a.Incident != nil {
		present = a.Incident.IncidentID
	}
	d := mergeView{Titled: page.Titled(v.T("Move %s", a.Name())), Back: "/alerts/" + a.AlertID, Name: a.Name(), IsAlert: true}
	return d, d.read(v, present)
}

// read reads the incidents to choose from, without the present one.
func (d *mergeView) read(v *page.Visit, present string) error {
	d.Query = v.Query("q")
	filter := incidents.ListRequest{Progress: OpenIncidents, Query: d.Query}
	filter.Limit = page.PageSize
	list, err := ReadList(v, filter)
	if err != nil {
		return err
	}
	d.Incidents = slices.DeleteFunc(list.Items, func(other incident) bool { return other.IncidentID == present })
	d.People, err = v.PeopleOffer()
	chosen, _ := d.People.Read(v, "owner") // a name that is not known stays in its input
	d.Owner = d.People.Picker(v, "owner", v.T("Who leads from now on"), chosen)
	d.Owner.Hint = v.T("Empty: as before.")
	return err
}

// mergeTarget returns the incident that was chosen, and who is to lead it; 0: as before.
func mergeTarget(v *page.Visit) (target string, owner int64, err error) {
	target = v.Field("target")
	if target == "" {
		return "", 0, page.Wrong(v.T("Choose the incident to merge into."))
	}
	people, err := v.PeopleOffer()
	if err != nil {
		return "", 0, err
	}
	chosen, err := people.Read(v, "owner")
	if err == nil && len(chosen) > 1 {
		err = page.Wrong(v.T("%s: choose only one.", v.T("Who leads from now on")))
	}
	return target, append(chosen, 0)[0], err
}

// mergeIncident moves the alerts of this incident to another one, and goes there.
func mergeIncident(v *page.Visit) (string, error) {
	target, owner, err := mergeTarget(v)
	if err != nil {
		return "", err
	}
	request := incidents.MergeRequest{
		SourceIncidentIDs: []string{v.Request.PathValue("id")}, TargetIncidentID: target, Comment: lines(v.Field("comment")),
		Title: v.Field("title"), OwnerID: owner, RemoveSourceIncidents: v.Field("remove") != "",
	}
	return "/incidents/" + url.PathEscape(target) + "?done=merge", page.Do[api.Empty](v, "/incident/merge", request)
}

// mergeAlert moves the alert to another incident, and goes there.
func mergeAlert(v *page.Visit) (string, error) {
	target, owner, err := mergeTarget(v)
	if err != nil {
		return "", err
	}
	request := incidents.MergeAlertsRequest{
		SomeAlerts: incidents.SomeAlerts{AlertIDs: []string{v.Request.PathValue("id")}}, OneRequest: incidents.OneRequest{IncidentID: target},
		Comment: lines(v.Field("comment")), Title: v.Field("title"), OwnerID: owner,
	}
	return "/incidents/" + url.PathEscape(target) + "?done=merge", page.Do[api.Empty](v, "/alert/merge", request)
}
