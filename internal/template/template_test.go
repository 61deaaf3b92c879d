package template_test

import (
	"strings"
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
	"tocsin/internal/template"
)

const texts = `"email":"<p>{{.Title}}</p>","sms":"{{.Title}}","voice":"","dingtalk":"","wecom":"","feishu":"","feishu_app":"","dingtalk_app":"","wecom_app":"","slack_app":"","teams_app":"","telegram":"","slack":"","zoom":""`

func TestConversationTemplate(t *testing.T) {
	s := apitest.Start(t, template.Ops())
	whole := `{"account_id":2451002751131,"team_id":4291079133131,"template_id":"$id","template_name":"Kürzer","description":"",` + texts +
		`,"status":"enabled","creator_id":2476123212131,"updated_by":2476123212131,"created_at":1776052800,"updated_at":1776052800}`
	s.Converse(t, []apitest.Turn{
		{Path: "/template/create", Body: `{"template_name":"Kurz","sms":"{{.Title"}`, Code: "InvalidParameter", Says: []string{"sms", "line 1", "unclosed action"}},
		{Path: "/template/create", Body: `{"template_name":"Kurz","team_id":12,"sms":"x"}`, Code: "InvalidParameter", Says: []string{"team_id", "team 12 does not exist"}},
		{Path: "/template/create", Body: `{"template_name":"Kurz","sms":"{{.Title}}"}`, Keep: map[string]string{"id": "template_id"}, Golden: "template_create"},
		{Path: "/template/create", Body: `{"template_name":"Kurz"}`, Code: "InvalidParameter", Says: []string{"template_name", "Kurz"}},
		{Path: "/template/create", Body: `{"template_name":"Card","feishu":" {\"msg_type\": \"interactive\"}","zoom":"{{.Title}}"}`, Has: `{"template_name":"Card","warnings":["feishu: looks like JSON, which is sent as text: cards are not supported"]}`, Keep: map[string]string{"card": "template_id"}},
		{Path: "/template/delete", Body: `{"template_id":"$card"}`, Data: `{}`},
		{Path: "/template/create", Body: `{"template_name":"KURZ","slack":"{{.Nothing}}"}`, Has: `{"template_name":"KURZ","warnings":["slack: fails on the sample incident: line 1, column 3: there is no .Nothing; there are AISummary, Account, AccountLocale, AccountName, AccountTimeZone, AckLink, AckTime, AckedBy, ActiveAlertCnt, AlertCnt, AlertCount, AlertEventCnt, Alerts, AnswerLink, AssignedTo, Channel, ChannelID, ChannelName, CloseTime, Closer, CloserID, Creator, CreatorID, Description, DetailUrl, Differ, Duration, EndTime, EndedBy, Event, Fields, FireTimes, FireType, Flapping, GroupMethod, Headline, ID, Images, Impact, InChat, IncidentID, IncidentSeverity, IncidentStatus, IsFlapping, IsInStorm, LabelValues, Labels, LastTime, Link, Links, Look, Merged, MergedFrom, MergedInto, Next, Note, Notified, Now, Num, Owner, OwnerID, Partial, Problem, Progress, Question, Reason, Reopened, Resolution, Responders, RootCause, Severity, Shared, SnoozedBefore, SpokenNum, StartTime, State, Subject, Test, TimeZone, Title, Where, Why"]}`, Keep: map[string]string{"other": "template_id"}},
		{Path: "/template/info", Body: `{"template_id":"$id"}`, Has: `{"template_name":"Kurz","sms":"{{.Title}}","email":"","team_id":0}`},
		{Path: "/template/update", Body: `{"template_id":"$id","template_name":"Kürzer","team_id":4291079133131,"email":"<p>{{.Title}}</p>","sms":"{{.Title}}"}`, Data: `{}`, Golden: "template_update"},
		{Path: "/template/info", Body: `{"template_id":"$id"}`, Data: whole, Golden: "template_info"},
		{Path: "/template/update", Body: `{"template_id":"$id","template_name":"Kürzer","team_id":4291079133131,"email":"<p>{{.Title}}</p>","sms":"{{.Title}}"}`, Data: `{}`},
		{Path: "/template/info", Body: `{"template_id":"$id"}`, Data: whole},
		{Path: "/template/info", Body: `{"template_id":"000000000000000000000001"}`, Has: `{"template_name":"Preset"}`},
		{Path: "/template/info", Body: `{"id":"6321AAD26c12104586a88916"}`, Has: `{"template_name":"Preset","template_id":"6321AAD26c12104586a88916"}`},
		{Path: "/template/info", Body: `{"id":"$id"}`, Has: `{"template_id":"$id"}`},
		{Path: "/template/info", Body: `{}`, Code: "InvalidParameter", Says: []string{"template_id", "is required"}},
		{Path: "/template/update", Body: `{"template_id":"6321aad26c12104586a88916","template_name":"Mine"}`, Code: "InvalidParameter", Says: []string{"preset"}},
		{Path: "/template/delete", Body: `{"template_id":"6321aad26c12104586a88916"}`, Code: "InvalidParameter"},
		{Path: "/template/update", Body: `{"template_id":"000000000000000000000001","template_name":"Mine"}`, Code: "InvalidParameter", Says: []string{"preset"}},
		{Path: "/template/delete", Body: `{"template_id":"000000000000000000000001"}`, Code: "InvalidParameter"},
		{Path: "/template/list", Body: `{"query":"KÜRZ"}`, Data: `{"items":[` + whole + `],"total":1,"has_next_page":false,"search_after_ctx":""}`, Golden: "template_list"},
		{Path: "/template/list", Body: `{"limit":1,"asc":true}`, Has: `{"total":2,"has_next_page":true}`},
		{Path: "/template/list", Body: `{"team_ids":[4291079133131]}`, Has: `{"total":1,"items":[{"template_id":"$id"}]}`},
		{Path: "/template/list", Key: apitest.KeyB, Body: `{}`, Data: `{"items":[],"total":0,"has_next_page":false,"search_after_ctx":""}`},
		{Path: "/template/info", Key: apitest.KeyB, Body: `{"template_id":"$id"}`, Code: "ResourceNotFound"},
		{Path: "/template/delete", Key: apitest.KeyB, Body: `{"template_id":"$id"}`, Code: "ResourceNotFound"},
		{Path: "/template/delete", Body: `{"template_id":"$id","dry_run":true}`, Data: `{"dry_run":true,"allowed":true,"removes":[{"kind":"template","id":"$id","name":"Kürzer"}]}`},
		{Path: "/template/delete", Body: `{"template_id":"$id"}`, Data: `{}`, Golden: "template_delete"},
		{Path: "/template/info", Body: `{"template_id":"$id"}`, Code: "ResourceNotFound"},
		{Path: "/template/delete", Body: `{"template_id":"$id"}`, Code: "ResourceNotFound"},
		{Path: "/template/update", Body: `{"template_id":"$id","template_name":"x"}`, Code: "ResourceNotFound"},
	})
}

