package console

import (
	"net/http"
	"net/url"
	"strings"

	"tocsin/internal/api"
	incidents "tocsin/internal/incident"
	"tocsin/internal/warroom"
)

var incidentActions = []action{
	{path: "/incidents/{id}/ack", do: ackIncident, show: showIncident, page: "incident", needs: manageIncidents},
	{path: "/incidents/{id}/unack", do: onIncident("unack", unacknowledge), show: showIncident, page: "incident", needs: manageIncidents},
	{path: "/incidents/{id}/answer", do: onIncident("answer", answer), show: showIncident, page: "incident", needs: manageIncidents},
	{path: "/incidents/{id}/resolve", do: onIncident("resolve", resolve), show: showIncident, page: "incident", needs: manageIncidents},
	{path: "/incidents/{id}/reopen", do: onIncident("reopen", reopen), show: showIncident, page: "incident", needs: manageIncidents},
	{path: "/incidents/{id}/wake", do: onIncident("wake", wake), show: showIncident, page: "incident", needs: manageIncidents},
	{path: "/incidents/{id}/snooze", do: onIncident("snooze", snooze), show: showIncident, page: "incident", needs: manageIncidents},
	{path: "/incidents/{id}/comment", do: commentIncident, show: showIncident, page: "incident", needs: manageIncidents},
	{path: "/incidents/{id}/room", do: openRoom, show: showIncident, page: "incident", needs: manageIncidents},
	{path: "/incidents/{id}/people", do: assignIncident, show: showIncidentPeople, page: "incident_people", needs: manageIncidents},
	{path: "/incidents/{id}/merge", do: mergeIncident, show: showIncidentMerge, page: "incident_merge", needs: manageIncidents},
	{path: "/incidents/{id}/edit", do: editIncident, show: showIncidentEdit, page: "incident_edit", needs: manageIncidents},
}

// incidentPath returns the address of the incident of the visit, with what was done to it.
func (v *visit) incidentPath(done string) string {
	path := "/incidents/" + url.PathEscape(v.r.PathValue("id"))
	if done == "" {
		return path
	}
	return path + "?done=" + done
}

// onIncident returns an action that does something to the incident of the address, then adds the note that was written beside it:
// what was typed must not be lost because another button was pressed.
func onIncident(done string, act func(*visit, incidents.Some) error) func(*visit) (string, error) {
	return func(v *visit) (string, error) {
		if err := act(v, v.thisIncident()); err != nil {
			return "", err
		}
		return v.incidentPath(done), v.addNote()
	}
}

// thisIncident names the incident of the address.
func (v *visit) thisIncident() incidents.Some {
	return incidents.Some{IncidentIDs: []string{v.r.PathValue("id")}}
}

func acknowledge(v *visit, some incidents.Some) error { return do[api.Empty](v, "/incident/ack", some) }

func unacknowledge(v *visit, some incidents.Some) error {
	return do[api.Empty](v, "/incident/unack", some)
}

func wake(v *visit, some incidents.Some) error { return do[api.Empty](v, "/incident/wake", some) }

func resolve(v *visit, some incidents.Some) error {
	return do[api.Empty](v, "/incident/resolve", incidents.ResolveRequest{Some: some})
}

func reopen(v *visit, some incidents.Some) error {
	return do[api.Empty](v, "/incident/reopen", incidents.ReopenRequest{Some: some})
}

func answer(v *visit, some incidents.Some) error {
	return do[api.Empty](v, "/incident/answer", incidents.AnswerRequest{Some: some, Answer: v.field("answer")})
}

func snooze(v *visit, some incidents.Some) error {
	return do[api.Empty](v, "/incident/snooze", incidents.SnoozeRequest{Some: some, Minutes: number(v.field("minutes"))})
}

// addNote adds the note of the form to the feed; an empty one is none.
func (v *visit) addNote() error {
	note := lines(v.field("comment"))
	if note == "" {
		return nil
	}
	return do[api.Empty](v, "/incident/comment", incidents.CommentRequest{Some: v.thisIncident(), Comment: note})
}

