package console_test

import (
	"context"
	"fmt"
	"html"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tocsin/internal/auth"
	"tocsin/internal/console"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
)

// shownBy names the operations without which a page shows nothing: who may not call one of them may not read the page.
// None: it is for everyone who signed in.
var shownBy = map[string][]string{
	"/{$}": nil, "/find": nil, "/at": nil, "/untold": {"/incident/untold/list"}, "/lint": {"/lint/list"}, "/setup": nil, "/insight": {"/insight/account"},
	"/me": nil, "/me/security": nil, "/me/sessions": nil, "/health/server": {"/account/health/info"},
	"/incidents/chosen": {"/incident/reset"}, "/incidents": {"/incident/list"}, "/incidents/{id}": {"/incident/info"}, "/incidents/{id}/why": {"/incident/explain"},
	"/incidents/{id}/similar": {"/incident/past/list"}, "/incidents/{id}/people": {"/incident/reset"},
	"/incidents/{id}/merge": {"/incident/reset"}, "/incidents/{id}/room": {"/incident/reset"}, "/alerts/{id}/merge": {"/incident/reset"}, "/incidents/{id}/edit": {"/incident/reset"},
	"/alerts/{id}/silence": {"/alert/silence/preview"}, "/incidents/{id}/silence": {"/incident/silence/preview"},
	"/alerts": {"/alert/list"}, "/alerts/{id}": {"/alert/info"}, "/alerts/{id}/why": {"/alert/explain"},
	"/schedules": {"/schedule/list"}, "/schedules/{id}": {"/schedule/info"}, "/schedules/{id}/why": {"/schedule/explain"},
	"/schedules/{id}/edit": {"/schedule/update"}, "/schedules/new": {"/schedule/create"}, "/schedules/{id}/delete": {"/schedule/delete"},
	"/schedules/{id}/shift/{kind}": {"/schedule/info"}, "/schedules/{id}/plan": {"/schedule/update"}, "/schedules/{id}/override": {"/schedule/override/list"},
	"/schedules/{id}/hours": {"/schedule/stats"}, "/people/{id}/shifts": {"/schedule/self"}, "/calendar-feeds": {"/schedule/calendar/list"},
	"/channels": {"/channel/list"}, "/channels/new": {"/channel/create"}, "/channels/{id}": {"/channel/silence/rule/list"},
	"/channels/{id}/edit": {"/channel/update"}, "/channels/{id}/test": {"/channel/rules/try"}, "/channels/{id}/ladder": {"/incident/escalation/preview"},
	"/channels/{id}/rules/{kind}/{rule}": {"/channel/silence/rule/list"}, "/channels/{id}/escalations/{rule}": {"/channel/escalate/rule/list"},
	"/integrations": {"/integration/list"}, "/integrations/new": {"/integration/create"}, "/integrations/{id}": {"/integration/info"},
	"/endpoints/new": {"/integration/create"}, "/endpoints/{id}/edit": {"/integration/update"},
	"/chat-apps": {"/integration/list"}, "/chat-apps/new": {"/integration/create"}, "/chat-apps/{id}": {"/integration/info"},
	"/integrations/{id}/rules/{stage}": {"/alert/pipeline/info"},
	"/integrations/{id}/edit":          {"/integration/update"}, "/integrations/{id}/route": {"/route/list"},
	"/templates": {"/template/list"}, "/templates/{id}": {"/template/info"}, "/calendars": {"/calendar/list"}, "/calendars/{id}": {"/calendar/info"},
	"/fields": {"/field/list"}, "/fields/{id}": {"/field/info"}, "/datasources": {"/monit/datasource/list"}, "/datasources/{id}": {"/monit/datasource/info"},
	"/edges":     {"/monit/edge/list"},
	"/rules/new": {"/monit/rule/create"}, "/rules/{id}/edit": {"/monit/rule/update"}, "/rules/import": {"/monit/rule/import/file"},
	"/rule-folders/{id}": {"/monit/folder/create"}, "/rules/change": {"/monit/rule/update/fields"},
	"/rules": {"/monit/rule/list/basic"}, "/rules/{id}": {"/monit/rule/info"},
	"/rum": {"/rum/application/list"}, "/rum/applications/{id}": {"/rum/application/info"}, "/rum/applications/new": {"/rum/application/create"}, "/rum/applications/{id}/edit": {"/rum/application/info"}, "/rum/issues/{id}": {"/rum/issue/info"},
	"/deliveries": {"/webhook/history/list"}, "/deliveries/{id}": {"/webhook/history/detail"}, "/endpoints": {"/webhook/endpoint/info"}, "/endpoints/{id}": {"/webhook/endpoint/info"},
	"/people": {"/member/list"}, "/people/{id}": {"/member/info"}, "/teams": {"/team/list"}, "/teams/{id}": {"/team/info"},
	"/incidents/new": {"/incident/create"},
	"/account":       {"/account/info"}, "/account/fallback": {"/account/fallback/info"},
	"/status-pages": {"/status-page/list"}, "/status-pages/{id}": {"/status-page/info"},
	"/status-pages/{id}/changes/{change}":                  {"/status-page/change/info"},
	"/status-pages/{id}/changes/{change}/updates/{update}": {"/status-page/change/info"},
	"/roles": {"/role/list"}, "/roles/{id}": {"/role/info"}, "/keys": {"/person/app-key/list"}, "/people/{id}/keys": {ownerOnly}, "/people/{id}/sessions": {ownerOnly}, "/audit": {"/audit/search"}, "/audit/{id}": {"/audit/search"},
}