func TestTemplateInUse(t *testing.T) {
	s := apitest.Start(t, template.Ops())
	r := s.Call(apitest.KeyA, "/template/create", `{"template_name":"Used"}`)
	var created struct {
		ID string `json:"template_id"`
	}
	r.Into(&created)
	s.Write(func(tx *db.Tx) error {
		return configstore.SetReferences(tx, apitest.AccountA, configstore.RefFrom(configstore.Escalate, "r1", "Night"), configstore.RefTo(configstore.Template, created.ID))
	})
	if r := s.Call(apitest.KeyA, "/template/delete", `{"template_id":"`+created.ID+`"}`); r.Code != "ReferenceExist" || !strings.Contains(string(r.Data), "Night") {
		t.Errorf("%s", r.Body)
	}
}

func TestTemplatePermissionsAndBounds(t *testing.T) {
	s := apitest.Start(t, template.Ops())
	s.Grant(auth.TemplatesRead)
	s.Scenarios(t, "/template/create", []apitest.Scenario{
		{Name: "may not", Key: apitest.KeyReader, Body: `{"template_name":"x"}`, Code: "AccessDenied", Says: []string{"Templates Manage"}},
		{Name: "no name", Body: `{}`, Code: "InvalidParameter", Says: []string{"template_name"}},
		{Name: "39 characters", Body: `{"template_name":"` + strings.Repeat("ü", 39) + `"}`},
		{Name: "40 characters", Body: `{"template_name":"` + strings.Repeat("ü", 40) + `"}`, Code: "InvalidParameter", Says: []string{"39"}},
		{Name: "501 characters", Body: `{"template_name":"y","description":"` + strings.Repeat("ü", 501) + `"}`, Code: "InvalidParameter", Says: []string{"500"}},
		{Name: "no object", Body: `[]`, Code: "InvalidParameter"},
	})
	s.Scenarios(t, "/template/list", []apitest.Scenario{
		{Name: "reader", Key: apitest.KeyReader, Body: `{}`},
		{Name: "nothing", Key: apitest.KeyNothing, Body: `{}`, Code: "AccessDenied"},
		{Name: "101", Body: `{"limit":101}`, Code: "InvalidParameter", Says: []string{"limit", "100"}},
		{Name: "page 0", Body: `{"p":0}`, Code: "InvalidParameter", Says: []string{"p"}},
	})
	s.Scenarios(t, "/template/info", []apitest.Scenario{
		{Name: "malformed", Body: `{"template_id":"x"}`, Code: "InvalidParameter", Says: []string{"template_id", "24 hexadecimal digits"}},
		{Name: "unknown", Body: `{"template_id":"69db2f72a0fe7db6448b1500"}`, Code: "ResourceNotFound"},
		{Name: "nothing", Key: apitest.KeyNothing, Body: `{"template_id":"69db2f72a0fe7db6448b1500"}`, Code: "AccessDenied"},
	})
	s.Scenarios(t, "/template/preview", []apitest.Scenario{
		{Name: "text", Body: `{"type":"sms","content":"{{.Severity}}: {{.Title}}"}`, Golden: "template_preview"},
		{Name: "broken", Body: `{"type":"sms","content":"{{"}`, Data: `{"content":"","success":false,"message":"line 1, column 1: unclosed action"}`},
		{Name: "unknown kind", Body: `{"type":"pigeon","content":""}`, Code: "InvalidParameter", Says: []string{"type"}},
		{Name: "may not", Key: apitest.KeyNothing, Body: `{"type":"sms","content":""}`, Code: "AccessDenied"},
	})
}

