package incident

import (
	"net/http"
	"net/url"
	"strings"

	"tocsin/internal/api"
	"tocsin/internal/console/page"
	incidents "tocsin/internal/incident"
)

var incidentActions = []page.Action{
	{Path: "/incidents/{id}/ack", Do: ackIncident, Show: showIncident, Template: "incident", Needs: page.ManageIncidents},
	{Path: "/incidents/{id}/unack", Do: onIncident("unack", unacknowledge), Show: showIncident, Template: "incident",
		Needs: page.ManageIncidents},
	{Path: "/incidents/{id}/answer", Do: onIncident("answer", answer), Show: showIncident, Template: "incident", Needs: page.ManageIncidents},
	{Path: "/incidents/{id}/resolve", Do: onIncident("resolve", resolve), Show: showIncident, Template: "incident",
		Needs: page.ManageIncidents},
	{Path: "/incidents/{id}/reopen", Do: reopenIncident, Show: showIncident, Template: "incident", Needs: page.ManageIncidents},
	{Path: "/incidents/{id}/wake", Do: onIncident("wake", wake), Show: showIncident, Template: "incident", Needs: page.ManageIncidents},
	{Path: "/incidents/{id}/snooze", Do: onIncident("snooze", snooze), Show: showIncident, Template: "incident", Needs: page.ManageIncidents},
	{Path: "/incidents/{id}/comment", Do: commentIncident, Show: showIncident, Template: "incident", Needs: page.ManageIncidents},
	{Path: "/incidents/{id}/people", Do: assignIncident, Show: showIncidentPeople, Template: "incident_people", Needs: page.ManageIncidents},
	{Path: "/incidents/{id}/edit", Do: editIncident, Show: showIncidentEdit, Template: "incident_edit", Needs: page.ManageIncidents},
}

// incidentPath returns the address of the incident of the visit, with what was done to it, and the list that it was opened from.
func incidentPath(v *page.Visit, done string) string {
	path := "/incidents/" + url.PathEscape(v.Request.PathValue("id"))
	values := url.Values{}
	if done != "" {
		values.Set("done", done)
	}
	if list := v.Field("list"); list != "" {
		values.Set("list", list)
	}
	if len(values) == 0 {
		return path
	}
	return path + "?" + values.Encode()
}

// onIncident returns an action that does something to the incident of the address, then adds the note that was written beside it:
// what was typed must not be lost because another button was pressed.
func onIncident(done string, act func(*page.Visit, incidents.Some) error) func(*page.Visit) (string, error) {
	return func(v *page.Visit) (string, error) {
		if err := act(v, thisIncident(v)); err != nil {
			return "", err
		}
		return incidentPath(v, done), addNote(v)
	}
}

// thisIncident names the incident of the address.
func thisIncident(v *page.Visit) incidents.Some {
	return incidents.Some{IncidentIDs: []string{v.Request.PathValue("id")}}
}

func acknowledge(v *page.Visit, some incidents.Some) error {
	return page.Do[api.Empty](v, "/incident/ack", some)
}

func unacknowledge(v *page.Visit, some incidents.Some) error {
	return page.Do[api.Empty](v, "/incident/unack", some)
}

func wake(v *page.Visit, some incidents.Some) error {
	return page.Do[api.Empty](v, "/incident/wake", some)
}

func resolve(v *page.Visit, some incidents.Some) error {
	return page.Do[api.Empty](v, "/incident/resolve", incidents.ResolveRequest{
		Some: some, RootCause: lines(v.Field("root_cause")), Resolution: lines(v.Field("resolution")),
	})
}

func reopen(v *page.Visit, some incidents.Some) error {
	return page.Do[api.Empty](v, "/incident/reopen", incidents.ReopenRequest{Some: some})
}

// reopenIncident reopens the incident of the address. The note that was written beside it is the reason.
func reopenIncident(v *page.Visit) (string, error) {
	request := incidents.ReopenRequest{Some: thisIncident(v), Reason: lines(v.Field("comment"))}
	return incidentPath(v, "reopen"), page.Do[api.Empty](v, "/incident/reopen", request)
}

func answer(v *page.Visit, some incidents.Some) error {
	return page.Do[api.Empty](v, "/incident/answer", incidents.AnswerRequest{Some: some, Answer: v.Field("answer")})
}

func snooze(v *page.Visit, some incidents.Some) error {
	return page.Do[api.Empty](v, "/incident/snooze", incidents.SnoozeRequest{Some: some, Minutes: v.Number("minutes")})
}