// ownerOnly stands for operations that others may call for themselves, and only the account's owner for the person of the address.
const ownerOnly = "owner"

// doneBy names the operation that an action calls.
var doneBy = map[string]string{
	"/sign-out": "/session/end", "/me": "/person/infos", "/me/notify": "/preference/update", "/me/push": "/person/push/subscribe", "/me/push/remove": "/person/push/remove", "/me/push/test": "/person/push/test",
	"/schedules/new": "/schedule/create", "/schedules/{id}/delete": "/schedule/delete", "/schedules/{id}/status/{to}": "/schedule/update", "/schedules/{id}/shift/{kind}": "/schedule/shift/take",
	"/cover/{request}/{answer}": "/schedule/cover/accept", "/people/{id}/cover/{request}/cancel": "/schedule/cover/cancel", "/me/page": "/incident/page-me",
	"/me/security/password": "/person/password/update", "/me/security/second-factor": "/person/second-factor/begin",
	"/me/security/second-factor/confirm": "/person/second-factor/confirm", "/me/security/email": "/person/email/prove", "/me/security/second-factor/remove": "/person/second-factor/remove", "/me/sessions/end": "/session/end",
	"/incidents": "/incident/ack", "/incidents/chosen": "/incident/assign", "/incidents/{id}/ack": "/incident/ack", "/incidents/{id}/unack": "/incident/unack", "/incidents/{id}/answer": "/incident/answer", "/incidents/{id}/comment": "/incident/comment", "/incidents/{id}/snooze": "/incident/snooze",
	"/incidents/{id}/wake": "/incident/wake", "/incidents/{id}/resolve": "/incident/resolve", "/incidents/{id}/reopen": "/incident/reopen", "/incidents/{id}/room": "/incident/war-room/create",
	"/incidents/{id}/people": "/incident/assign", "/incidents/{id}/merge": "/incident/merge", "/alerts/{id}/merge": "/alert/merge", "/incidents/{id}/room/add": "/incident/war-room/add-member", "/incidents/{id}/room/end": "/incident/war-room/delete", "/incidents/{id}/edit": "/incident/reset", "/alerts/{id}/close": "/alert/close",
	"/alerts/{id}/silence": "/alert/silence", "/incidents/{id}/silence": "/incident/silence", "/alerts/{id}/silence/undo": "/alert/silence/undo", "/incidents/{id}/silence/undo": "/alert/silence/undo",
	"/schedules/{id}/edit": "/schedule/update", "/schedules/{id}/plan": "/schedule/update", "/schedules/{id}/override": "/schedule/override/create", "/schedules/{id}/override/delete": "/schedule/override/delete",
	"/people/{id}/absence": "/person/absence/create", "/people/{id}/absence/delete": "/person/absence/delete", "/calendar-feeds": "/schedule/calendar/url", "/calendar-feeds/revoke": "/schedule/calendar/revoke",
	"/channels/new": "/channel/create", "/channels/{id}/edit": "/channel/update", "/channels/{id}/test": "/channel/rules/try", "/channels/{id}/status/{to}": "/channel/disable",
	"/channels/{id}/rules/{kind}/{rule}": "/channel/silence/rule/update", "/channels/{id}/rules/{kind}/{rule}/{to}": "/channel/silence/rule/disable", "/channels/{id}/escalations/{rule}": "/channel/escalate/rule/update",
	"/endpoints/new": "/integration/create", "/endpoints/{id}/edit": "/integration/update", "/endpoints/{id}/delete": "/integration/delete",
	"/chat-apps/new": "/integration/create", "/chat-apps/{id}": "/integration/update", "/chat-apps/{id}/status/{to}": "/integration/disable",
	"/chat-apps/{id}/delete":           "/integration/delete",
	"/integrations/{id}/rules/{stage}": "/alert/pipeline/upsert",
	"/integrations/new":                "/integration/create", "/integrations/{id}/edit": "/integration/update", "/integrations/{id}/status/{to}": "/integration/disable", "/integrations/{id}/test": "/integration/test", "/integrations/{id}/severity": "/integration/update", "/integrations/{id}/route": "/route/upsert",
	"/templates/{id}": "/template/update", "/templates/{id}/delete": "/template/delete", "/calendars/{id}": "/calendar/update", "/calendars/{id}/delete": "/calendar/delete", "/calendars/{id}/days": "/calendar/event/upsert",
	"/calendars/{id}/days/{event}/delete": "/calendar/event/delete", "/fields/{id}": "/field/update", "/fields/{id}/delete": "/field/delete", "/datasources/{id}": "/monit/datasource/update", "/datasources/{id}/delete": "/monit/datasource/delete",
	"/edges/keys": "/monit/edge/key/create", "/edges/keys/{id}/{to}": "/monit/edge/key/update", "/edges/clusters": "/monit/edge/cluster/update", "/edges/{id}/delete": "/monit/edge/delete",
	"/rules/new": "/monit/rule/create", "/rules/{id}/edit": "/monit/rule/update", "/rules/import": "/monit/rule/import/file", "/rules/{id}/status/{to}": "/monit/rule/update/fields",
	"/rules":             "/monit/rule/update/fields",
	"/rules/change":      "/monit/rule/update/fields",
	"/rule-folders/{id}": "/monit/folder/update", "/rule-folders/{id}/delete": "/monit/folder/delete",
	"/rum/applications/new": "/rum/application/create", "/rum/applications/{id}/edit": "/rum/application/update", "/rum/applications/{id}/token": "/rum/application/token/rotate", "/rum/applications/{id}/delete": "/rum/application/delete", "/rum/issues/{id}": "/rum/issue/update", "/deliveries/replay": "/webhook/replay", "/deliveries/{id}/replay": "/webhook/history/replay",
	"/endpoints/{id}/test": "/webhook/test", "/endpoints/{id}/count": "/webhook/replay", "/endpoints/{id}/replay": "/webhook/replay", "/endpoints/{id}/cancel": "/webhook/replay/cancel", "/endpoints/{id}/rotate": "/integration/secret/rotate",
	"/endpoints/{id}/expire": "/integration/secret/expire", "/endpoints/{id}/enable": "/integration/enable", "/endpoints/{id}/disable": "/integration/disable",
	"/people": "/member/invite", "/people/{id}": "/member/info/reset", "/people/{id}/roles": "/member/role/update", "/people/{id}/delete": "/member/delete", "/people/{id}/link": "/person/link/create", "/people/{id}/identity/remove": "/person/identity/remove",
	"/incidents/new": "/incident/create",
	"/account":       "/account/update", "/account/fallback": "/account/fallback/update",
	"/status-pages/{id}": "/status-page/update", "/status-pages/{id}/delete": "/status-page/delete",
	"/status-pages/{id}/changes/{change}":                         "/status-page/change/update",
	"/status-pages/{id}/changes/{change}/delete":                  "/status-page/change/delete",
	"/status-pages/{id}/changes/{change}/updates/{update}":        "/status-page/change/timeline/update",
	"/status-pages/{id}/changes/{change}/updates/{update}/delete": "/status-page/change/timeline/delete",
	"/teams": "/team/upsert", "/teams/{id}": "/team/upsert", "/teams/{id}/delete": "/team/delete", "/roles": "/role/upsert", "/roles/{id}": "/role/upsert", "/roles/{id}/delete": "/role/delete",
	"/roles/{id}/people": "/role/member/grant", "/roles/{id}/enable": "/role/enable", "/roles/{id}/disable": "/role/disable",
	"/keys": "/person/app-key/create", "/keys/{key}/enable": "/person/app-key/enable", "/keys/{key}/disable": "/person/app-key/disable", "/keys/{key}/delete": "/person/app-key/delete",
	"/keys/{key}/rename": "/person/app-key/name/reset",
	"/people/{id}/keys":  ownerOnly, "/people/{id}/keys/{key}/enable": ownerOnly, "/people/{id}/keys/{key}/disable": ownerOnly, "/people/{id}/keys/{key}/rename": ownerOnly, "/people/{id}/keys/{key}/delete": ownerOnly,
	"/people/{id}/sessions/end": ownerOnly, "/people/{id}/second-factor/remove": ownerOnly,
}

