package statuspage_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/platform/db"
	"tocsin/internal/statuspage"
)

// withPage starts a server with a page of two components and returns its id.
func withPage(t *testing.T) (*apitest.Server, string) {
	t.Helper()
	s := apitest.Start(t, statuspage.Ops())
	var page struct {
		ID int64 `json:"page_id"`
	}
	s.Call(apitest.KeyA, "/status-page/create", `{"name":"Acme","url_name":"acme","sections":[{"section_id":"web","name":"Web"}],
		"components":[{"component_id":"console","section_id":"web","name":"Console"},{"component_id":"api","name":"API"}]}`).Into(&page)
	return s, fmt.Sprint(page.ID)
}

const (
	create   = "/status-page/change/create"
	update   = "/status-page/change/timeline/create"
	degraded = `"updates":[{"description":"We <b>look</b>.","component_changes":[{"component_id":"console","status":"degraded"}]}]`
)

func TestConversationIncident(t *testing.T) {
	t.Parallel()
	s, page := withPage(t)
	s.Grant(auth.StatusPagesManage, auth.StatusPageEventsRead)
	of := `{"page_id":` + page
	one := of + `,"change_id":$change`
	refused := func(body string, says ...string) apitest.Turn {
		return apitest.Turn{Path: create, Body: of + body, Code: "InvalidParameter", Says: says}
	}
	s.Converse(t, []apitest.Turn{
		{Path: "/status-page/info", Body: of + `}`, Keep: map[string]string{"page": "page_id"}},
		refused(`,"type":"incident","title":"x","status":"scheduled",`+degraded+`}`, "status", "scheduled"),
		refused(`,"type":"incident","title":"x","status":"investigating","updates":[]}`, "updates"),
		refused(`,"type":"incident","title":"x","status":"investigating","updates":[{"description":"x"}]}`, "component_changes"),
		refused(`,"type":"incident","title":"x","status":"investigating","updates":[{"component_changes":[{"component_id":"none","status":"degraded"}]}]}`, "updates[0].component_changes[0].component_id", "none"),
		refused(`,"type":"incident","title":"x","status":"investigating","updates":[{"component_changes":[{"component_id":"api","status":"under_maintenance"}]}]}`, "component_changes[0].status"),
		refused(`,"type":"incident","title":"x","status":"investigating","updates":[{"component_changes":[{"component_id":"api","status":"degraded"},{"component_id":"api","status":"operational"}]}]}`, "twice"),
		refused(`,"type":"incident","title":"x","status":"resolved",`+degraded+`}`, "operational"),
		refused(`,"type":"incident","title":"x","status":"investigating","close_at_seconds":1776059999,`+degraded+`}`, "close_at_seconds"),
		refused(`,"type":"incident","title":"x","status":"investigating","start_at_seconds":1776059999,`+degraded+`}`, "start_at_seconds", "future"),
		refused(`,"type":"incident","title":"x","status":"investigating","auto_update_by_schedule":true,`+degraded+`}`, "auto_update_by_schedule"),
		refused(`,"type":"incident","title":"x","status":"investigating","responders":[5],`+degraded+`}`, "responders[0]", "5"),
		refused(`,"type":"incident","title":"x","status":"investigating","updates":[{"at_seconds":1776059999,"component_changes":[{"component_id":"api","status":"degraded"}]}]}`, "at_seconds", "future"),
		{Path: create, Body: of + `,"type":"incident","title":"Slow","description":"**d**","status":"investigating","responders":[2476123212131],"linked_changes":["deploy-1"],"notify_subscribers":true,` + degraded + `}`,
			Has: `{"change_name":"Slow"}`, Keep: map[string]string{"change": "change_id"}, Golden: "status-page_change_create"},
		{Path: create, Key: apitest.KeyReader, Body: of + `,"type":"incident","title":"Slow","status":"investigating",` + degraded + `}`, Code: "AccessDenied"},
		{Path: create, Key: apitest.KeyB, Body: of + `,"type":"incident","title":"Slow","status":"investigating",` + degraded + `}`, Code: "ResourceNotFound"},
		{Path: "/status-page/change/active/list", Body: `{}`, Has: `{"total":1,"items":[{"change_id":$change,"title":"Slow","type":"incident","status":"investigating","created_at":1776052801}]}`},
		{Path: "/status-page/change/active/list", Key: apitest.KeyB, Body: `{}`, Data: `{"items":[],"total":0,"has_next_page":false}`},
		{Path: update, Body: one + `,"status":"completed","description":"x"}`, Code: "InvalidParameter", Says: []string{"status", "completed"}},
		{Path: update, Body: one + `,"status":"monitoring","description":"m","component_changes":[{"component_id":"api","status":"partial_outage"}]}`, Keep: map[string]string{"monitoring": "update_id"}, Golden: "status-page_change_timeline_create"},
		{Path: update, Body: one + `,"status":"identified","description":"it was not","at_seconds":1776052802}`, Keep: map[string]string{"identified": "update_id"}},
		{Path: update, Body: one + `,"status":"resolved","description":"r","component_changes":[{"component_id":"api","status":"operational"}]}`, Code: "InvalidParameter", Says: []string{"console", "operational"}},
		{Path: update, Body: one + `,"status":"resolved","description":"r","component_changes":[{"component_id":"api","status":"operational"},{"component_id":"console","status":"operational"}]}`, Keep: map[string]string{"end": "update_id"}},
		{Path: update, Body: one + `,"status":"investigating","description":"again"}`, Code: "InvalidParameter", Says: []string{"investigating", "resolved"}},
		{Path: update, Body: one + `,"status":"resolved","description":"what we learned"}`, Keep: map[string]string{"learned": "update_id"}},
		{Path: "/status-page/change/active/list", Body: `{}`, Has: `{"total":0}`, Golden: "status-page_change_active_list"},
		{Path: "/status-page/change/timeline/update", Body: one + `,"update_id":"$monitoring","description":"M"}`, Data: `{}`, Golden: "status-page_change_timeline_update"},
		{Path: "/status-page/change/timeline/update", Body: one + `,"update_id":"$monitoring","at_seconds":1786052801}`, Code: "InvalidParameter", Says: []string{"at_seconds"}},
		{Path: "/status-page/change/timeline/update", Body: one + `,"update_id":"none","description":"M"}`, Code: "ResourceNotFound"},
		{Path: "/status-page/change/timeline/delete", Body: one + `,"update_id":"$learned"}`, Data: `{}`, Golden: "status-page_change_timeline_delete"},
		{Path: "/status-page/change/update", Body: one + `,"title":"Was slow","responders":[]}`, Data: `{}`, Golden: "status-page_change_update"},
		{Path: "/status-page/change/info", Key: apitest.KeyNothing, Body: one + `}`, Keep: map[string]string{"first": "updates.0.update_id"}, Golden: "status-page_change_info",
			Has: `{"title":"Was slow","description":"**d**","status":"resolved","responder_ids":[],"linked_change_ids":["deploy-1"],"notify_subscribers":true,
				"affected_components":[{"component_id":"console","section_id":"web","name":"Console","status":"operational"},{"component_id":"api","status":"operational"}]}`},
		{Path: "/status-page/change/list", Body: of + `,"type":"incident","status":"resolved"}`, Has: `{"total":1,"items":[{"change_id":$change}]}`, Golden: "status-page_change_list"},
		{Path: "/status-page/change/list", Body: of + `,"type":"incident","status":"investigating"}`, Has: `{"total":0}`},
		{Path: "/status-page/change/list", Body: of + `,"type":"incident","status":"ongoing"}`, Code: "InvalidParameter", Says: []string{"status"}},
		{Path: "/status-page/change/list", Body: of + `,"start_at_seconds":9,"end_at_seconds":8}`, Code: "InvalidParameter", Says: []string{"end_at_seconds"}},
		{Path: "/status-page/change/list", Body: of + `,"start_at_seconds":1776059999}`, Has: `{"total":0}`},
		{Path: "/status-page/change/info", Key: apitest.KeyB, Body: one + `}`, Code: "ResourceNotFound"},
		{Path: "/status-page/change/timeline/delete", Body: one + `,"update_id":"$end"}`, Data: `{}`},
		{Path: "/status-page/change/active/list", Body: of + `}`, Has: `{"total":1,"items":[{"change_id":$change,"status":"identified"}]}`},
		{Path: "/status-page/change/delete", Body: one + `,"dry_run":true}`, Has: `{"allowed":true}`},
		{Path: "/status-page/change/delete", Body: one + `}`, Data: `{}`, Golden: "status-page_change_delete"},
		{Path: "/status-page/change/info", Body: one + `}`, Code: "ResourceNotFound"},
	})
}

