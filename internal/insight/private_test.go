package insight_test

import (
	"fmt"
	"testing"

	"tocsin/internal/api/apitest"
)

// TestPrivateChannelsDoNotCount: what is in a private channel changes no figure that a caller outside its team gets, and
// the owner's figures hold it.
func TestPrivateChannelsDoNotCount(t *testing.T) {
	s := begin(t)
	sent(s, 1, 10, first, apitest.OwnerA, "voice", "")
	sent(s, 2, 20, third, apitest.OwnerA, "sms", "")
	for n, channel := range []int{1001, 1002} {
		s.Exec(`INSERT INTO change (account_id, change_id, integration_id, channel_id, change_key, start_time, last_time, body) VALUES ($1, $2, 5, $3, $2, $4, $4, $5)`,
			apitest.AccountA, fmt.Sprint("c", n), channel, start+1, fmt.Sprintf(`{"change_id":"c%d","start_time":%d,"channel_id":%d}`, n, start+1, channel))
	}
	requests := map[string]string{}
	for _, path := range []string{"account", "team", "channel", "responder", "team/export", "channel/export", "responder/export", "incident/list", "incident/export"} {
		requests["/insight/"+path] = `{` + window + `}`
	}
	requests["/insight/alert/topk-by-label"] = `{` + window + `,"label":"check"}`
	requests["/report/oncall/notifications"] = `{` + window + `,"group_by":"person"}`
	requests["/report/oncall/changes"] = `{` + window + `}`
	all := func(key string) map[string]string {
		replies := map[string]string{}
		for path, body := range requests {
			response, text := export(t, s, key, path, body)
			if response.StatusCode != 200 {
				t.Fatalf("%s: %s", path, text)
			}
			if response.Header.Get("Content-Type") != "text/csv; charset=utf-8" {
				text = text[len(`{"request_id":"01JRQ0000000000000000000ID"`):]
			}
			replies[path] = text
		}
		return replies
	}
	before := all(apitest.KeyReader)
	owner := all(apitest.KeyA)
	for _, table := range []string{"incident", "alert", "change"} {
		s.Exec(`DELETE FROM ` + table + ` WHERE channel_id = 1002`)
	}
	s.Exec(`DELETE FROM notice WHERE incident_id = $1`, third)
	after := all(apitest.KeyReader)
	for path := range requests {
		if before[path] != after[path] {
			t.Errorf("%s counts what is private:\n%s\nwithout it:\n%s", path, before[path], after[path])
		}
		if owner[path] == before[path] {
			t.Errorf("%s: the owner's figures do not hold what is private: %s", path, owner[path])
		}
	}
}
