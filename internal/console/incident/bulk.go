package incident

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"tocsin/internal/api"
	"tocsin/internal/console/page"
	incidents "tocsin/internal/incident"
)

var bulkPages = []page.Page{
	{Path: "/incidents/chosen", Template: "incidents_chosen", Tab: "incidents", Show: showChosen, Needs: page.ManageIncidents},
}

var bulkActions = []page.Action{
	{Path: "/incidents", Do: actOnMany, Show: showIncidents, Template: "incidents", Needs: page.ManageIncidents},
	{Path: "/incidents/chosen", Do: actOnChosen, Show: showChosen, Template: "incidents_chosen", Needs: page.ManageIncidents},
}

// doneToMany is what the visitor did to several incidents a moment ago.
type doneToMany struct {
	Act string
	IDs []string
}

// Count returns how many incidents it was done to.
func (d doneToMany) Count() int { return len(d.IDs) }

// Value returns the incidents as a form sends them.
func (d doneToMany) Value() string { return strings.Join(d.IDs, ",") }

// maxMany bounds how many incidents one form acts on: operations take no more.
const maxMany = 100

// chosen returns the incidents that values of a form or an address name; each value may name several, joined by commas.
func chosen(values []string) (ids []string) {
	for _, value := range values {
		for id := range strings.SplitSeq(value, ",") {
			if id != "" && !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// actOnMany does the action of the pressed button to the chosen incidents, and shows the list again.
func actOnMany(v *page.Visit) (string, error) {
	return doToChosen(v, map[string]func(*page.Visit, incidents.Some) error{"ack": acknowledge, "unack": unacknowledge, "resolve": resolve})
}

// doToChosen does to the chosen incidents that are still open what the form names, and returns the address of the list.
func doToChosen(v *page.Visit, acts map[string]func(*page.Visit, incidents.Some) error) (string, error) {
	act := v.Field("act")
	do, known := acts[act]
	if !known {
		return "", v.NoSuchForm()
	}
	ids, err := stillOpen(v, chosen(v.Request.PostForm["incident"]))
	if err != nil {
		return "", err
	}
	if err := do(v, incidents.Some{IncidentIDs: ids}); err != nil {
		return "", err
	}
	return doneAddress(v, act, ids), nil
}

// chosenView is the form of an action on several incidents that needs more than a button.
type chosenView struct {
	page.Titled
	Act       string // reassign, merge, snooze or silence
	Button    string
	Incidents []incident
	To        assignees // whom they can be given to
}

// IDs returns the incidents as the form sends them.
func (d chosenView) IDs() string {
	var ids []string
	for _, i := range d.Incidents {
		ids = append(ids, i.IncidentID)
	}
	return strings.Join(ids, ",")
}

// showChosen shows the chosen incidents with the form of an action on them.
func showChosen(v *page.Visit) (page.View, error) {
	d := chosenView{Act: v.Request.FormValue("act")} // which reads the form or the address
	title, button := v.T("Reassign incidents"), v.T("Reassign")
	switch d.Act {
	case "merge":
		title, button = v.T("Merge incidents"), v.T("Merge and close the others")
	case "snooze":
		title, button = v.T("Snooze incidents"), v.T("Snooze")
	case "silence":
		title, button = v.T("Silence incidents"), v.T("Silence")
	default:
		d.Act = "reassign"
	}
	d.Titled, d.Button = page.Titled(title), button
	ids := chosen(v.Request.Form["incident"])
	if len(ids) > 0 {
		all, err := page.Call[api.Paged[incidents.View]](v, "/incident/list-by-ids", incidents.Some{IncidentIDs: ids[:min(maxMany, len(ids))]})
		if err != nil {
			return nil, err
		}
		for _, i := range all.Items {
			d.Incidents = append(d.Incidents, incident{View: i})
		}
	}
	if d.Act != "reassign" {
		return d, nil
	}
	var err error
	d.To, err = readAssignees(v)
	return d, err
}

// actOnChosen does to the chosen incidents what the form describes, and shows the list.
func actOnChosen(v *page.Visit) (string, error) {
	return doToChosen(v, map[string]func(*page.Visit, incidents.Some) error{
		"reassign": reassign, "merge": mergeMany, "snooze": snooze, "silence": silenceMany,
	})
}

// reassign makes the persons of the form responsible instead of the present ones.
func reassign(v *page.Visit, some incidents.Some) error {
	persons, err := chosenPersons(v)
	if err != nil {
		return err
	}
	request := incidents.AssignRequest{IncidentIDs: some.IncidentIDs, AssignedTo: incidents.AssignedTo{PersonIDs: persons}}
	return page.Do[incidents.Assigned](v, "/incident/assign", request)
}

// mergeMany moves the alerts of the chosen incidents to the incident that the form names as the target.
func mergeMany(v *page.Visit, some incidents.Some) error {
	target := v.Field("target")
	others := slices.DeleteFunc(slices.Clone(some.IncidentIDs), func(id string) bool { return id == target })
	if target == "" || len(others) == 0 {
		return page.Wrong(v.T("Choose the incident to merge into."))
	}
	return page.Do[api.Empty](v, "/incident/merge", incidents.MergeRequest{SourceIncidentIDs: others, TargetIncidentID: target})
}

// silenceMany silences the alerts of each chosen incident that has open ones.
func silenceMany(v *page.Visit, some incidents.Some) error {
	silenced := 0
	for _, id := range some.IncidentIDs {
		request := incidents.SilenceIncidentRequest{
			OneRequest: incidents.OneRequest{IncidentID: id}, SilenceRequest: incidents.SilenceRequest{Minutes: v.Number("minutes")},
		}
		err := page.Do[incidents.SilenceMade](v, "/incident/silence", request)
		if refused := api.RefusalOf(err); refused != nil && refused.Code == "Conflict" {
			continue // none of its alerts is open
		}
		if err != nil {
			return err
		}
		silenced++
	}
	if silenced == 0 {
		return page.Wrong(v.T("None of them has an open alert to silence."))
	}
	return nil
}

// stillOpen returns the chosen incidents that have not been closed since the list was drawn: an operation refuses all if
// one is closed.
func stillOpen(v *page.Visit, ids []string) (open []string, err error) {
	if len(ids) == 0 {
		return nil, page.Wrong(v.T("Choose incidents first."))
	}
	if len(ids) > maxMany {
		return nil, page.Wrong(v.T("Choose at most %d incidents at a time.", maxMany))
	}
	all, err := page.Call[api.Paged[incidents.View]](v, "/incident/list-by-ids", incidents.Some{IncidentIDs: ids})
	for _, i := range all.Items {
		if i.Progress != incidents.Closed {
			open = append(open, i.IncidentID)
		}
	}
	if err == nil && len(open) == 0 {
		err = page.Wrong(v.T("They are closed already."))
	}
	return open, err
}

// doneAddress returns the address of the list of the form, with what was done.
func doneAddress(v *page.Visit, act string, ids []string) string {
	values := v.Request.URL.Query()
	values.Set("done", act)
	values.Set("at", strconv.FormatInt(v.Now.Unix(), 10))
	values.Set("ids", strings.Join(ids, ","))
	return "/incidents?" + values.Encode()
}

// doneParts are the parameters of an address that name what was done.
var doneParts = []string{"done", "at", "ids"}

// readDone returns the action that the address names as done; nil: none, or too long ago.
func readDone(v *page.Visit) *doneToMany {
	if v.Query("done") == "" || !recently(v, page.Number(v.Query("at")), 5*time.Minute) {
		return nil
	}
	return &doneToMany{v.Query("done"), chosen([]string{v.Query("ids")})}
}

// SendTo returns the address that the forms of the list are sent to: that of the list, without what was done before.
func (f listFilter) SendTo() string {
	values := url.Values{}
	for name, list := range f.values {
		if !slices.Contains(doneParts, name) {
			values[name] = list
		}
	}
	if len(values) == 0 {
		return "/incidents"
	}
	return "/incidents?" + values.Encode()
}