// A maintenance whose schedule moves it is active until its end, and shown as what it is at each moment. What people write
// comes first.
func TestMaintenanceFollowsItsSchedule(t *testing.T) {
	t.Parallel()
	s, page := withPage(t)
	now := s.Clock.Now().Unix()
	plan := func(title string, from, to int64) string {
		var made struct {
			ID int64 `json:"change_id"`
		}
		s.Call(apitest.KeyA, create, fmt.Sprintf(`{"page_id":%s,"type":"maintenance","title":%q,"status":"scheduled","start_at_seconds":%d,"close_at_seconds":%d,"auto_update_by_schedule":true,
			"updates":[{"description":"d","component_changes":[{"component_id":"api","status":"under_maintenance"}]}]}`, page, title, from, to)).Into(&made)
		return fmt.Sprintf(`{"page_id":%s,"change_id":%d`, page, made.ID)
	}
	later := plan("later", now+7200, now+9000)
	first := plan("first", now+3600, now+7200)
	extended := plan("extended", now+3601, now+7200)
	check := func(want ...string) {
		t.Helper()
		var list struct {
			Items []struct{ Title, Status string }
			Total int
		}
		s.Call(apitest.KeyA, "/status-page/change/active/list", `{}`).Into(&list)
		got := []string{}
		for _, i := range list.Items {
			got = append(got, i.Title+" "+i.Status)
		}
		if strings.Join(got, ", ") != strings.Join(want, ", ") || list.Total != len(want) {
			t.Errorf("active: %q (%d), want %q", got, list.Total, want)
		}
		for _, i := range list.Items {
			s.Call(apitest.KeyA, "/status-page/change/list", fmt.Sprintf(`{"page_id":%s,"type":"maintenance","status":%q}`, page, i.Status)).Into(&list)
			if !strings.Contains(fmt.Sprint(list.Items), i.Title+" "+i.Status) {
				t.Errorf("%s %s is not in the list of that status: %v", i.Title, i.Status, list.Items)
			}
		}
	}
	check("first scheduled", "extended scheduled", "later scheduled")
	s.Clock.Add(3600 * time.Second)
	check("first ongoing", "extended scheduled", "later scheduled")
	s.Call(apitest.KeyA, "/status-page/change/update", fmt.Sprintf(`%s,"close_at_seconds":%d}`, extended, now+8000)).Into(&struct{}{})
	s.Clock.Add(3600 * time.Second)
	check("later ongoing", "extended ongoing")
	if r := s.Call(apitest.KeyA, update, later+`,"status":"scheduled","description":"not yet"}`); r.Code != "InvalidParameter" {
		t.Errorf("back to scheduled: %s", r.Body)
	}
	s.Call(apitest.KeyA, update, later+`,"status":"completed","description":"early","component_changes":[{"component_id":"api","status":"operational"}]}`).Into(&struct{}{})
	check("extended ongoing")
	var shown struct {
		Status   string
		Affected []struct{ Status string } `json:"affected_components"`
		Close    int64                     `json:"close_at_seconds"`
	}
	s.Call(apitest.KeyA, "/status-page/change/info", first+`}`).Into(&shown)
	if shown.Status != "completed" || shown.Affected[0].Status != "operational" || shown.Close != now+7200 {
		t.Errorf("after its end: %+v", shown)
	}
}

