package status

import (
	"strconv"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/console/page"
	"tocsin/internal/statuspage"
)

var pagePages = []page.Page{
	{Path: "/status-pages", Template: "records", Tab: "incidents", Show: showPages},
	{Path: "/status-pages/{id}", Template: "record", Tab: "incidents", Show: editPage},
}

var pageActions = []page.Action{
	{Path: "/status-pages/{id}", Do: savePage, Show: editPage, Template: "record", Needs: page.Rights{auth.StatusPagesManage}},
	{Path: "/status-pages/{id}/delete", Do: page.Does[api.Removal]("/status-page/delete", "/status-pages", pageToDelete),
		Needs: page.Rights{auth.StatusPagesManage}},
}

var pageForm = page.Form{Operations: []string{"/status-page/create", "/status-page/update"}, Members: []page.Member{
	{Path: "name", Label: "Name"},
	{Path: "url_name", Label: "Name in addresses", Hint: "Lower-case letters and digits, with single - between them."},
	{Path: "description", Label: "Description", Kind: page.Long},
	{Path: "team_id", Label: "Team", Kind: page.Teams},
	{Path: "sections", Label: "Sections", Hint: "Headings of the page. A row without a name goes.", Rows: []page.Member{
		{Path: "name", Label: "Name"},
		{Path: "section_id", Label: "Key", Hint: "Components name it. Empty: a new key."},
	}},
	{Path: "components", Label: "Components", Hint: "Each has a status of its own. A row without a name goes.", Rows: []page.Member{
		{Path: "name", Label: "Name"},
		{Path: "component_id", Label: "Key", Hint: "Updates name it. Empty: a new key."},
		{Path: "section_id", Label: "Key of its section"},
		{Path: "description", Label: "Description"},
		{Path: "available_since_seconds", Label: "Available since", Kind: page.Moment},
		{Path: "order_id", Label: "Position in its section"},
		{Path: "hide_uptime", Label: "Hide its uptime"},
		{Path: "hide_all", Label: "Hide it"},
	}},
}}

func showPages(v *page.Visit) (page.View, error) {
	d := page.RecordList{Titled: page.Titled(v.T("Status pages")),
		Intro: v.T("A status page tells your users what does not work."), None: v.T("There is no status page yet.")}
	if v.Who.May(auth.StatusPagesManage) {
		d.New, d.NewText = "/status-pages/new", v.T("New status page")
	}
	all, err := page.Call[statuspage.Listed[statuspage.PageView]](v, "/status-page/list", api.Empty{})
	for _, p := range all.Items {
		d.Rows = append(d.Rows, page.RecordRow{Path: pathOf(p.PageID), Name: p.Name, About: p.Description, Tags: []string{p.URLName}})
	}
	return d, err
}

func pathOf(page int64) string { return "/status-pages/" + strconv.FormatInt(page, 10) }

func editPage(v *page.Visit) (page.View, error) {
	d := page.RecordForm{Titled: page.Titled(v.T("New status page")), Back: "/status-pages", Path: v.Request.URL.Path,
		May: v.Who.May(auth.StatusPagesManage)}
	if v.IsNew() {
		return &d, pageForm.Draw(v, &d, statuspage.Page{})
	}
	p, err := page.Call[statuspage.PageView](v, "/status-page/info", statuspage.OnePage{PageID: v.ID()})
	if err != nil {
		return nil, err
	}
	d.Titled, d.Delete = page.Titled(p.Name), d.Path+"/delete"
	if err := pageForm.Draw(v, &d, p.Page); err != nil {
		return nil, err
	}
	return &d, listChanges(v, &d)
}

// listChanges adds what the page shows, newest first.
func listChanges(v *page.Visit, d *page.RecordForm) error {
	request := statuspage.ChangeListRequest{PageID: v.ID()}
	request.Limit = page.PageSize
	changes, err := page.Call[api.Paged[statuspage.Change]](v, "/status-page/change/list", request)
	part := page.RecordPart{Title: v.T("Incidents and maintenances"), None: v.T("None yet.")}
	if v.Who.May(auth.StatusPageEventsManage) {
		part.New = &page.Link{Path: pathOf(v.ID()) + "/changes/new", Text: v.T("New incident or maintenance")}
	}
	for _, c := range changes.Items {
		part.Rows = append(part.Rows, page.RecordRow{
			Path: pathOf(v.ID()) + "/changes/" + strconv.FormatInt(c.ChangeID, 10), Name: c.Title, At: c.StartAt,
			Tags: []string{textOf(v, types, c.Type), textOf(v, statuses, c.Status)},
		})
	}
	d.Lists = append(d.Lists, part)
	return err
}

func savePage(v *page.Visit) (string, error) {
	if v.IsNew() {
		var request statuspage.PageCreateRequest
		if err := pageForm.Read(v, &request); err != nil {
			return "", err
		}
		made, err := page.Call[statuspage.PageCreated](v, "/status-page/create", request)
		return pathOf(made.PageID), err
	}
	request := statuspage.PageUpdateRequest{PageID: v.ID()}
	if err := pageForm.Read(v, &request); err != nil {
		return "", err
	}
	return pathOf(v.ID()), page.Do[api.Empty](v, "/status-page/update", request)
}

func pageToDelete(v *page.Visit) statuspage.PageDeleteRequest {
	return statuspage.PageDeleteRequest{PageID: v.ID()}
}
