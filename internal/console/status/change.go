package status

import (
	"cmp"
	"slices"
	"strconv"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/console/page"
	"tocsin/internal/statuspage"
)

var changePages = []page.Page{
	{Path: "/status-pages/{id}/changes/{change}", Template: "record", Tab: "incidents", Show: editChange},
	{Path: "/status-pages/{id}/changes/{change}/updates/{update}", Template: "record", Tab: "incidents", Show: editUpdate},
}

var changeActions = []page.Action{
	{Path: "/status-pages/{id}/changes/{change}", Do: saveChange, Show: editChange, Template: "record", Needs: manage},
	{Path: "/status-pages/{id}/changes/{change}/delete", Do: deleteChange, Needs: manage},
	{Path: "/status-pages/{id}/changes/{change}/updates/{update}", Do: saveUpdate, Show: editUpdate, Template: "record", Needs: manage},
	{Path: "/status-pages/{id}/changes/{change}/updates/{update}/delete", Do: deleteUpdate, Needs: manage},
}

var manage = page.Rights{auth.StatusPageEventsManage}

var types = []page.Option{{Value: "incident", Text: "Incident"}, {Value: "maintenance", Text: "Maintenance"}}

var statuses = []page.Option{
	{Value: "investigating", Text: "Investigating"}, {Value: "identified", Text: "Identified"}, {Value: "monitoring", Text: "Monitoring"},
	{Value: "resolved", Text: "Resolved"}, {Value: "scheduled", Text: "Scheduled"}, {Value: "ongoing", Text: "Under way"},
	{Value: "completed", Text: "Completed"},
}

var componentStatuses = []page.Option{
	{Value: "operational", Text: "Operational"}, {Value: "degraded", Text: "Degraded"}, {Value: "partial_outage", Text: "Partial outage"},
	{Value: "full_outage", Text: "Full outage"}, {Value: "under_maintenance", Text: "Under maintenance"},
}

// textOf returns the text of a value.
func textOf(v *page.Visit, options []page.Option, value string) string {
	at := slices.IndexFunc(options, func(o page.Option) bool { return o.Value == value })
	if at < 0 {
		return value
	}
	return v.T(options[at].Text)
}

var components = page.Member{Path: "component_changes", Label: "Components", Rows: []page.Member{
	{Path: "component_id", Label: "Component", Choices: pageComponents},
	{Path: "status", Label: "Its status", Options: componentStatuses},
}}

// changeForm is an incident or a maintenance that is begun; those that exist have fewer members.
var changeForm = page.Form{Operations: []string{"/status-page/change/create"}, Members: []page.Member{
	{Path: "type", Label: "Kind", Options: types},
	{Path: "title", Label: "Title"},
	{Path: "status", Label: "Status", Options: statuses, Hint: "The last three are of a maintenance."},
	{Path: "updates", Label: "Updates", Hint: "The first names what is affected. A row without a text goes.", Rows: []page.Member{
		{Path: "description", Label: "Text", Kind: page.Long},
		{Path: "status", Label: "Status", Options: append([]page.Option{{Value: "", Text: "As before"}}, statuses...)},
		components,
		{Path: "at_seconds", Label: "When", Kind: page.Moment, Hint: "Empty: now."},
		{Path: "update_id", Label: "Key", Hint: "Empty: a new key."},
	}},
	{Path: "description", Label: "Description", Kind: page.Long},
	{Path: "start_at_seconds", Label: "Begins", Kind: page.Moment, Hint: "Empty: now."},
	{Path: "close_at_seconds", Label: "Ends", Kind: page.Moment, Hint: "Of a maintenance, or of what is over."},
	{Path: "responders", Label: "Assigned to", Kind: page.People},
	{Path: "notify_subscribers", Label: "Notify subscribers"},
	{Path: "auto_update_by_schedule", Label: "The maintenance begins and ends by itself", Seldom: true},
	{Path: "is_retrospective", Label: "It was over before it was entered", Seldom: true},
	{Path: "linked_changes", Label: "Related changes", Seldom: true, Hint: "Their numbers, one on each line."},
}}

var changedForm = page.Form{Operations: []string{"/status-page/change/update"}, Members: []page.Member{
	{Path: "title", Label: "Title"},
	{Path: "description", Label: "Description", Kind: page.Long},
	{Path: "close_at_seconds", Label: "Ends", Kind: page.Moment, Hint: "Of a maintenance, or of what is over."},
	{Path: "responders", Stored: "responder_ids", Label: "Assigned to", Kind: page.People},
	{Path: "linked_changes", Stored: "linked_change_ids", Label: "Related changes", Seldom: true, Hint: "Their numbers, one on each line."},
}}

var updateForm = page.Form{Operations: []string{"/status-page/change/timeline/create"}, Members: []page.Member{
	{Path: "status", Label: "Status", Options: statuses, Hint: "The last three are of a maintenance."},
	{Path: "description", Label: "Text", Kind: page.Long},
	components,
	{Path: "at_seconds", Label: "When", Kind: page.Moment, Hint: "Empty: now."},
}}

var updatedForm = page.Form{Operations: []string{"/status-page/change/timeline/update"}, Members: []page.Member{
	{Path: "description", Label: "Text", Kind: page.Long},
	{Path: "at_seconds", Label: "When", Kind: page.Moment},
}}