func TestRetrospective(t *testing.T) {
	t.Parallel()
	s, page := withPage(t)
	const begun = `{"page_id":%s,"type":"incident","title":"Then","status":"resolved","is_retrospective":true,"start_at_seconds":1000,"close_at_seconds":%d,"updates":[%s]}`
	const first, last = `{"at_seconds":1000,"status":"investigating","component_changes":[{"component_id":"api","status":"full_outage"}]}`,
		`{"at_seconds":2000,"status":"resolved","component_changes":[{"component_id":"api","status":"operational"}]}`
	for _, c := range []struct {
		close   int64
		updates string
		says    string
	}{
		{0, last + "," + first, "close_at_seconds"},
		{1000, last + "," + first, "close_at_seconds"},
		{2776059999, last + "," + first, "close_at_seconds"},
		{2000, strings.Replace(last, "2000", "1000", 1), "at least 2"},
		{2000, first + `,{"status":"resolved","component_changes":[{"component_id":"api","status":"operational"}]}`, "updates[1].at_seconds"},
		{2000, last + "," + first, ""},
	} {
		r := s.Call(apitest.KeyA, create, fmt.Sprintf(begun, page, c.close, c.updates))
		if c.says == "" && r.Code != "" || c.says != "" && (r.Code != "InvalidParameter" || !strings.Contains(r.Message, c.says)) {
			t.Errorf("%d %s: %s", c.close, c.updates, r.Body)
		}
	}
	s.Converse(t, []apitest.Turn{
		{Path: "/status-page/change/active/list", Body: `{}`, Has: `{"total":0}`},
		{Path: "/status-page/change/list", Body: `{"page_id":` + page + `}`, Has: `{"total":1,"items":[{"status":"resolved","close_at_seconds":2000,"is_retrospective":true}]}`},
	})
}

