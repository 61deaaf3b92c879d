package console_test

import (
	"net/http"
	"strings"
	"testing"
)

// TestTester tries alerts on a channel: each rule answers, who would be notified, and where the JSON is broken.
func TestTester(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.push(`{"title_rule": "Disk on staging", "event_status": "Warning", "alert_key": "s", "labels": {"env": "staging"}}`)
	owner := w.signIn(ownerKey)
	page := shopPath + "/test"
	owner.get(shopPath).shows(`href="` + page + `"`)
	owner.get(page).shows("Disk full on db-1", "Paste an alert or choose one", "Disk on staging")
	owner.post(page, "pasted", `{"title": "Shop is down", "event_status": "Critical", "labels": {"service": "web"}}`).
		shows("An incident would begin.", "Shop is down", "Noise", "Staging is quiet", "The host is down", "✓ matches", "Ann Day", "<b>30 min</b>", "!✓ decides")
	owner.post(page, "pasted", `{"labels": {"env": "test"}}`).shows("It would be discarded.", "✓ decides", "env is &#34;test&#34;", "!Ann Day")
	owner.post(page, "pasted", `{"labels": {"env": "staging"}}`).shows("It would be silenced", "until ", "!Ann Day")
	alert := owner.get("/alerts?show=muted").link("/alerts/")
	owner.post(page, "alert", alert[len("/alerts/"):], "pasted", "{").shows("It would be silenced", "Disk on staging")
	owner.get(page + "?alert=" + alert[len("/alerts/"):]).shows("It would be silenced")
	for body, where := range map[string]string{
		"{\n  \"title\": \"x\",\n  \"labels\": {\"a\" \"b\"}\n}": "line 3, column 18", `{"title": `: "line 1, column", "": "line 1, column 1",
		`{"labels": {"größe": 5}}`: "line 1", `{"title": "<img src=x>", "labels": []}`: "line 1, column 3",
	} {
		owner.post(page, "pasted", body).showsWith(http.StatusBadRequest, "cannot be read as JSON in "+where, "!<img src=x", "!jsontext", "!Go ")
	}
	owner.lang = "zh"
	owner.post(page, "pasted", `{"labels": {"env": "test"}}`).shows("会被丢弃", "由它决定", "!Each rule")
	w.signIn(emptyKey).get(page).showsWith(http.StatusNotFound)
}

// TestHealthPage shows how the server is to those who may, without a path or a secret.
func TestHealthPage(t *testing.T) {
	t.Parallel()
	w := begin(t)
	owner := w.signIn(ownerKey)
	owner.get("/setup").shows(`href="/health/server"`)
	kind, _, _ := strings.Cut(w.app.Config.DB, ":")
	owner.get("/health/server").shows("All work is done in time.", "Version <code>test</code>", kind, "None yet", "<code>event</code>", "!tocsin.db", "!"+kind+":")
	w.push(`{"title_rule": "Shop is down", "event_status": "Critical", "alert_key": "shop"}`)
	owner.get("/health/server").shows("!None yet", "Last one sent")
	owner.lang = "zh"
	owner.get("/health/server").shows("所有工作都已按时完成", "!All work")
	reader := w.reader()
	reader.get("/health/server").showsWith(http.StatusForbidden)
	reader.get("/setup").shows("!/health/server")
}
