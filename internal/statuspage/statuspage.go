package statuspage

import (
	"strconv"

	"tocsin/internal/api"
	"tocsin/internal/configstore"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/id"
	"tocsin/internal/team"
)

// PageBody holds the members of a page that a caller may set and may leave out.
type PageBody struct {
	Description *string     `json:"description,omitzero" maxLength:"5000" doc:"Markdown, stored as it was sent."`
	TeamID      *int64      `json:"team_id,omitzero" minimum:"0" doc:"Owning team; 0: none."`
	Sections    []Section   `json:"sections,omitzero" maxItems:"50" doc:"Headings, in their order; the whole list."`
	Components  []Component `json:"components,omitzero" maxItems:"200" doc:"What the page shows the status of, in their order; the whole list."`
}

// PageCreateRequest is a page to create.
type PageCreateRequest struct {
	Name    string `json:"name" minLength:"1" maxLength:"255" doc:"What readers see."`
	URLName string `json:"url_name" minLength:"1" maxLength:"63" doc:"Lower-case letters and digits, with single - between them; unique in the account."`
	PageBody
}

// PageCreated is the page that was created.
type PageCreated struct {
	PageID      int64  `json:"page_id" doc:"The new page."`
	Name        string `json:"name" doc:"Its name."`
	URLName     string `json:"url_name" doc:"Its name in URLs."`
	PageName    string `json:"page_name" doc:"The same as name."`
	PageURLName string `json:"page_url_name" doc:"The same as url_name."`
}

// pageCreate answers /status-page/create.
func pageCreate(c *api.Call, in PageCreateRequest) (PageCreated, error) {
	number, err := id.Unused(func(n int64) (bool, error) {
		return Pages.Exists(c.Tx, c.Who.AccountID, strconv.FormatInt(n, 10))
	})
	if err != nil {
		return PageCreated{}, err
	}
	p := Page{
		AccountID: c.Who.AccountID, PageID: number, Name: in.Name, URLName: in.URLName, Sections: []Section{}, Components: []Component{},
		CreatorID: c.Who.PersonID, CreatedAt: c.Unix(),
	}
	if err := roomForOne(c.Tx, "", c.Who.AccountID); err != nil {
		return PageCreated{}, err
	}
	return PageCreated{p.PageID, p.Name, p.URLName, p.Name, p.URLName}, in.apply(c, &p)
}

// PageUpdateRequest changes the members of a page that are sent.
type PageUpdateRequest struct {
	PageID  int64   `json:"page_id" minimum:"1" doc:"The page to change."`
	Name    *string `json:"name,omitzero" minLength:"1" maxLength:"255" doc:"What readers see."`
	URLName *string `json:"url_name,omitzero" minLength:"1" maxLength:"63" doc:"Its name in URLs, as for create."`
	PageBody
}

// pageUpdate answers /status-page/update. Absent members keep their values.
func pageUpdate(c *api.Call, in PageUpdateRequest) (api.Empty, error) {
	p, err := pageOf(c, in.PageID)
	if err != nil {
		return api.Empty{}, err
	}
	configstore.SetIfSent(&p.Name, in.Name)
	configstore.SetIfSent(&p.URLName, in.URLName)
	return api.Empty{}, in.apply(c, &p)
}

// apply sets the members that were sent in the page, checks it and stores it.
func (b PageBody) apply(c *api.Call, p *Page) error {
	before := *p
	configstore.SetIfSent(&p.Description, b.Description)
	configstore.SetIfSent(&p.TeamID, b.TeamID)
	if b.Sections != nil {
		p.Sections = b.Sections
	}
	if b.Components != nil {
		p.Components = b.Components
	}
	p.identify(&before, c.Now)
	if err := configstore.FirstError(p.check(""), p.checkURL(c.Tx, "", c.Who.AccountID)); err != nil {
		return err
	}
	if p.TeamID != before.TeamID {
		if err := team.Table.Need(c.Tx, c.Who.AccountID, "team_id", p.TeamID); err != nil {
			return err
		}
	}
	p.UpdatedAt, p.UpdatedBy = c.Unix(), c.Who.PersonID
	c.Touched(Pages.Name, p.PageID, p.Name)
	return Pages.Put(c.Tx, c.Who.AccountID, p)
}

// PageDeleteRequest names a page to delete.
type PageDeleteRequest struct {
	PageID int64 `json:"page_id" minimum:"1" doc:"The page to delete."`
	api.DryRun
}

// pageDelete answers /status-page/delete.
func pageDelete(c *api.Call, in PageDeleteRequest) (api.Removal, error) {
	p, err := pageOf(c, in.PageID)
	if err != nil {
		return api.Removal{}, err
	}
	c.Removed(Pages.Name, p.PageID, p.Name)
	open, err := openOf(c.Tx, c.Who.AccountID, p.PageID, c.Unix())
	if err != nil {
		return api.Removal{}, err
	}
	for _, change := range open {
		c.Removed(changeKind, change.ChangeID, change.Title)
	}
	return api.Removal{}, ErasePage(c.Tx, c.Who.AccountID, Pages.Head(&p).ID)
}

// OnePage names one page.
type OnePage struct {
	PageID int64 `json:"page_id" minimum:"1" doc:"The page."`
}

// pageInfo answers /status-page/info.
func pageInfo(c *api.Call, in OnePage) (PageView, error) {
	p, err := pageOf(c, in.PageID)
	return viewOf(p), err
}

// PageView is a page as the API shows it, with the names that other clients read.
type PageView struct {
	Page
	PageName    string `json:"page_name" doc:"The same as name."`
	PageURLName string `json:"page_url_name" doc:"The same as url_name."`
}

func viewOf(p Page) PageView { return PageView{p, p.Name, p.URLName} }

// Listed is the reply of the lists that have no pages.
type Listed[T any] struct {
	Items []T   `json:"items" doc:"All of them."`
	Total int64 `json:"total" doc:"The number of items."`
}

// pageList answers /status-page/list.
func pageList(c *api.Call, _ api.Empty) (Listed[PageView], error) {
	items, total, err := Pages.Page(c.Tx, c.Who.AccountID, configstore.Query{Ascending: true, Limit: maxPages})
	views := make([]PageView, len(items))
	for n, p := range items {
		views[n] = viewOf(p)
	}
	return Listed[PageView]{views, total}, err
}

// pageOf returns a page of the caller's account, or ResourceNotFound.
func pageOf(c *api.Call, number int64) (Page, error) {
	p, found, err := Pages.Find(c.Tx, c.Who.AccountID, strconv.FormatInt(number, 10))
	if err == nil && !found {
		err = fault.Missing(Pages.Name, number)
	}
	return p, err
}