// ownForms are actions on what is the visitor's own, where the operation asks for a right only for that of others.
var ownForms = []string{"/people/{id}", "/me"}

// TestConsoleMayWhatAPIMay compares pages and forms with the permissions of operations, for persons of every kind: a
// page can be read by those who may call its operations, each form that is drawn may be sent, and what is sent without the
// right is refused.
func TestConsoleMayWhatAPIMay(t *testing.T) {
	t.Parallel()
	shown, done := console.Patterns()
	for _, p := range shown {
		if _, known := shownBy[p]; !known {
			t.Errorf("%s is not in the table of pages", p)
		}
	}
	for _, p := range done {
		if doneBy[p] == "" {
			t.Errorf("%s is not in the table of actions", p)
		}
	}
	names := auth.Names(auth.All)
	var manage, read []string
	for _, n := range names {
		if strings.Contains(n, "Manage") {
			manage = append(manage, n)
		} else {
			read = append(read, n)
		}
	}
	w := begin(t)
	objects := w.objects()
	for name, permissions := range map[string][]string{"manager": manage, "reader": read, "nobody": {}} {
		t.Run(name, func(t *testing.T) {
			w := *w
			w.t = t
			w.compare(w.kindOf(name, permissions), objects, shown, done)
		})
	}
	t.Run("owner", func(t *testing.T) { w := *w; w.t = t; w.compare(ownerKey, objects, shown, nil) })
}