// Clients read with GET, with the members in the query.
func TestListsTakeGet(t *testing.T) {
	t.Parallel()
	s, page := withPage(t)
	s.Call(apitest.KeyA, create, `{"page_id":`+page+`,"type":"incident","title":"Slow","status":"investigating",`+degraded+`}`).Into(&struct{}{})
	for path, query := range map[string]string{
		"/status-page/list": "", "/status-page/info": "page_id=" + page, "/status-page/change/active/list": "",
		"/status-page/change/list": "type=incident&status=investigating&page_id=" + page,
	} {
		r := s.Do(s.Request("GET", path+"?app_key="+apitest.KeyA+"&"+query, ""))
		if r.Code != "" || !strings.Contains(string(r.Data), page) {
			t.Errorf("%s: %s", path, r.Body)
		}
	}
}

// An account cannot fill the list of what is active without end, nor a change without end.
func TestOpenChangesAreBounded(t *testing.T) {
	t.Parallel()
	s, page := withPage(t)
	of := `{"page_id":` + page + `,"type":"incident","title":"x","status":"investigating",` + degraded + `}`
	for range 1000 {
		if r := s.Call(apitest.KeyA, create, of); r.Code != "" {
			t.Fatal(string(r.Body))
		}
	}
	if r := s.Call(apitest.KeyA, create, of); r.Code != "InvalidParameter" || !strings.Contains(r.Message, "1000 open") {
		t.Errorf("%s", r.Body)
	}
	long := strings.Repeat("x", 9999)
	var many []string
	for range 11 {
		many = append(many, `{"status":"investigating","description":"`+long+`","component_changes":[{"component_id":"api","status":"degraded"}]}`)
	}
	r := s.Call(apitest.KeyA, create, `{"page_id":`+page+`,"type":"incident","title":"x","status":"investigating","updates":[`+strings.Join(many, ",")+`]}`)
	if r.Code != "InvalidParameter" || !strings.Contains(r.Message, "characters") {
		t.Errorf("%.200s", r.Body)
	}
	var list struct {
		Items []struct{}
		Total int
		More  bool `json:"has_next_page"`
	}
	s.Call(apitest.KeyA, "/status-page/change/active/list", `{}`).Into(&list)
	if len(list.Items) != 100 || list.Total != 1000 || !list.More {
		t.Errorf("%d of %d", len(list.Items), list.Total)
	}
}

