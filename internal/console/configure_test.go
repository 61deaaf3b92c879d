package console_test

import (
	"net/http"
	"net/http/cookiejar"
	"regexp"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
)

const (
	shopPath = "/channels/7000000000041"
	testOnly = "Tests are quiet"
)

// filterOf returns the fields of a form with one condition.
func filterOf(key, oper, vals string, more ...string) []string {
	return append([]string{"if.0.0.key", key, "if.0.0.oper", oper, "if.0.0.vals", vals}, more...)
}

// reader signs in a person who may only read, at a page that such a person may see.
func (w *world) reader() *browser {
	w.t.Helper()
	jar, err := cookiejar.New(nil)
	w.must(err)
	b := &browser{w: w, client: &http.Client{Jar: jar}, lang: "en"}
	b.post("/sign-in", "app_key", readerKey, "next", "/channels").shows("Channels")
	return b
}

// TestChannels has the list and the page of a channel: rules in order, what they held back, who is in its teams.
func TestChannels(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.push(`{"title_rule": "Noise in test", "event_status": "Warning", "alert_key": "n", "labels": {"env": "test"}}`)
	w.push(`{"title_rule": "Disk on staging", "event_status": "Warning", "alert_key": "s", "labels": {"env": "staging"}}`)
	owner := w.signIn(ownerKey)
	owner.get("/channels").shows("Shop", "New channel", "ops")
	owner.get("/channels?q=nothing").shows("No channel has this")
	page := owner.get(shopPath)
	page.shows("Noise", "env is test", "Events in 7 days: 1", "Latest: Noise in test", "Staging is quiet", "Latest: Disk on staging", "The host is down", "Nothing in 7 days", "on call", "Ann Day", "Bob Night", "Active")
	if strings.Index(page.body, "Noise") > strings.Index(page.body, "Staging is quiet") {
		t.Error("drop rules are tried before silences")
	}
	owner.post(shopPath+"/rules/drops/5e5e5e5e5e5e5e5e5e5e5e04/disable").shows("Disabled", "Enable")
	owner.post(shopPath + "/rules/drops/5e5e5e5e5e5e5e5e5e5e5e04/enable").shows("!Disabled")
	owner.post(shopPath+"/rules/drops/5e5e5e5e5e5e5e5e5e5e5e04/delete").shows("!env is test", "deleted rules", "Latest: Noise in test")
	owner.post(shopPath + "/rules/escalations/5e5e5e5e5e5e5e5e5e5e5e01/disable").shows("No escalation rule is in use")
	owner.post(shopPath + "/rules/else/5e5e5e5e5e5e5e5e5e5e5e01/disable").showsWith(http.StatusNotFound)
	owner.post(shopPath + "/status/disable").shows("This channel is disabled")
	owner.post(shopPath + "/status/enable").shows("!This channel is disabled")
	w.reader().get(shopPath).shows("Staging is quiet", "!Delete", "!/rules/drops/new", "!/edit")
	w.signIn(emptyKey).get("/channels").shows("There is no channel yet")
	w.signIn(emptyKey).get(shopPath).showsWith(http.StatusNotFound)
}

