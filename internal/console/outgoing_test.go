package console_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// TestWebhookForm creates a webhook, changes it without its secrets, and deletes it.
func TestWebhookForm(t *testing.T) {
	t.Parallel()
	w := begin(t)
	owner := w.signIn(ownerKey)
	owner.get("/endpoints").shows("There is no webhook yet.", `href="/endpoints/new"`)
	owner.get("/endpoints/new").shows("Webhook of incidents", "Acknowledged", `name="settings.body"`)
	owner.get("/endpoints/new?type=webhook_alert").shows("Alert began", "!Acknowledged", `!name="settings.body"`)
	form := []string{"integration_name", "Tickets", "held.settings", "1", "settings.endpoint", "https://tickets.example.com/in", "settings.event_types", "i_new",
		"settings.event_types", "i_ack", "settings.channel_ids.add", "Shop", "settings.sign_secret", "whsec_hunter2", "settings.headers", "X-Key: hunter3\r\nX-Team: hunter4"}
	owner.post("/endpoints/new", "integration_name", "Tickets", "held.settings", "1", "settings.endpoint", "ftp://x", "do", "save").showsWith(http.StatusBadRequest, "endpoint", `value="ftp://x"`)
	made := owner.post("/endpoints/new", append(form, "do", "save")...).shows("Tickets", "https://tickets.example.com/in", "Acknowledged", "!hunter")
	id := strings.TrimPrefix(made.path, "/endpoints/")
	settings := func() map[string]any {
		t.Helper()
		return w.call(ownerKey, "/integration/info", `{"integration_id": `+id+`}`)["settings"].(map[string]any)
	}
	edit := made.path + "/edit"
	owner.get(edit).shows("X-Key:\nX-Team:", "Empty: it stays as it is.", `value="i_new" checked`, `value="i_rslv">`, "!hunter")
	owner.post(edit, "integration_name", "Tickets", "held.settings", "1", "settings.endpoint", "https://tickets.example.com/v2", "settings.headers", "X-Key:\r\nX-Other: 5",
		"settings.body", "{\"a\": \"{{incident.title}}\"}", "do", "save").shows("Saved.", "Everything that happens.")
	got := settings()
	if headers := fmt.Sprint(got["headers"]); headers != "map[X-Key:hunter3 X-Other:5]" || got["sign_secret"] != "whsec_hunter2" || fmt.Sprint(got["channel_ids"], got["event_types"]) != "[] []" {
		t.Error(got)
	}
	owner.post(made.path + "/disable").shows("Disabled")
	w.anyone(w.kindOf("reader of integrations", []string{"Integrations Read (on-call)"})).get(edit).showsWith(http.StatusForbidden)
	owner.get("/endpoints/7000000000051/edit").showsWith(http.StatusNotFound)
	owner.get("/integrations").shows(made.path, "Webhook of incidents")
	owner.post(made.path + "/delete").shows("There is no webhook yet.")
}

// TestChatAppForm creates an app of each service and changes one without its secret.
func TestChatAppForm(t *testing.T) {
	t.Parallel()
	w := begin(t)
	owner := w.signIn(ownerKey)
	owner.get("/chat-apps").shows("There is no chat app yet.")
	owner.get("/chat-apps/new").shows("Bot token", "Microsoft Teams")
	owner.post("/chat-apps/new?type=slack_app", "integration_name", "Slack", "do", "save").showsWith(http.StatusBadRequest, "token")
	owner.post("/chat-apps/new?type=slack_app", "integration_name", "Slack", "app.token", "xoxb-hunter2", "settings.war_room_enabled", "1", "held.settings", "1", "do", "save").shows("Slack", "War rooms", "!hunter2")
	owner.post("/chat-apps/new?type=feishu_app", "integration_name", "Feishu", "app.app_id", "cli_1", "app.app_secret", "hunter3", "held.settings", "1", "do", "save").shows("Feishu")
	app := "/chat-apps/" + integrationNamed(w, "Feishu")
	owner.get(app).shows(`value="cli_1"`, "Empty: it stays as it is.", "!hunter3")
	owner.post(app, "integration_name", "Lark", "app.app_id", "cli_2", "app.base_url", "https://open.larksuite.com", "held.settings", "1", "do", "save").shows("Lark")
	got := w.call(ownerKey, "/integration/info", `{"integration_id": `+strings.TrimPrefix(app, "/chat-apps/")+`}`)["settings"]
	if text := fmt.Sprint(got); text != "map[app:map[app_id:cli_2 app_secret:hunter3 base_url:https://open.larksuite.com]]" {
		t.Error(text)
	}
	owner.post(app + "/status/disable").shows("Enable")
	owner.get("/chat-apps").shows("Disabled")
	owner.post(app + "/status/enable").shows("Disable")
	owner.post(app + "/status/other").showsWith(http.StatusNotFound)
	owner.post(app+"/delete").shows("Slack", "!Lark")
}

// integrationNamed returns the id of an integration.
func integrationNamed(w *world, name string) string {
	w.t.Helper()
	for _, one := range w.call(ownerKey, "/integration/list", `{"limit": 50}`)["items"].([]any) {
		if i := one.(map[string]any); i["integration_name"] == name {
			return fmt.Sprintf("%.0f", i["integration_id"])
		}
	}
	w.t.Fatalf("there is no integration %s", name)
	return ""
}
