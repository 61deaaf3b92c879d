package app_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"tocsin/internal/api"
	"tocsin/internal/platform/db"
)

// TestPagesOfLargeElementsEndEarly reads lists whose elements together have more bytes than a page. Each page has what fits, a
// warning and a cursor, and the pages together have all elements.
func TestPagesOfLargeElementsEndEarly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	large := strings.Repeat("x", api.PageBytes*3/5)
	for n := range 3 {
		for _, one := range []struct{ path, body, id string }{
			{"/channel/create", `{"channel_name":"large %d","team_id":0,"description":"placeholder"}`, "channel_id"},
			{"/template/create", `{"template_name":"large %d","description":"placeholder","slack":"x"}`, "template_id"},
			{"/integration/create", `{"integration_name":"large %d","integration_type":"standard","description":"placeholder"}`, "integration_id"},
			{"/team/upsert", `{"team_name":"large %d","description":"placeholder"}`, "team_id"},
			{"/schedule/create", `{"schedule_name":"large %d","description":"placeholder"}`, "schedule_id"},
		} {
			w.must(w.keys[0], one.path, fmt.Sprintf(one.body, n), one.id)
		}
	}
	err := w.app.DB.Write(t.Context(), func(tx *db.Tx) error {
		for _, table := range []string{"channel", "team", "schedule"} {
			if err := tx.Do(`UPDATE `+table+` SET description = $1 WHERE description = 'placeholder'`, large); err != nil {
				return err
			}
		}
		return tx.Do(`UPDATE object SET body = replace(body, 'placeholder', $1) WHERE body LIKE '%placeholder%'`, large)
	})
	if err != nil {
		t.Fatal(err)
	}
	for path, more := range map[string]string{
		"/channel/list": `"query":"large"`, "/template/list": `"query":"large"`, "/integration/list": `"query":"large"`,
		"/team/list": `"query":"large"`, "/schedule/list": `"query":"large"`,
	} {
		seen, cursor := 0, ""
		for {
			raw, code := w.call(w.keys[0], path, fmt.Sprintf(`{%s,"limit":100,"search_after_ctx":%q}`, more, cursor))
			var page struct {
				Data struct {
					api.CursorPage[json.RawMessage]
					api.Warnings
				}
			}
			if err := json.Unmarshal([]byte(raw), &page); err != nil || code != "" {
				t.Fatalf("%s: %v %.300s", path, err, raw)
			}
			got := page.Data
			if seen += len(got.Items); len(got.Items) != 1 || got.HasNextPage != (seen < 3) || got.HasNextPage != (len(got.Warnings.Warnings) == 1) {
				t.Errorf("%s: %d elements, next page %t, warnings %q", path, len(got.Items), got.HasNextPage, got.Warnings.Warnings)
			}
			cursor = got.SearchAfterCtx
			if cursor == "" {
				break
			}
		}
		if seen != 3 {
			t.Errorf("%s: %d elements on all pages", path, seen)
		}
	}
}
