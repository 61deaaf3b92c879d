package demo

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"tocsin/internal/api/apitest"
)

// operations are the specification's operations, in its order, and one that explains.
var operations = []string{
	"/schedule/info", "/schedule/create", "/alert/info", "/channel/silence/rule/list", "/channel/unsubscribe/rule/list",
	"/incident/war-room/default-observers", "/monit/datasource/create", "/monit/datasource/info", "/rum/application/infos",
	"/rum/issue/info", "/person/infos", "/webhook/history/list", "/schedule/explain",
}

func TestEveryCallFindsSomething(t *testing.T) {
	t.Parallel()
	s, keyring := serve(t)
	keys := filled(t, s, keyring, apitest.Now)
	paths := []string{}
	for _, c := range Calls() {
		paths = append(paths, c.Path)
		if c.Title == "" {
			t.Errorf("%s has no title", c.Path)
		}
		var data map[string]any
		s.Call(keys.All, c.Path, c.Body).Into(&data)
		if len(data) == 0 {
			t.Errorf("%s returns no data", c.Path)
		}
		for name, value := range data {
			if list, ok := value.([]any); ok && len(list) == 0 && name != "covers" { // no one covers for another at most moments
				t.Errorf("%s: %s is empty", c.Path, name)
			}
		}
		if data["warnings"] != nil {
			t.Errorf("%s warns: %v", c.Path, data["warnings"])
		}
		if n := find(t, c, data); n < 1 {
			t.Errorf("%s returns no items: %v", c.Path, data)
		}
		if r := s.Call(keys.ReadOnly, c.Path, c.Body); strings.HasSuffix(c.Path, "/create") != (r.Code == "AccessDenied") {
			t.Errorf("%s with the read-only key: %s", c.Path, r.Body)
		}
	}
	if !slices.Equal(paths, operations) {
		t.Errorf("calls are %v", paths)
	}
}

// find counts the items of a list; other replies count as one.
func find(t *testing.T, c Call, data map[string]any) int {
	t.Helper()
	var asked map[string]any
	if err := json.Unmarshal([]byte(c.Body), &asked); err != nil {
		t.Fatal(err)
	}
	items, ok := data["items"].([]any)
	if !ok {
		return 1
	}
	for _, ids := range asked {
		if list, ok := ids.([]any); ok && len(list) != len(items) {
			t.Errorf("%s: asked for %d, got %d", c.Path, len(list), len(items))
		}
	}
	return len(items)
}

// TestCurlIsOneLineForShell runs the line in a real shell, in which curl prints its arguments.
func TestCurlIsOneLineForShell(t *testing.T) {
	t.Parallel()
	calls := append(Calls(), Call{"Quotes", "/x", `{"a":"it's $HOME"}`})
	for _, c := range calls {
		line := c.Curl("http://127.0.0.1:8080", "tk_abc")
		if strings.ContainsRune(line, '\n') {
			t.Errorf("more than one line: %s", line)
		}
		out, err := exec.Command("sh", "-c", `curl() { printf '%s\n' "$@"; }; `+line).Output()
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"-s", "http://127.0.0.1:8080" + c.Path + "?app_key=tk_abc", "-H", "Content-Type: application/json", "-d", c.Body, ""}
		if got := strings.Split(string(out), "\n"); !slices.Equal(got, want) {
			t.Errorf("curl gets %q, want %q", got, want)
		}
	}
}
