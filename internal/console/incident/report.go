package incident

import (
	"net/url"
	"strconv"

	"tocsin/internal/console/page"
	incidents "tocsin/internal/incident"
)

var reportPages = []page.Page{
	{Path: "/incidents/new", Template: "record", Tab: "incidents", Show: showReport, Needs: page.ManageIncidents},
}

var reportActions = []page.Action{
	{Path: "/incidents/new", Do: report, Show: showReport, Template: "record", Needs: page.ManageIncidents},
}

var reportForm = page.Form{Operations: []string{"/incident/create"}, Members: []page.Member{
	{Path: "title", Label: "Title", Hint: "What people read first."},
	{Path: "incident_severity", Label: "Severity", Options: []page.Option{
		{Value: "Critical", Text: "Critical"}, {Value: "Warning", Text: "Warning"}, {Value: "Info", Text: "Info"},
	}},
	{Path: "channel_id", Label: "Channel", Choices: reportChannels, Hint: "Its escalation rule notifies, unless you choose people."},
	{Path: "description", Label: "Description", Kind: page.Long},
	{Path: "assigned_to.person_ids", Label: "People", Kind: page.People, Hint: "They are notified at once, instead of the rule."},
	{Path: "assigned_to.emails", Label: "E-mail addresses", Hint: "Of others, one on each line.", Seldom: true},
}}

// reportChannels returns the channels of which an incident can be reported.
func reportChannels(v *page.Visit) ([]page.Option, error) {
	options := []page.Option{{Value: "0", Text: v.T("None")}}
	all, err := v.ChannelChoices()
	for _, c := range all {
		options = append(options, page.Option{Value: strconv.FormatInt(c.ChannelID, 10), Text: c.ChannelName})
	}
	return options, err
}

// showReport shows the form of an incident that a person reports.
func showReport(v *page.Visit) (page.View, error) {
	d := page.RecordForm{Titled: page.Titled(v.T("Report an incident")), Back: "/incidents", Path: v.Request.URL.Path, May: true}
	return &d, reportForm.Draw(v, &d, incidents.CreateRequest{IncidentSeverity: "Critical", ChannelID: page.Number(v.Query("channel"))})
}

// report opens the incident, and shows it with who was notified.
func report(v *page.Visit) (string, error) {
	var request incidents.CreateRequest
	if err := reportForm.Read(v, &request); err != nil {
		return "", err
	}
	made, err := page.Call[incidents.Created](v, "/incident/create", request)
	return "/incidents/" + url.PathEscape(made.IncidentID), err
}