// ackIncident acknowledges, unless another person was faster since the page was drawn: then two people would work on
// the same without a word. The page then names the first and offers to acknowledge as well.
func ackIncident(v *visit) (string, error) {
	if v.field("seen") == "Triggered" {
		i, err := v.findIncident()
		if err != nil {
			return "", err
		}
		if ackers := i.Ackers(); len(ackers) > 0 && ackers[0].PersonID != v.who.PersonID {
			first := v.T("%s acknowledged it first, %s ago.", ackers[0].PersonName, v.Since(ackers[0].AcknowledgedAt))
			return "", &api.Refusal{Status: http.StatusConflict, Code: "Conflict", Message: first}
		}
	}
	return onIncident("ack", acknowledge)(v)
}

func commentIncident(v *visit) (string, error) {
	if v.field("comment") == "" {
		return "", &api.Refusal{Status: http.StatusBadRequest, Code: "BadRequest", Message: v.T("Write a note first.")}
	}
	return v.incidentPath("comment"), v.addNote()
}

func openRoom(v *visit) (string, error) {
	request := warroom.CreateRequest{
		OneRequest: incidents.OneRequest{IncidentID: v.r.PathValue("id")}, IntegrationID: number(v.field("integration_id")),
	}
	return v.incidentPath("room"), do[warroom.Created](v, "/incident/war-room/create", request)
}

// assignIncident makes persons responsible: instead of the present ones, besides them, or by an escalation rule.
func assignIncident(v *visit) (string, error) {
	var persons []int64
	for _, p := range v.r.PostForm["person"] {
		persons = append(persons, number(p))
	}
	one := incidents.OneRequest{IncidentID: v.r.PathValue("id")}
	to := incidents.AssignedTo{PersonIDs: persons}
	how := v.field("how")
	if rule := v.field("rule"); how == "rule" && rule != "" {
		to = incidents.AssignedTo{EscalateRuleID: rule}
	}
	var reply incidents.Assigned
	var err error
	if how == "add" {
		reply, err = call[incidents.Assigned](v, "/incident/responder/add", incidents.AddRespondersRequest{OneRequest: one, PersonIDs: persons})
	} else {
		request := incidents.AssignRequest{IncidentID: one.IncidentID, AssignedTo: to}
		reply, err = call[incidents.Assigned](v, "/incident/assign", request)
	}
	if err == nil && len(reply.Warnings.Warnings) > 0 {
		v.made = reply.Warnings.Warnings
		return "", nil
	}
	return v.incidentPath("people"), err
}

// mergeIncident moves the alerts of this incident to another one, and goes there.
func mergeIncident(v *visit) (string, error) {
	target := v.field("target")
	if target == "" {
		return "", &api.Refusal{Status: http.StatusBadRequest, Code: "BadRequest", Message: v.T("Choose the incident to merge into.")}
	}
	request := incidents.MergeRequest{
		SourceIncidentIDs: []string{v.r.PathValue("id")}, TargetIncidentID: target, Comment: v.field("comment"),
	}
	return "/incidents/" + url.PathEscape(target) + "?done=merge", do[api.Empty](v, "/incident/merge", request)
}

// editIncident changes the texts, the severity and the custom fields that differ from what the form was drawn with: what
// another person has changed meanwhile stays.
func editIncident(v *visit) (string, error) {
	one := incidents.OneRequest{IncidentID: v.r.PathValue("id")}
	request := incidents.ResetRequest{
		OneRequest: one, Title: v.changed("title"), Description: v.changed("description"), Impact: v.changed("impact"),
		RootCause: v.changed("root_cause"), Resolution: v.changed("resolution"), IncidentSeverity: v.changed("incident_severity"),
	}
	if request != (incidents.ResetRequest{OneRequest: one}) {
		if err := do[api.Empty](v, "/incident/reset", request); err != nil {
			return "", err
		}
	}
	fields, err := v.fields()
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
		if err := do[api.Empty](v, "/incident/field/reset", request); err != nil {
			return "", err
		}
	}
	return v.incidentPath("edit"), nil
}

// changed returns a text of the form that differs from what the form was drawn with; nil: it does not, or is not in the form.
func (v *visit) changed(name string) *string {
	sent, has := v.r.PostForm[name]
	if !has || lines(sent[0]) == lines(v.r.PostFormValue("was_"+name)) {
		return nil
	}
	return new(lines(sent[0]))
}

// lines returns a text as it was typed: browsers send line breaks as two characters.
func lines(text string) string { return strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n")) }
