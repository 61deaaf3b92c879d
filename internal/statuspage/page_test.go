package statuspage_test

import (
	"fmt"
	"strings"
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/statuspage"
)

const sre = 4291079133131 // a team of account A

func TestConversationPage(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, statuspage.Ops())
	s.Grant(auth.StatusPagesRead, auth.StatusPageEventsManage)
	refused := func(body string, says ...string) apitest.Turn {
		return apitest.Turn{Path: "/status-page/create", Body: body, Code: "InvalidParameter", Says: says}
	}
	s.Converse(t, []apitest.Turn{
		refused(`{"name":"","url_name":"a"}`, "name"),
		refused(`{"name":"a"}`, "url_name"),
		refused(`{"name":"a","url_name":"A b"}`, "url_name", "A b"),
		refused(`{"name":"a","url_name":"-a"}`, "url_name"),
		refused(`{"name":"a","url_name":"a","team_id":99}`, "team_id", "99"),
		refused(`{"name":"a","url_name":"a","components":[{"name":"x"},{"name":"x"}]}`, "components[1].name", "twice"),
		refused(`{"name":"a","url_name":"a","components":[{"name":"x","component_id":"c"},{"name":"y","component_id":"c"}]}`, "components[1].component_id"),
		refused(`{"name":"a","url_name":"a","components":[{"name":"x","component_id":"a/b"}]}`, "components[0].component_id"),
		refused(`{"name":"a","url_name":"a","components":[{"name":"x","section_id":"s"}]}`, "components[0].section_id"),
		refused(`{"name":"a","url_name":"a","components":[{"name":""}]}`, "components[0].name"),
		{Path: "/status-page/create", Body: `{"name":"Acme","url_name":"acme","team_id":4291079133131,"description":"<b>*x*</b>","sections":[{"section_id":"web","name":"Web"}],
			"components":[{"component_id":"console","section_id":"web","name":"Console","order_id":1},{"component_id":"api","name":"API","hide_all":true}]}`, Keep: map[string]string{"page": "page_id"}, Golden: "status-page_create"},
		refused(`{"name":"b","url_name":"acme"}`, "url_name", "unique", "$page"),
		{Path: "/status-page/create", Key: apitest.KeyB, Body: `{"name":"b","url_name":"acme"}`, Has: `{"url_name":"acme"}`},
		{Path: "/status-page/create", Key: apitest.KeyReader, Body: `{"name":"b","url_name":"b"}`, Code: "AccessDenied"},
		{Path: "/status-page/create", Body: `{"name":"Other","url_name":"acme-2","components":[{"name":"One"}]}`, Keep: map[string]string{"other": "page_id"}},
		{Path: "/status-page/info", Body: `{"page_id":$other}`, Keep: map[string]string{"one": "components.0.component_id"}},
		{Path: "/status-page/update", Body: `{"page_id":$other,"url_name":"acme"}`, Code: "InvalidParameter", Says: []string{"url_name"}},
		{Path: "/status-page/update", Body: `{"page_id":$other,"components":[{"name":"Two"},{"name":"One","description":"d"}]}`, Data: `{}`, Golden: "status-page_update"},
		{Path: "/status-page/info", Body: `{"page_id":$other}`, Has: `{"name":"Other","url_name":"acme-2","components":[{"name":"Two"},{"component_id":"$one","name":"One","description":"d"}]}`},
		{Path: "/status-page/info", Key: apitest.KeyNothing, Body: `{"page_id":$page}`, Golden: "status-page_info",
			Has: `{"name":"Acme","url_name":"acme","description":"<b>*x*</b>","components":[{"component_id":"console","section_id":"web"},{"component_id":"api","hide_all":true}]}`},
		{Path: "/status-page/info", Key: apitest.KeyB, Body: `{"page_id":$page}`, Code: "ResourceNotFound"},
		{Path: "/status-page/update", Key: apitest.KeyB, Body: `{"page_id":$page,"name":"x"}`, Code: "ResourceNotFound"},
		{Path: "/status-page/delete", Key: apitest.KeyB, Body: `{"page_id":$page}`, Code: "ResourceNotFound"},
		{Path: "/status-page/delete", Body: `{"page_id":$other,"dry_run":true}`, Has: `{"allowed":true}`},
		{Path: "/status-page/delete", Body: `{"page_id":$other}`, Data: `{}`, Golden: "status-page_delete"},
		{Path: "/status-page/list", Key: apitest.KeyNothing, Body: `{}`, Has: `{"total":1,"items":[{"page_id":$page}]}`, Golden: "status-page_list"},
	})
}

// An account cannot have more pages than the list shows.
func TestPagesAreBounded(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, statuspage.Ops())
	for i := range 100 {
		s.Call(apitest.KeyA, "/status-page/create", fmt.Sprintf(`{"name":"x","url_name":"p%d"}`, i)).Into(&struct{}{})
	}
	if r := s.Call(apitest.KeyA, "/status-page/create", `{"name":"x","url_name":"one-more"}`); r.Code != "InvalidParameter" || !strings.Contains(r.Message, "at most 100") {
		t.Errorf("%s", r.Body)
	}
	var list struct {
		Total int
		Items []struct{}
	}
	s.Call(apitest.KeyA, "/status-page/list", `{}`).Into(&list)
	if list.Total != 100 || len(list.Items) != 100 {
		t.Errorf("%d of %d", len(list.Items), list.Total)
	}
}

func TestPagesOfFile(t *testing.T) {
	t.Parallel()
	apitest.RoundTrip(t, statuspage.Pages, []statuspage.Page{
		{AccountID: apitest.AccountA, PageID: 1, Name: "A", URLName: "a", Sections: []statuspage.Section{}, Components: []statuspage.Component{}},
		{AccountID: apitest.AccountA, PageID: 2, Name: "B", URLName: "b", Description: "d", TeamID: sre, CreatorID: 1, UpdatedBy: 2, CreatedAt: 3, UpdatedAt: 4,
			Sections:   []statuspage.Section{{SectionID: "s", Name: "S"}},
			Components: []statuspage.Component{{ComponentID: "c", SectionID: "s", Name: "C", Description: "d", AvailableSince: 5, OrderID: 6, HideUptime: true, HideAll: true}}},
	}, map[string]func(*statuspage.Page){
		"page_id":  func(p *statuspage.Page) { p.PageID = 0 },
		"name":     func(p *statuspage.Page) { p.Name = "" },
		"url_name": func(p *statuspage.Page) { p.URLName = "Ä" },
		"team_id":  func(p *statuspage.Page) { p.TeamID = -1 },
		"components[0].section_id": func(p *statuspage.Page) {
			p.Components = []statuspage.Component{{ComponentID: "x", Name: "x", SectionID: "none"}}
		},
		"sections[0].section_id": func(p *statuspage.Page) { p.Sections = []statuspage.Section{{Name: "x"}} },
		"components[0].order_id": func(p *statuspage.Page) {
			p.Components = []statuspage.Component{{ComponentID: "x", Name: "x", OrderID: -1}}
		},
	})
}
