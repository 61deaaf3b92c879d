package console_test

import (
	"net/http"
	"strings"
	"testing"
)

func TestStatusPages(t *testing.T) {
	t.Parallel()
	w := begin(t)
	owner := w.signIn(ownerKey)
	owner.get("/status-pages").shows("There is no status page yet")
	owner.post("/status-pages/new", "name", "Shop", "url_name", "Not so", "do", "save").showsWith(http.StatusBadRequest, "url_name", `value="Not so"`)
	made := owner.post("/status-pages/new", "name", "Shop", "url_name", "shop", "do", "save",
		"sections.rows", "2", "sections.0.name", "Money", "sections.0.section_id", "money", "sections.1.name", "",
		"components.rows", "1", "components.0.name", "Till", "components.0.component_id", "till", "components.0.section_id", "money").
		shows(`value="Shop"`, `value="money"`, `value="till"`, "None yet.")
	got := w.call(ownerKey, "/status-page/list", `{}`)["items"].([]any)[0].(map[string]any)
	if len(got["sections"].([]any)) != 1 || len(got["components"].([]any)) != 1 {
		t.Errorf("stored: %v", got)
	}
	owner.post(made.path, "name", "Shop", "url_name", "shop", "do", "save", "team_id", "7000000000021", "team_id", "7000000000022").
		showsWith(http.StatusBadRequest, "Team: choose only one.")
	change := owner.post(made.path+"/changes/new", "type", "incident", "title", "Till is slow", "status", "investigating", "do", "save",
		"updates.rows", "1", "updates.0.description", "We look.", "updates.0.component_changes.rows", "1",
		"updates.0.component_changes.0.component_id", "till", "updates.0.component_changes.0.status", "degraded").shows("Till is slow", "We look.")
	owner.post(change.path+"/updates/new", "status", "resolved", "description", "It is fast.", "do", "save", "at_seconds", "soon").
		showsWith(http.StatusBadRequest, "“soon” is no time", "It is fast.")
	owner.post(change.path+"/updates/new", "status", "resolved", "description", "It is fast.", "do", "save", "component_changes.rows", "1",
		"component_changes.0.component_id", "till", "component_changes.0.status", "operational").shows("Resolved", "It is fast.")
	owner.get(made.path).shows("Till is slow", "Resolved", "Incident")
	owner.post(change.path + "/delete").shows("None yet.")
	if end := owner.post(made.path + "/delete").shows("There is no status page yet"); !strings.HasSuffix(end.path, "/status-pages") {
		t.Errorf("a deleted page leads to %s", end.path)
	}
}

func TestAccountForm(t *testing.T) {
	t.Parallel()
	w := begin(t)
	owner := w.signIn(ownerKey)
	owner.post("/account", "account_name", "Bergfink", "time_zone", "Nowhere", "do", "save").showsWith(http.StatusBadRequest, `value="Nowhere"`)
	owner.post("/account", "account_name", "Bergfink", "time_zone", "Europe/Vienna", "do", "save").shows(`value="Bergfink"`, `value="Europe/Vienna"`)
	owner.post("/account/fallback", "person_ids", "7000000000012", "do", "save").shows(`value="7000000000012" checked`)
}