// Closed changes are deleted after their time, open ones never.
func TestPruneKeepsWhatIsOpen(t *testing.T) {
	t.Parallel()
	s, page := withPage(t)
	of := `{"page_id":` + page + `,"type":"incident","title":`
	s.Call(apitest.KeyA, create, of+`"open","status":"investigating",`+degraded+`}`).Into(&struct{}{})
	s.Call(apitest.KeyA, create, of+`"over","status":"resolved","updates":[{"component_changes":[{"component_id":"api","status":"operational"}]}]}`).Into(&struct{}{})
	for _, c := range []struct {
		after time.Duration
		left  int
	}{{-time.Hour, 2}, {time.Hour, 1}, {900 * 24 * time.Hour, 1}} {
		s.Write(func(tx *db.Tx) error {
			_, err := statuspage.Prune(tx, s.Clock.Now().Add(c.after))
			return err
		})
		var list struct{ Total int }
		s.Call(apitest.KeyA, "/status-page/change/list", `{"page_id":`+page+`}`).Into(&list)
		if list.Total != c.left {
			t.Errorf("%s: %d, want %d", c.after, list.Total, c.left)
		}
	}
}

// The changes of a file are those of another database, and a page is deleted with its changes.
func TestChangesOfFile(t *testing.T) {
	t.Parallel()
	s, page := withPage(t)
	s.Call(apitest.KeyA, create, `{"page_id":`+page+`,"type":"incident","title":"Slow","status":"investigating",`+degraded+`}`).Into(&struct{}{})
	var list []statuspage.Change
	s.Read(func(tx *db.Tx) (err error) {
		list, err = statuspage.Dump(tx, apitest.AccountA)
		return err
	})
	if len(list) != 1 {
		t.Fatalf("%+v", list)
	}
	load := func(change func(*statuspage.Change)) error {
		one := list[0]
		one.ChangeID++
		change(&one)
		return s.DB.Write(t.Context(), func(tx *db.Tx) error { return statuspage.Load(tx, apitest.AccountA, []statuspage.Change{one}) })
	}
	for says, change := range map[string]func(*statuspage.Change){
		"[0].change_id: ":     func(c *statuspage.Change) { c.ChangeID = list[0].ChangeID },
		"[0].page_id: ":       func(c *statuspage.Change) { c.PageID++ },
		"[0].status: ":        func(c *statuspage.Change) { c.Status = "monitoring" },
		"[0].type: ":          func(c *statuspage.Change) { c.Type = "" },
		"[0].title: ":         func(c *statuspage.Change) { c.Title = "" },
		"[0].updates: ":       func(c *statuspage.Change) { c.Updates = nil },
		"updates[0].status: ": func(c *statuspage.Change) { c.Type = "maintenance" },
	} {
		if err := load(change); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s%v", says, err)
		}
	}
	if err := load(func(*statuspage.Change) {}); err != nil {
		t.Error(err)
	}
	s.Call(apitest.KeyA, "/status-page/delete", `{"page_id":`+page+`}`).Into(&struct{}{})
	s.Read(func(tx *db.Tx) (err error) {
		list, err = statuspage.Dump(tx, apitest.AccountA)
		return err
	})
	if len(list) != 0 {
		t.Errorf("%+v", list)
	}
}
