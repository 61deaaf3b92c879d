package rum_test

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"tocsin/internal/api/apitest"
	"tocsin/internal/platform/db"
	"tocsin/internal/rum"
)

// exported calls /rum/issue/export and returns the rows of the file, or the error in its place.
func exported(t *testing.T, s *apitest.Server, key, body string) (rows [][]string, text string) {
	t.Helper()
	s.Clock.Add(10 * time.Second) // its rate is one a second
	response, err := http.Post(s.URL+"/rum/issue/export?app_key="+key, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	all, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if response.StatusCode == http.StatusOK {
		rows, err = csv.NewReader(strings.NewReader(string(all))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
	}
	return rows, string(all)
}

// ids returns the issues of a file, which has a header.
func ids(rows [][]string) (list []string) {
	for _, row := range rows[1:] {
		list = append(list, row[slices.Index(rows[0], "issue_id")])
	}
	return list
}

// TestIssueExport compares the file with the list, over several pages of the database and for callers of different rights.
func TestIssueExport(t *testing.T) {
	t.Parallel()
	s, keyring := start(t)
	begin := apitest.Now.UnixMilli()
	window := fmt.Sprintf(`"start_time":%d,"end_time":%d`, begin, begin+100_000)
	formula, secret := scriptError(), scriptError()
	formula.Error.Message, formula.CreatedAt = "=cmd|' /C calc'!A0", begin+99_999
	secret.IssueID, secret.ApplicationID = "secret", "hush"
	secret.CreatedAt, secret.Status = begin+5, "ignored"
	issues := []rum.Issue{formula, secret}
	for n := range 1203 {
		i := scriptError()
		i.IssueID, i.CreatedAt = fmt.Sprintf("issue%04d", n), begin+int64(n/300) // many at one moment, also at the ends of pages
		issues = append(issues, i)
	}
	hush := app()
	hush.ApplicationID, hush.IsPrivate = "hush", true
	s.Write(func(tx *db.Tx) error {
		return errors.Join(rum.LoadIssues(tx, apitest.AccountA, issues), rum.LoadApplications(tx, keyring, apitest.AccountA, []rum.Application{hush}))
	})

	rows, text := exported(t, s, apitest.KeyA, `{`+window+`}`)
	if len(rows) != len(issues)+1 {
		t.Fatalf("%d rows: %.300s", len(rows), text)
	}
	all := ids(rows)
	if all[0] != formula.IssueID || all[len(all)-1] != "issue0000" || len(slices.Compact(slices.Sorted(slices.Values(all)))) != len(issues) {
		t.Errorf("not each issue once, newest first: %q ... %q", all[0], all[len(all)-1])
	}
	if !strings.Contains(text, `'=cmd|`) && !strings.Contains(text, `{""message"":""=cmd`) {
		t.Errorf("the formula: %.600s", text)
	}
	rows, text = exported(t, s, apitest.KeyNothing, `{`+window+`,"statuses":["ignored","resolved"]}`)
	if len(rows) != 1 {
		t.Errorf("issues of a private application: %.600s", text)
	}
	rows, text = exported(t, s, apitest.KeyA, `{`+window+`,"statuses":["ignored"]}`)
	if len(rows) != 2 {
		t.Errorf("by status: %.600s", text)
	}
	encoded, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	apitest.Golden(t, "rum_issue_export", encoded)
	rows, text = exported(t, s, apitest.KeyB, `{`+window+`}`)
	if len(rows) != 1 {
		t.Errorf("the other account: %.600s", text)
	}
	for body, says := range map[string]string{`{}`: "start_time", `{"start_time":5,"end_time":5}`: "end_time", `{` + window + `,"dql":"x"}`: "dql"} {
		if _, text := exported(t, s, apitest.KeyA, body); !strings.Contains(text, `"code":"InvalidParameter"`) || !strings.Contains(text, says) {
			t.Errorf("%s: %s", body, text)
		}
	}
	entries := int64(0)
	s.Read(func(tx *db.Tx) (err error) {
		entries, _, err = db.One(tx, db.Column[int64], `SELECT count(*) FROM audit_log WHERE account_id = $1 AND outcome = '' AND operation = 'issue:write:export'`,
			apitest.AccountA)
		return err
	})
	if entries != 3 {
		t.Errorf("%d entries in the audit log, want one for each file", entries)
	}
}