func TestTemplatesOfFile(t *testing.T) {
	apitest.RoundTrip(t, template.Kind, []template.Template{
		{TemplateID: "69db2f72a0fe7db6448b1501", TemplateName: "a", Status: "enabled", AccountID: apitest.AccountA, Texts: template.Texts{SMS: "{{.Title}}"}},
		{TemplateID: "69db2f72a0fe7db6448b1502", TemplateName: "b", Status: "enabled", AccountID: apitest.AccountA, TeamID: 7, CreatedAt: 5, UpdatedBy: 3},
	}, map[string]func(*template.Template){
		"template_id":   func(t *template.Template) { t.TemplateID = "x" },
		"template_name": func(t *template.Template) { t.TemplateName = "" },
		"sms":           func(t *template.Template) { t.SMS = "{{" },
		"account_id":    func(t *template.Template) { t.AccountID = 5 },
	})
}

// All texts of a call share one allowance: a text as heavy as a message may be leaves nothing for the texts after it.
func TestTextsOfCallShareAllowance(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t, template.Ops())
	heavy := `{{$a := printf \"%60000d\" 1}}{{range 99999}}{{$b := upper $a}}{{end}}`
	reply := s.Call(apitest.KeyA, "/template/create",
		`{"template_name":"Heavy","sms":"`+heavy+`","voice":"{{upper .Title}}","zoom":"{{.Title}}","email":"<p>{{upper .Title}}</p>"}`)
	for text, want := range map[string]bool{"sms: fails": true, "voice: fails": true, "zoom: fails": true, "email: fails": false} {
		if strings.Contains(string(reply.Data), text) != want {
			t.Errorf("%s: want %v: %s", text, want, reply.Body)
		}
	}
}