// pageComponents returns the components of the page by name.
func pageComponents(v *page.Visit) ([]page.Option, error) {
	options := []page.Option{{Value: "", Text: v.T("None")}}
	p, err := page.Call[statuspage.PageView](v, "/status-page/info", statuspage.OnePage{PageID: v.ID()})
	for _, c := range p.Components {
		options = append(options, page.Option{Value: c.ComponentID, Text: c.Name})
	}
	return options, err
}

func changeID(v *page.Visit) int64 { return page.Number(v.Request.PathValue("change")) }

func changePath(v *page.Visit) string {
	return pathOf(v.ID()) + "/changes/" + v.Request.PathValue("change")
}

func editChange(v *page.Visit) (page.View, error) {
	d := page.RecordForm{Titled: page.Titled(v.T("New incident or maintenance")), Back: pathOf(v.ID()), Path: changePath(v),
		May: v.Who.MayAny(manage)}
	if v.Request.PathValue("change") == "new" {
		return &d, changeForm.Draw(v, &d, statuspage.ChangeCreateRequest{Type: "incident", Status: "investigating", NotifySubscribers: true})
	}
	c, err := page.Call[statuspage.Change](v, "/status-page/change/info", statuspage.OneChange{PageID: v.ID(), ChangeID: changeID(v)})
	if err != nil {
		return nil, err
	}
	d.Titled, d.Delete = page.Titled(c.Title), d.Path+"/delete"
	if err := changedForm.Draw(v, &d, c); err != nil {
		return nil, err
	}
	part := page.RecordPart{Title: v.T("Updates")}
	if d.May {
		part.New = &page.Link{Path: d.Path + "/updates/new", Text: v.T("New update")}
	}
	for _, u := range slices.Backward(c.Updates) {
		part.Rows = append(part.Rows, page.RecordRow{Path: d.Path + "/updates/" + u.UpdateID, Name: textOf(v, statuses, u.Status),
			About: u.Description, At: u.At})
	}
	d.Lists = append(d.Lists, part)
	return &d, nil
}

func saveChange(v *page.Visit) (string, error) {
	if v.Request.PathValue("change") == "new" {
		request := statuspage.ChangeCreateRequest{PageID: v.ID()}
		if err := changeForm.Read(v, &request); err != nil {
			return "", err
		}
		for i := range request.Updates { // a program leaves the moment out; a record has it
			request.Updates[i].At = cmp.Or(request.Updates[i].At, v.Now.Unix())
		}
		made, err := page.Call[statuspage.ChangeCreated](v, "/status-page/change/create", request)
		return pathOf(v.ID()) + "/changes/" + strconv.FormatInt(made.ChangeID, 10), err
	}
	request := statuspage.ChangeUpdateRequest{PageID: v.ID(), ChangeID: changeID(v)}
	if err := changedForm.Read(v, &request); err != nil {
		return "", err
	}
	return changePath(v), page.Do[api.Empty](v, "/status-page/change/update", request)
}

func deleteChange(v *page.Visit) (string, error) {
	return pathOf(v.ID()), page.Do[api.Removal](v, "/status-page/change/delete",
		statuspage.ChangeDeleteRequest{PageID: v.ID(), ChangeID: changeID(v)})
}

func editUpdate(v *page.Visit) (page.View, error) {
	d := page.RecordForm{Titled: page.Titled(v.T("New update")), Back: changePath(v), Path: v.Request.URL.Path, May: v.Who.MayAny(manage)}
	c, err := page.Call[statuspage.Change](v, "/status-page/change/info", statuspage.OneChange{PageID: v.ID(), ChangeID: changeID(v)})
	if err != nil {
		return nil, err
	}
	id := v.Request.PathValue("update")
	if id == "new" {
		return &d, updateForm.Draw(v, &d, statuspage.TimelineCreateRequest{Status: c.Status})
	}
	at := slices.IndexFunc(c.Updates, func(u statuspage.Update) bool { return u.UpdateID == id })
	if at < 0 {
		return nil, page.NotHere(v)
	}
	d.Titled, d.Delete = page.Titled(v.T("Update")), d.Path+"/delete"
	return &d, updatedForm.Draw(v, &d, c.Updates[at])
}

func saveUpdate(v *page.Visit) (string, error) {
	if v.Request.PathValue("update") == "new" {
		request := statuspage.TimelineCreateRequest{PageID: v.ID(), ChangeID: changeID(v)}
		if err := updateForm.Read(v, &request); err != nil {
			return "", err
		}
		return changePath(v), page.Do[statuspage.TimelineCreated](v, "/status-page/change/timeline/create", request)
	}
	request := statuspage.TimelineUpdateRequest{PageID: v.ID(), ChangeID: changeID(v), UpdateID: v.Request.PathValue("update")}
	if err := updatedForm.Read(v, &request); err != nil {
		return "", err
	}
	return changePath(v), page.Do[api.Empty](v, "/status-page/change/timeline/update", request)
}

func deleteUpdate(v *page.Visit) (string, error) {
	return changePath(v), page.Do[api.Removal](v, "/status-page/change/timeline/delete", statuspage.TimelineDeleteRequest{
		PageID: v.ID(), ChangeID: changeID(v), UpdateID: v.Request.PathValue("update")})
}
