package insight_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/incident"
	"tocsin/internal/platform/db"
)

// export calls an export and returns the reply and its body.
func export(t *testing.T, s *apitest.Server, key, path, body string) (*http.Response, string) {
	t.Helper()
	response, err := http.Post(s.URL+path+"?app_key="+key, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	all, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(all)
}

func TestExports(t *testing.T) {
	s := begin(t)
	for path, golden := range map[string]string{
		"/insight/team/export": "insight_team_export", "/insight/channel/export": "insight_channel_export",
		"/insight/responder/export": "insight_responder_export", "/insight/incident/export": "insight_incident_export",
	} {
		response, body := export(t, s, apitest.KeyReader, path, `{`+window+`}`)
		if response.StatusCode != 200 || response.Header.Get("Content-Type") != "text/csv; charset=utf-8" ||
			!strings.HasPrefix(response.Header.Get("Content-Disposition"), "attachment; filename=") || response.Header.Get("Service-Request-Id") == "" {
			t.Errorf("%s: %d %v", path, response.StatusCode, response.Header)
		}
		rows, err := csv.NewReader(strings.NewReader(body)).ReadAll()
		if err != nil || len(rows) < 2 {
			t.Errorf("%s: %v in %s", path, err, body)
		}
		for _, row := range rows {
			for _, cell := range row {
				if cell != "" && strings.ContainsAny(cell[:1], "=+-@") {
					t.Errorf("%s: a spreadsheet computes %q", path, cell)
				}
			}
		}
		if strings.Contains(body, "Secret") || strings.Contains(body, "Drill") {
			t.Errorf("%s shows a private channel or a drill: %s", path, body)
		}
		encoded, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		apitest.Golden(t, golden, encoded)

		for _, c := range []struct{ key, body, code string }{
			{apitest.KeyNothing, `{` + window + `}`, "AccessDenied"},
			{apitest.KeyA, `{}`, "InvalidParameter"},
			{apitest.KeyA, `{` + window + `,"export_fields":["secret"]}`, "InvalidParameter"},
			{apitest.KeyA, `{` + window + `,"time_zone":"Nowhere"}`, "InvalidParameter"},
		} {
			if _, body := export(t, s, c.key, path, c.body); !strings.Contains(body, `"code":"`+c.code+`"`) {
				t.Errorf("%s %s answers %s, want %s", path, c.body, body, c.code)
			}
		}
		entries := 0
		s.Read(func(tx *db.Tx) (err error) {
			entries, _, err = db.One(tx, db.Column[int], `SELECT count(*) FROM audit_log WHERE account_id = $1 AND outcome = '' AND operation = $2`,
				apitest.AccountA, "insight:write:export-"+strings.Split(path, "/")[2])
			return err
		})
		if entries != 1 {
			t.Errorf("%s: %d entries in the audit log, want 1", path, entries)
		}
	}
}

func TestExportColumns(t *testing.T) {
	s := begin(t)
	_, body := export(t, s, apitest.KeyReader, "/insight/incident/export",
		`{`+window+`,"severities":["Critical"],"export_fields":["seconds_to_close","title","description","labels"],"description_html_to_text":true}`)
	want := "seconds_to_close,title,description,labels\n3600,'=cmd|' /C calc'!A0,\"5 < 6\nDisk full\",\"{\"\"env\"\":\"\"prod\"\"}\"\n"
	if body != want {
		t.Errorf("got %q\nwant %q", body, want)
	}
}

// TestExportOfManyPages: an export has each incident of the window once, as many as the list counts.
func TestExportOfManyPages(t *testing.T) {
	s := begin(t)
	const many = 1203
	s.Write(func(tx *db.Tx) error {
		var all []incident.Incident
		for n := range many {
			all = append(all, incident.Incident{IncidentID: fmt.Sprintf("%024x", n), Title: "x", Severity: "Info", StartTime: start + int64(n)/300})
		}
		return incident.Load(tx, apitest.AccountA, all)
	})
	for _, asc := range []string{"true", "false"} {
		_, body := export(t, s, apitest.KeyA, "/insight/incident/export", `{`+window+`,"export_fields":["incident_id"],"asc":`+asc+`}`)
		seen := map[string]bool{}
		for _, id := range strings.Fields(body) {
			if seen[id] {
				t.Errorf("%s is there twice", id)
			}
			seen[id] = true
		}
		if len(seen) != many+3+1 {
			t.Errorf("asc %s: %d lines, want %d", asc, len(seen), many+4)
		}
	}
	var list struct{ Total int }
	s.Call(apitest.KeyA, "/insight/incident/list", `{`+window+`}`).Into(&list)
	if list.Total != many+3 {
		t.Errorf("total %d, want %d", list.Total, many+3)
	}
}