// kindOf makes a person with a role of some permissions, and returns a key.
func (w *world) kindOf(name string, permissions []string) string {
	w.t.Helper()
	const account = 7000000000001
	id, key := int64(7000000000100), ""
	for _, r := range name {
		id = id*7%1_000_003 + int64(r)
	}
	id += 7000001000000
	w.must(w.app.DB.Write(context.Background(), func(tx *db.Tx) error {
		if err := person.Load(tx, account, []person.Record{{Item: person.Item{PersonID: id, PersonName: name, Status: "enabled", Email: name + "@example.com"}}}); err != nil {
			return err
		}
		_, made, err := person.CreateKey(tx, auth.NewKey{Account: account, Person: id, Name: name}, w.clock.Now().Unix())
		key = made
		return err
	}))
	if len(permissions) == 0 {
		return key
	}
	ids := []string{}
	for _, p := range w.call(ownerKey, "/role/permission/list", `{"with_all": true}`)["items"].([]any) {
		if one := p.(map[string]any); slices.Contains(permissions, one["permission_name"].(string)) {
			ids = append(ids, fmt.Sprint(one["id"]))
		}
	}
	role := w.call(ownerKey, "/role/upsert", `{"role_name": "`+name+`", "permission_ids": [`+strings.Join(ids, ",")+`]}`)
	w.call(ownerKey, "/member/role/update", fmt.Sprintf(`{"member_id": %d, "role_ids": [%.0f]}`, id, role["role_id"]))
	return key
}

