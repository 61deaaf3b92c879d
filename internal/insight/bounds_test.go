package insight_test

import (
	"fmt"
	"strings"
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/incident"
	"tocsin/internal/insight"
	"tocsin/internal/platform/db"
)

// TestMoreThanOneCallMayRead: figures of too many incidents are refused, and never of a part of them. The export has all.
func TestMoreThanOneCallMayRead(t *testing.T) {
	s := begin(t)
	const many = 1500
	s.Write(func(tx *db.Tx) error {
		var all []incident.Incident
		for n := range many {
			all = append(all, incident.Incident{IncidentID: fmt.Sprintf("%024x", n), Title: "x", Severity: "Info", StartTime: start + int64(n)})
		}
		return incident.Load(tx, apitest.AccountA, all)
	})
	insight.MayRead(t, 1000)
	for _, path := range []string{"account", "team", "channel", "responder", "incident/list", "team/export"} {
		r := s.Call(apitest.KeyA, "/insight/"+path, `{`+window+`}`)
		if r.Code != "InvalidParameter" || !strings.Contains(r.Message, "end_time") || !strings.Contains(r.Message, "1000") {
			t.Errorf("%s: %s", path, r.Body)
		}
		if strings.HasSuffix(path, "export") {
			continue
		}
		if r := s.Call(apitest.KeyA, "/insight/"+path, `{`+window+`,"severities":["Critical"]}`); r.Code != "" {
			t.Errorf("%s with a filter: %s", path, r.Body)
		}
	}
	for rows, code := range map[int]string{many + 3: "InvalidParameter", many + 4: ""} { // with those of the fixture
		insight.MayRead(t, rows)
		if r := s.Call(apitest.KeyA, "/insight/account", `{`+window+`}`); r.Code != code {
			t.Errorf("%d may be read: %s", rows, r.Body)
		}
	}
	if _, body := export(t, s, apitest.KeyA, "/insight/incident/export", `{`+window+`,"export_fields":["incident_id"]}`); strings.Count(body, "\n") != many+4 {
		t.Errorf("the export has %d lines, want %d", strings.Count(body, "\n"), many+4)
	}
}