// addNote adds the note of the form to the feed; an empty one is none.
func addNote(v *page.Visit) error {
	note := lines(v.Field("comment"))
	if note == "" {
		return nil
	}
	return page.Do[api.Empty](v, "/incident/comment", incidents.CommentRequest{Some: thisIncident(v), Comment: note})
}

// ackIncident acknowledges, unless another person was faster since the page was drawn: then two people would work on
// the same without a word. The page then names the first and offers to acknowledge as well.
func ackIncident(v *page.Visit) (string, error) {
	if v.Field("seen") == "Triggered" {
		i, err := findIncident(v)
		if err != nil {
			return "", err
		}
		if ackers := i.Ackers(); len(ackers) > 0 && ackers[0].PersonID != v.Who.PersonID {
			first := v.T("%s acknowledged it first, %s ago.", ackers[0].PersonName, v.Since(ackers[0].AcknowledgedAt))
			return "", &api.Refusal{Status: http.StatusConflict, Code: "Conflict", Message: first}
		}
	}
	return onIncident("ack", acknowledge)(v)
}

func commentIncident(v *page.Visit) (string, error) {
	if v.Field("comment") == "" {
		return "", &api.Refusal{Status: http.StatusBadRequest, Code: "BadRequest", Message: v.T("Write a note first.")}
	}
	return incidentPath(v, "comment"), addNote(v)
}

// assignIncident makes persons responsible: instead of the present ones, besides them, or by an escalation rule.
func assignIncident(v *page.Visit) (string, error) {
	persons, err := chosenPersons(v)
	if err != nil {
		return "", err
	}
	one := incidents.OneRequest{IncidentID: v.Request.PathValue("id")}
	to := incidents.AssignedTo{PersonIDs: persons}
	how := v.Field("how")
	if rule := v.Field("rule"); how == "rule" && rule != "" {
		to = incidents.AssignedTo{EscalateRuleID: rule, LayerIdx: max(v.Number("step"), 1) - 1}
	}
	var reply incidents.Assigned
	if how == "add" {
		reply, err = page.Call[incidents.Assigned](v, "/incident/responder/add",
			incidents.AddRespondersRequest{OneRequest: one, PersonIDs: persons})
	} else {
		request := incidents.AssignRequest{IncidentID: one.IncidentID, AssignedTo: to}
		reply, err = page.Call[incidents.Assigned](v, "/incident/assign", request)
	}
	if err == nil && len(reply.Warnings.Warnings) > 0 {
		v.Made = reply.Warnings.Warnings
		return "", nil
	}
	return incidentPath(v, "people"), err
}

// editIncident changes the texts, the severity and the custom fields that differ from what the form was drawn with: what
// another person has changed meanwhile stays.
func editIncident(v *page.Visit) (string, error) {
	one := incidents.OneRequest{IncidentID: v.Request.PathValue("id")}
	request := incidents.ResetRequest{
		OneRequest: one, Title: changed(v, "title"), Description: changed(v, "description"), Impact: changed(v, "impact"),
		RootCause: changed(v, "root_cause"), Resolution: changed(v, "resolution"), IncidentSeverity: changed(v, "incident_severity"),
	}
	if request != (incidents.ResetRequest{OneRequest: one}) {
		if err := page.Do[api.Empty](v, "/incident/reset", request); err != nil {
			return "", err
		}
	}
	fields, err := fields(v)
	if err != nil {
		return "", err
	}
	for _, f := range fields {
		value, changed, err := f.sent(v)
		if err != nil {
			return "", err
		}
		if !changed {
			continue
		}
		request := incidents.FieldResetRequest{OneRequest: one, FieldName: f.FieldName, FieldValue: value}
		if err := page.Do[api.Empty](v, "/incident/field/reset", request); err != nil {
			return "", err
		}
	}
	return incidentPath(v, "edit"), nil
}

// changed returns a text of the form that differs from what the form was drawn with; nil: it does not, or is not in the form.
func changed(v *page.Visit, name string) *string {
	sent, has := v.Request.PostForm[name]
	if !has || lines(sent[0]) == lines(v.Request.PostFormValue("was_"+name)) {
		return nil
	}
	return new(lines(sent[0]))
}

// lines returns a text as it was typed: browsers send line breaks as two characters.
func lines(text string) string { return strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n")) }