func TestChannelForm(t *testing.T) {
	t.Parallel()
	w := begin(t)
	owner := w.signIn(ownerKey)
	owner.get("/channels/new").shows("group_key", "ops")
	owner.post("/channels/new", "do", "save", "group.method", "n", "channel_name", "", "description", "For mail").
		showsWith(http.StatusBadRequest, "channel_name", "For mail</textarea>")
	byHost := []string{"do", "save", "group.method", "p", "group.equals", "labels.service, labels.host\nlabels.service", "held.group", "1",
		"group.window_type", "sliding", "auto_resolve_mode", "update"}
	made := owner.post("/channels/new", append(byHost, "channel_name", "Mail", "description", "For mail", "team_id", "7000000000021")...)
	rule := made.shows("New escalation rule", `value="All incidents"`) // a channel without a rule notifies no one
	made = owner.get(strings.TrimSuffix(rule.path, "/escalations/new"))
	made.shows("Mail", "For mail", "Ann Day", "No escalation rule is in use")
	edit := owner.get(made.path+"/edit").shows("labels.service, labels.host\nlabels.service", "Alerts that change too often",
		`name="flapping.max_changes" value="4"`, `name="flapping.in_mins" value="60"`, `name="flapping.mute_mins" value="15"`)
	post := append(byHost, "channel_name", "Post", "description", "", "group.time_window", "5", "held.flapping", "1")
	owner.post(edit.path, post...).shows("Post", "No team owns this channel")
	owner.get(edit.path).shows(`name="group.time_window" value="5"`)
	owner.post(edit.path, append([]string{"do", "add-case"}, post...)...).shows("Case 1", `name="case.0.0.0.key"`)
	owner.post(edit.path, append(post, "group.storm_thresholds", "20\n100", "auto_resolve_timeout", "3600", "reminder.critical", "30",
		"case.0.fields", "labels.host", "case.0.0.0.key", "severity", "case.0.0.0.oper", "IN", "case.0.0.0.vals", "Info")...)
	stored := w.call(ownerKey, "/channel/info", `{"channel_id":`+strings.TrimPrefix(made.path, "/channels/")+`}`)
	group := stored["group"].(map[string]any)
	if len(group["cases"].([]any)) != 1 || len(group["storm_thresholds"].([]any)) != 2 || group["window_type"] != "sliding" {
		t.Errorf("stored: %v", group)
	}
	owner.get(edit.path).shows("20\n100</textarea>", ">labels.host</textarea>", `value="3600"`, `name="reminder.critical" value="30"`,
		`value="update" selected`)
	owner.post(edit.path, append(post, "group.storm_thresholds", "many")...).showsWith(http.StatusBadRequest, "“many” is no whole number")
	owner.post(edit.path, append(post, "held.reminder", "1")...)
	owner.get(edit.path).shows(`name="reminder.critical" value=""`)
	owner.post(edit.path, append(post, "seen", "other")...).showsWith(http.StatusBadRequest, "This was changed meanwhile")
	owner.post(edit.path, append(post, "flapping.max_changes", "1", "flapping.mute_mins", "30")...).
		showsWith(http.StatusBadRequest, "max_changes", `value="30"`)
	owner.post(edit.path, append(post, "flapping.is_disabled", "1", "flapping.max_changes", "6", "flapping.mute_mins", "30")...)
	owner.get(edit.path).shows(`name="flapping.max_changes" value="6"`, `name="flapping.mute_mins" value="30"`, "checked>Off")
	owner.post(made.path + "/status/disable")
	if gone := owner.post(made.path + "/status/delete"); gone.path != "/channels" {
		t.Errorf("at %s", gone.path)
	}
}

// TestFilterForm builds a filter row by row without a script, tries it, and saves it.
func TestFilterForm(t *testing.T) {
	t.Parallel()
	w := begin(t)
	for _, key := range []string{"a", "b", "c"} {
		w.push(`{"title_rule": "Checkout ` + key + `", "event_status": "Critical", "alert_key": "` + key + `", "labels": {"service": "` + key + `", "team": "pay"}}`)
	}
	owner := w.signIn(ownerKey)
	path := shopPath + "/rules/silences/new"
	owner.post(path, filterOf("labels.service", "IN", "a", "do", "try")...).shows(`value="labels.service"`, ">a</textarea>", "of 3 alerts match")
	owner.post(path, filterOf("labels.service", "IN", "a", "do", "and:if.0", "name", testOnly)...).shows(`name="if.0.1.key"`, "!if.1.0.key", testOnly)
	owner.post(path, filterOf("labels.service", "IN", "a", "do", "or:if")...).shows(`name="if.1.0.key"`)
	owner.post(path, filterOf("labels.service", "IN", "a", "do", "remove:if.0.0")...).shows("!value=\"labels.service\"")
	owner.post(path, filterOf("labels.service", "IN", "/(/", "do", "try")...).shows("regular expression", "/(/</textarea>")
	tried := owner.post(path, filterOf("labels.service", "IN", "a\nb", "do", "try", "pasted", `{"title": "x", "labels": {"service": "c"}}`)...)
	tried.shows("<b>2</b>", "of 3 alerts match", "pay", "It does not match.", "It is c.", "service is one of a, b")
	owner.post(path, filterOf("labels.service", "IN", "a", "do", "try", "pasted", `{"title": `)...).shows("cannot be read as JSON")
	owner.post(path, filterOf("labels.service", "IN", "a", "do", "save", "name", testOnly, "from", "2026-11-21T10:00", "until", "soon")...).showsWith(http.StatusBadRequest, "is not a date and time", testOnly)
	owner.post(path, filterOf("labels.service", "IN", "a", "do", "save", "name", testOnly, "from", "2026-11-21T10:00", "until", "2026-11-21T12:00")...).shows(testOnly, "service is a", "Active")
	page := owner.get(shopPath)
	rule := regexp.MustCompile(shopPath + `/rules/silences/[0-9a-f]{24}">\s*<strong>` + testOnly).FindString(page.body)
	rule, _, _ = strings.Cut(rule, `"`)
	owner.get(rule).shows(`value="2026-11-21 12:00"`, "labels.service")
	owner.post(rule, filterOf("labels.service", "IN", "b", "do", "save", "name", testOnly, "recurs", "1", "window.0.start", "22:00", "window.0.end", "06:00", "window.0.day", "0", "window.0.day", "6")...).
		shows("22:00 to 06:00 (UTC) on Sun, Sat", "service is b", "Not in force now")
	owner.post(rule, filterOf("labels.service", "IN", "b", "do", "add-window", "window.0.start", "22:00", "window.0.end", "06:00")...).shows("window.1.start")
}