// objects returns an address for each pattern of a page.
func (w *world) objects() map[string]string {
	w.t.Helper()
	w.push(`{"title_rule": "Shop is down", "event_status": "Critical", "alert_key": "shop"}`)
	_, hook := w.hook()
	w.push(`{"title_rule": "Till is down", "event_status": "Critical", "alert_key": "till"}`)
	owner := w.signIn(ownerKey)
	made := func(path, body, member string) string {
		switch id := w.call(ownerKey, path, body)[member].(type) {
		case float64:
			return strconv.FormatInt(int64(id), 10)
		default:
			return fmt.Sprint(id)
		}
	}
	ids := map[string]string{
		"incidents": strings.TrimPrefix(owner.get("/incidents").link("/incidents/"), "/incidents/"), "alerts": strings.TrimPrefix(owner.get("/alerts").link("/alerts/"), "/alerts/"),
		"schedules": "7000000000031", "people": "7000000000012", "channels": "7000000000041", "integrations": "7000000000051", "endpoints": hook, "teams": "7000000000021", "roles": "7", "keys": "1",
		"templates": made("/template/create", `{"template_name": "T", "team_id": 0}`, "template_id"), "calendars": made("/calendar/create", `{"cal_name": "C", "timezone": "UTC", "workdays": [1]}`, "cal_id"),
		"fields": "663a1b2c3d4e5f6789abcf01", "datasources": made("/monit/datasource/create", `{"name": "P", "type_ident": "prometheus", "address": "https://p.example.com", "edge_cluster_name": "default", "payload": {"prometheus": {}}}`, "id"),
		"rules":        made("/monit/rule/create", `{"name": "Disk", "ds_type": "prometheus", "ds_list": ["P"], "cron_pattern": "@every 1m", "enabled": false, "rule_configs": {"queries": [{"name": "A", "expr": "up"}], "check_threshold": {"enabled": true, "critical": "$A < 1"}}}`, "id"),
		"edges":        "0000000000000001",
		"rule-folders": "1",
		"applications": made("/rum/application/create", `{"application_name": "R", "type": "browser", "team_id": 0, "is_private": false}`, "application_id"), "issues": "663a1b2c3d4e5f6789abcf09",
	}
	ids["status-pages"] = made("/status-page/create", `{"name": "Shop", "url_name": "shop", "components": [{"component_id": "till", "name": "Till"}]}`, "page_id")
	ids["chat-apps"] = made("/integration/create", `{"integration_name": "Chat", "integration_type": "slack_app", "settings": {"app": {"token": "xoxb-1"}}}`, "integration_id")
	ids["change"] = made("/status-page/change/create", `{"page_id": `+ids["status-pages"]+`, "type": "incident", "title": "Till is slow", "status": "investigating",
		"updates": [{"update_id": "1", "description": "We look.", "component_changes": [{"component_id": "till", "status": "degraded"}]}]}`, "change_id")
	delivery, _, _ := strings.Cut(strings.TrimPrefix(strings.ReplaceAll(anAttempt.FindStringSubmatch(owner.get("/deliveries").body)[1], "&amp;", "&"), "/deliveries/"), " ")
	ids["deliveries"] = delivery
	entry := regexp.MustCompile(`href="/audit/([^"]+)"`).FindStringSubmatch(owner.get("/audit").body)
	ids["audit"] = html.UnescapeString(entry[1])
	return ids
}

// addressOf fills the parts of a pattern in.
func addressOf(pattern string, ids map[string]string) string {
	kind := "silences"
	if strings.Contains(pattern, "/shift/") {
		kind = "take"
	}
	path := strings.NewReplacer("{$}", "", "{kind}", kind, "{change}", ids["change"], "{update}", "1", "{to}", "disable", "{stage}", "pipeline", "{event}", "1", "{key}", "1", "{request}", "1", "{answer}", "accept").Replace(pattern)
	if strings.Contains(path, "/escalations/") {
		path = strings.ReplaceAll(path, "{rule}", "5e5e5e5e5e5e5e5e5e5e5e01")
	}
	path = strings.ReplaceAll(path, "{rule}", "5e5e5e5e5e5e5e5e5e5e5e02")
	before, after, found := strings.Cut(path, "/{id}")
	if !found {
		return path
	}
	return before + "/" + insert(ids[before[strings.LastIndexByte(before, '/')+1:]], after)
}

// insert puts the rest of a path before the parameters of an address.
func insert(id, rest string) string {
	id, query, found := strings.Cut(id, "?")
	if found {
		query = "?" + query
	}
	return id + rest + query
}

var aForm = regexp.MustCompile(`(?s)<form[^>]*method="post"[^>]*>.*?</form>`)

// changes reports whether a form that is drawn does more than to try something or to be drawn again.
func changes(form string) bool {
	return strings.Contains(form, "<button") && (!strings.Contains(form, `name="do"`) || strings.Contains(form, `value="save"`))
}

