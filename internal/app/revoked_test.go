package app_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestWhatEndsRightHoldsAtOnce ends the right of a key that has just been used, in every way that the API has. The next
// call must be refused: no one may wait for a cache after a key has leaked or a person has left. A right that is given
// holds at once as well.
func TestWhatEndsRightHoldsAtOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, path, body, code string }{
		{"key disabled", "/person/app-key/disable", `{"key_id": %[1]d, "person_id": 77}`, "Unauthorized"},
		{"key deleted", "/person/app-key/delete", `{"key_id": %[1]d, "person_id": 77}`, "Unauthorized"},
		{"person removed", "/member/delete", `{"member_id": 77, "is_force": true}`, "Unauthorized"},
		{"role revoked", "/role/member/revoke", `{"role_id": %[2]d, "member_ids": [77]}`, "AccessDenied"},
		{"roles replaced", "/member/role/update", `{"member_id": 77, "role_ids": []}`, "AccessDenied"},
		{"role disabled", "/role/disable", `{"role_id": %[2]d}`, "AccessDenied"},
		{"role deleted", "/role/delete", `{"role_id": %[2]d}`, "AccessDenied"},
		{"role changed", "/role/upsert", `{"role_id": %[2]d, "role_name": "Scheduler", "permission_ids": [1]}`, "AccessDenied"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, url, owner, _ := start(t)
			call := func(key, path, body string) (code string, data map[string]any) {
				t.Helper()
				r, err := http.Post(url+path+"?app_key="+key, "application/json", strings.NewReader(body))
				if err != nil {
					t.Fatal(err)
				}
				defer r.Body.Close()
				text, _ := io.ReadAll(r.Body)
				var reply struct {
					Error struct{ Code string }
					Data  map[string]any
				}
				if err := json.Unmarshal(text, &reply); err != nil {
					t.Fatal(err)
				}
				return reply.Error.Code, reply.Data
			}
			do := func(path, body string) map[string]any {
				t.Helper()
				code, data := call(owner, path, body)
				if code != "" {
					t.Fatalf("%s %s: %s", path, body, code)
				}
				return data
			}
			key := do("/person/app-key/create", `{"key_name": "theirs", "person_id": 77}`)
			role := int64(do("/role/upsert", `{"role_name": "Scheduler", "permission_ids": [8]}`)["role_id"].(float64))
			try := func() string {
				code, _ := call(key["key"].(string), "/schedule/create", `{"schedule_name": "Night"}`)
				return code
			}
			if code := try(); code != "AccessDenied" {
				t.Fatalf("before the grant: %q", code)
			}
			do("/role/member/grant", fmt.Sprintf(`{"role_id": %d, "member_ids": [77]}`, role))
			if code := try(); code != "" {
				t.Fatalf("after the grant: %q", code)
			}
			body := strings.ReplaceAll(c.body, "%[1]d", fmt.Sprintf("%.0f", key["key_id"]))
			do(c.path, strings.ReplaceAll(body, "%[2]d", fmt.Sprint(role)))
			if code := try(); code != c.code {
				t.Errorf("after %s: %q, want %s", c.path, code, c.code)
			}
		})
	}
}