// TestBroadSilence has a filter that matches everything refused, and one that matches much only with its number.
func TestBroadSilence(t *testing.T) {
	t.Parallel()
	w := begin(t)
	for _, key := range strings.Split("abcdefghijklmnopqrstuvw", "") {
		w.push(`{"title_rule": "Disk ` + key + `", "event_status": "Warning", "alert_key": "` + key + `", "labels": {"check": "disk", "host": "` + key + `"}}`)
	}
	owner := w.signIn(ownerKey)
	path := shopPath + "/rules/silences/new"
	window := []string{"name", testOnly, "from", "2026-11-21T10:00", "until", "2026-11-21T12:00", "do", "save"}
	owner.post(path, filterOf("labels.env", "NOTIN", "live", window...)...).showsWith(http.StatusBadRequest, "would hold back everything")
	owner.post(path, window...).showsWith(http.StatusBadRequest)
	asked := owner.post(path, filterOf("labels.check", "IN", "disk", window...)...).showsWith(http.StatusBadRequest, "Enter their number", "matches 23 alerts", testOnly)
	guarded := regexp.MustCompile(`name="guarded" value="([0-9a-f]+)"`).FindStringSubmatch(asked.body)[1]
	owner.post(path, filterOf("labels.check", "IN", "disk", append(window, "guarded", guarded, "shown", "23", "count", "22")...)...).showsWith(http.StatusBadRequest)
	owner.post(path, filterOf("labels.check", "IN", "d*", append(window, "guarded", guarded, "shown", "23", "count", "23")...)...).showsWith(http.StatusBadRequest)
	w.push(`{"title_rule": "Disk again", "event_status": "Warning", "alert_key": "again", "labels": {"check": "disk"}}`)
	owner.post(path, filterOf("labels.check", "IN", "disk", append(window, "guarded", guarded, "shown", "23", "count", "23")...)...).shows(testOnly, "check is disk")
}

// TestOtherRules makes a drop rule and an inhibit rule.
func TestOtherRules(t *testing.T) {
	t.Parallel()
	w := begin(t)
	owner := w.signIn(ownerKey)
	owner.post(shopPath+"/rules/drops/new", filterOf("labels.env", "IN", "lab", "name", "Labs", "do", "save")...).shows("Labs", "env is lab")
	inhibit := shopPath + "/rules/inhibits/new"
	owner.get(inhibit).shows("While this alert is active", "source.0.0.key")
	owner.post(inhibit, filterOf("labels.check", "IN", "web", "name", "Net", "do", "save")...).showsWith(http.StatusBadRequest, "Name the alert that inhibits")
	owner.post(inhibit, filterOf("labels.check", "IN", "web", "source.0.0.key", "labels.check", "source.0.0.oper", "IN", "source.0.0.vals", "net", "equals", "labels.rack", "name", "Net", "do", "save")...).
		shows("Net", "check is web", "check is net")
	owner.get(shopPath + "/rules/else/new").showsWith(http.StatusNotFound)
	owner.get(shopPath + "/rules/drops/aaaaaaaaaaaaaaaaaaaaaaaa").showsWith(http.StatusNotFound)
	w.reader().post(shopPath+"/rules/drops/new", filterOf("labels.env", "IN", "x", "name", "x", "do", "save")...).showsWith(http.StatusForbidden)
}