var actionOf, linkOf = regexp.MustCompile(`action="([^"]+)"`), regexp.MustCompile(`<a[^>]*href="(/[^"#]*)"`)

// compare visits every page and sends every form as the person of a key.
func (w *world) compare(key string, ids map[string]string, shown, done []string) {
	b := w.anyone(key)
	may := map[string]bool{}
	for _, op := range append(slices.Concat(slices.Collect(maps.Values(shownBy))...), slices.Collect(maps.Values(doneBy))...) {
		if op == ownerOnly {
			may[op] = key == ownerKey
		} else if _, asked := may[op]; !asked {
			may[op] = !w.refuses(key, op)
		}
	}
	pages, actions := http.NewServeMux(), http.NewServeMux()
	for _, p := range shown {
		pages.Handle(p, http.NotFoundHandler())
	}
	all, _ := done, actions
	if all == nil {
		_, all = console.Patterns()
	}
	for _, p := range all {
		actions.Handle(p, http.NotFoundHandler())
	}
	readable := func(p string) bool {
		return !slices.ContainsFunc(shownBy[p], func(op string) bool { return !may[op] })
	}
	for _, p := range shown {
		a := b.get(addressOf(p, ids))
		if refused := a.status == http.StatusForbidden; refused == readable(p) || a.status >= 500 {
			w.t.Errorf("GET %s: %d, may be read: %t (%v) %.300s", p, a.status, readable(p), shownBy[p], a.main())
		}
		if a.status != http.StatusOK {
			continue
		}
		for _, f := range aForm.FindAllString(a.body, -1) {
			to := actionOf.FindStringSubmatch(f)
			if to == nil || !changes(f) {
				continue
			}
			r, _ := http.NewRequest(http.MethodPost, html.UnescapeString(to[1]), nil)
			if _, pattern := actions.Handler(r); pattern != "" && !may[doneBy[pattern]] && !slices.Contains(ownForms, pattern) {
				w.t.Errorf("%s draws the form %s, which needs %s", p, pattern, doneBy[pattern])
			}
		}
		for _, l := range linkOf.FindAllStringSubmatch(a.body, -1) {
			r, err := http.NewRequest(http.MethodGet, html.UnescapeString(l[1]), nil)
			if err != nil {
				continue
			}
			if _, pattern := pages.Handler(r); pattern != "" && !readable(pattern) {
				w.t.Errorf("%s links to %s (%s), which needs %v", p, pattern, l[1], shownBy[pattern])
			}
		}
	}
	for _, p := range done {
		if may[doneBy[p]] {
			continue // it would change what the others look at
		}
		if a := b.post(addressOf(p, ids), "do", "save"); a.status != http.StatusForbidden && !slices.Contains(ownForms, p) {
			w.t.Errorf("POST %s: %d, although %s is refused: %.300s", p, a.status, doneBy[p], a.main())
		}
	}
}

// TestPrivateChannelsInConsole asks for the pages of a private channel as a member of its team and as another.
func TestPrivateChannelsInConsole(t *testing.T) {
	t.Parallel()
	w := begin(t)
	private := fmt.Sprintf("%.0f", w.call(ownerKey, "/channel/create", `{"channel_name": "Hushed", "team_id": 7000000000021, "is_private": true}`)["channel_id"])
	other := w.anyone(w.kindOf("outsider", auth.Names(auth.All)))
	for _, page := range []string{"", "/edit", "/test", "/ladder", "/rules/silences/new", "/escalations/new"} {
		w.signIn(ownerKey).get("/channels/" + private + page).shows("Hushed")
		other.get("/channels/"+private+page).showsWith(http.StatusForbidden, "!Hushed")
	}
	other.get("/channels").shows("!Hushed")
	for _, action := range []string{"/edit", "/test", "/status/disable", "/rules/silences/new", "/rules/drops/5e5e5e5e5e5e5e5e5e5e5e02/disable", "/escalations/new"} {
		a := other.post("/channels/"+private+action, "name", "x", "do", "save", "pasted", "{}", "layer.0.minutes", "5", "layer.0.person", "7000000000013", "if.0.0.key", "labels.a", "if.0.0.oper", "IN", "if.0.0.vals", "b", "from", "2026-11-21T10:00", "until", "2026-11-21T12:00")
		a.showsWith(http.StatusForbidden, "!Hushed")
	}
}
