package console

import (
	"net/http"
	"net/url"
	"strings"

	"tocsin/internal/api"
)

var incidentActions = []action{
	{path: "/incidents/{id}/ack", do: ackIncident, show: showIncident, page: "incident", needs: manageIncidents},
	{path: "/incidents/{id}/unack", do: onIncident("unack", nil), show: showIncident, page: "incident", needs: manageIncidents},
	{path: "/incidents/{id}/answer", do: onIncident("answer", answered), show: showIncident, page: "incident", needs: manageIncidents},
	{path: "/incidents/{id}/resolve", do: onIncident("resolve", nil), show: showIncident, page: "incident", needs: manageIncidents},
	{path: "/incidents/{id}/reopen", do: onIncident("reopen", nil), show: showIncident, page: "incident", needs: manageIncidents},
	{path: "/incidents/{id}/wake", do: onIncident("wake", nil), show: showIncident, page: "incident", needs: manageIncidents},
	{path: "/incidents/{id}/snooze", do: onIncident("snooze", snoozed), show: showIncident, page: "incident", needs: manageIncidents},
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

// onIncident returns an action that calls an operation on the incident of the address, then adds the note that was
// written beside it: what was typed must not be lost because another button was pressed. more adds members to the request.
func onIncident(operation string, more func(*visit, map[string]any)) func(*visit) (string, error) {
	return func(v *visit) (string, error) {
		request := map[string]any{"incident_ids": []string{v.r.PathValue("id")}}
		if more != nil {
			more(v, request)
		}
		if err := v.call("/incident/"+operation, request, nil); err != nil {
			return "", err
		}
		return v.incidentPath(operation), v.addNote()
	}
}

func answered(v *visit, request map[string]any) { request["answer"] = v.field("answer") }

func snoozed(v *visit, request map[string]any) { request["minutes"] = number(v.field("minutes")) }

// addNote adds the note of the form to the feed; an empty one is none.
func (v *visit) addNote() error {
	note := lines(v.field("comment"))
	if note == "" {
		return nil
	}
	return v.call("/incident/comment", map[string]any{"incident_ids": []string{v.r.PathValue("id")}, "comment": note}, nil)
}

// ackIncident acknowledges, unless another person was faster since the page was drawn: then two people would work on
// the same without a word. The page then names the first and offers to acknowledge as well.
func ackIncident(v *visit) (string, error) {
	if v.field("seen") == "Triggered" {
		i, err := v.findIncident()
		if err != nil {
			return "", err
		}
		if ackers := i.Ackers(); len(ackers) > 0 && ackers[0].ID != v.who.PersonID {
			first := v.T("%s acknowledged it first, %s ago.", ackers[0].Name, v.Since(ackers[0].AckedAt))
			return "", &api.Refusal{Status: http.StatusConflict, Code: "Conflict", Message: first}
		}
	}
	return onIncident("ack", nil)(v)
}

func commentIncident(v *visit) (string, error) {
	if v.field("comment") == "" {
		return "", &api.Refusal{Status: http.StatusBadRequest, Code: "BadRequest", Message: v.T("Write a note first.")}
	}
	return v.incidentPath("comment"), v.addNote()
}

func openRoom(v *visit) (string, error) {
	request := map[string]any{"incident_id": v.r.PathValue("id"), "integration_id": number(v.field("integration_id"))}
	return v.incidentPath("room"), v.call("/incident/war-room/create", request, nil)
}

// assignIncident makes persons responsible: instead of the present ones, besides them, or by an escalation rule.
func assignIncident(v *visit) (string, error) {
	var persons []int64
	for _, p := range v.r.PostForm["person"] {
		persons = append(persons, number(p))
	}
	id := v.r.PathValue("id")
	path, request := "/incident/assign", map[string]any{"incident_id": id}
	rule := v.field("rule")
	switch how := v.field("how"); {
	case how == "add":
		path, request["person_ids"] = "/incident/responder/add", persons
	case how == "rule" && rule != "":
		request["assigned_to"] = map[string]any{"escalate_rule_id": rule}
	default:
		request["assigned_to"] = map[string]any{"person_ids": persons}
	}
	var reply struct {
		Warnings []string `json:"warnings"`
	}
	err := v.call(path, request, &reply)
	if err == nil && len(reply.Warnings) > 0 {
		v.made = reply.Warnings
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
	request := map[string]any{"source_incident_ids": []string{v.r.PathValue("id")}, "target_incident_id": target}
	if note := v.field("comment"); note != "" {
		request["comment"] = note
	}
	return "/incidents/" + url.PathEscape(target) + "?done=merge", v.call("/incident/merge", request, nil)
}

// editIncident changes the texts, the severity and the custom fields that differ from what the form was drawn with: what
// another person has changed meanwhile stays.
func editIncident(v *visit) (string, error) {
	id := v.r.PathValue("id")
	request := map[string]any{"incident_id": id}
	for _, name := range []string{"title", "incident_severity", "description", "impact", "root_cause", "resolution"} {
		sent, has := v.r.PostForm[name]
		if has && lines(sent[0]) != lines(v.r.PostFormValue("was_"+name)) {
			request[name] = lines(sent[0])
		}
	}
	if len(request) > 1 {
		if err := v.call("/incident/reset", request, nil); err != nil {
			return "", err
		}
	}
	fields, err := v.fields()
	if err != nil {
		return "", err
	}
	for _, f := range fields {
		value, changed := f.sent(v)
		if !changed {
			continue
		}
		request := map[string]any{"incident_id": id, "field_name": f.Name, "field_value": value}
		if err := v.call("/incident/field/reset", request, nil); err != nil {
			return "", err
		}
	}
	return v.incidentPath("edit"), nil
}

// lines returns a text as it was typed: browsers send line breaks as two characters.
func lines(text string) string { return strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n")) }