// TestLadder shows who would be notified, and edits the steps.
func TestLadder(t *testing.T) {
	t.Parallel()
	w := begin(t)
	owner := w.signIn(ownerKey)
	owner.get(shopPath+"/ladder").shows("<b>0 s</b>", "<b>30 min</b>", "Ann Day", "Reaches nobody.", "on call", "✓ matches")
	owner.get(shopPath+"/ladder?severity=Info&labels=service%3Dx&at=2026-11-21T23:00").shows("Bob Night", `value="Info" selected`)
	owner.get(shopPath + "/ladder?at=x").showsWith(http.StatusBadRequest)
	rule := shopPath + "/escalations/5e5e5e5e5e5e5e5e5e5e5e01"
	owner.get(rule).shows("Nights only", `value="7000000000031" checked`, `value="30"`)
	w.call(ownerKey, "/template/create", `{"template_name": "Short", "team_id": 0}`)
	owner.get(rule).shows(`<option value="000000000000000000000001" selected>Preset</option>`, ">Short</option>")
	layers := []string{"name", "on call", "layer.0.was", "0", "layer.0.minutes", "5", "layer.0.schedule", "7000000000031", "layer.1.was", "1", "layer.1.minutes", "20", "layer.1.person", "7000000000013"}
	owner.post(rule, append(layers, "do", "add-layer")...).shows("layer.2.minutes")
	owner.post(rule, append(layers, "do", "up:1")...).shows(`name="layer.0.was" value="1"`)
	owner.post(rule, append(layers, "do", "remove-layer:0")...).shows("!layer.1.was")
	owner.post(rule, append(layers, "do", "save", "layer.1.every", "x")...).showsWith(http.StatusBadRequest, "is not a number of minutes")
	owner.post(rule, append(layers, "do", "save")...).shows("<b>5 min</b>", "Bob Night")
	owner.post(shopPath+"/escalations/new", "name", "", "do", "save").showsWith(http.StatusBadRequest)
	owner.post(shopPath+"/escalations/new", "name", "", "layer.0.minutes", "7", "layer.0.person", "7000000000012", "layer.1.minutes", "5",
		"layer.1.emails", "a@example.com", "do", "preview").shows("By this rule alone", "a@example.com", "7 min", `value="preview"`)
	owner.post(shopPath+"/escalations/new", "name", "x", "layer.0.minutes", "7", "do", "preview").shows("Step 1 notifies nobody yet.")
	w.reader().get(rule).shows("!By this rule alone")
	everything := []string{
		"name", "All of it", "wait", "0.5", "repeat_times", "2", "repeat_every", "10", "do", "save",
		"window.0.start", "22:00", "window.0.end", "06:00", "window.0.day", "1",
		"layer.0.minutes", "20", "layer.0.times", "2", "layer.0.every", "2.5", "layer.0.force", "1", "layer.0.roles", "1",
		"layer.0.schedule", "7000000000031", "layer.0.person.add", "bob", "layer.0.chosen", "1", "layer.0.critical", "voice",
		"layer.0.critical", "sms", "layer.0.warning", "email", "layer.0.chats", "1", "layer.0.chat.0.type", "telegram",
		"layer.0.chat.0.settings", "token=12:x\nchat_ids=[-100]", "layer.0.then", "fallback", "layer.0.instead", "7000000000012",
	}
	owner.post(shopPath+"/escalations/new", everything...).shows("Who would be notified")
	stored, err := json.Marshal(w.call(ownerKey, "/channel/escalate/rule/list", `{"channel_id": 7000000000041}`), json.Deterministic(true))
	if err != nil {
		t.Fatal(err)
	}
	for _, member := range []string{
		`"aggr_window":30`, `"repeat":{"interval":10,"times":2}`, `"time_filters":[{"end":"06:00","repeat":[1],"start":"22:00"}]`,
		`"escalate_window":20,"force_escalate":true,"max_times":2,"notify_step":2.5`, `"person_ids":[7000000000013]`,
		`"schedule_to_role_ids":{"7000000000031":[1]}`, `"by":{"critical":["voice","sms"],"warning":["email"]}`,
		`"webhooks":[{"settings":{"chat_ids":[-100],"token":"12:x"},"type":"telegram"}]`,
		`"on_nobody":{"person_id":7000000000012,"then":"fallback"}`,
	} {
		if !strings.Contains(string(stored), member) {
			t.Errorf("not stored: %s in %s", member, stored)
		}
	}
	owner.post(shopPath+"/escalations/new", "name", "Second", "layer.0.minutes", "10", "layer.0.person", "7000000000012", "do", "save", "priority", "5").shows("Who would be notified")
	owner.get(shopPath).shows("Second")
	w.reader().get(rule).shows("!Save", "!Add a step")
}
