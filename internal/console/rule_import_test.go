package console_test

import (
	"bytes"
	"fmt"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

const ruleFile = `groups:
- name: disks
  rules:
  - alert: DiskAlmostFull
    expr: disk_used_percent > 90
    for: 5m
    labels: {severity: critical}
  - record: job:up:sum
    expr: sum by (job) (up)
`

// TestExportedRulesAreImported pastes what the API exported, into another folder and with a rule that is refused.
func TestExportedRulesAreImported(t *testing.T) {
	t.Parallel()
	w, source := withFigures(t)
	owner := w.signIn(ownerKey)
	owner.post("/rules/new", ruleFields(source)...)
	folder := fmt.Sprintf("%.0f", w.call(ownerKey, "/monit/folder/create", `{"folder_name": "Copies"}`)["folder_id"])
	r, err := http.Post(w.url+"/monit/rule/export?app_key="+ownerKey, "application/json", strings.NewReader(`{"ids": [1]}`))
	w.must(err)
	defer r.Body.Close()
	var reply struct {
		Data jsontext.Value `json:"data"`
	}
	w.must(json.UnmarshalRead(r.Body, &reply))
	exported := string(reply.Data)
	owner.post("/rules/import", "text", "[1", "folder_id", folder).showsWith(http.StatusBadRequest, "no exported rules", "[1</textarea>")
	owner.post("/rules/import", "text", exported, "folder_id", folder, "do", "look").shows("Disk almost full", "Save these rules")
	owner.post("/rules/import", "text", exported, "folder_id", folder, "do", "save").shows("Saved: 1 new, 0 changed")
	owner.get("/rules?folder=" + folder).shows("Disk almost full")
	owner.post("/rules/import", "text", exported, "folder_id", folder, "do", "save").shows("Saved: 0 new, 0 changed", "not carried")
}

// TestRuleImport shows what becomes of each rule of a file before it saves them.
func TestRuleImport(t *testing.T) {
	t.Parallel()
	w, source := withFigures(t)
	owner := w.signIn(ownerKey)
	owner.get("/rules/import").shows("Paste it", "Metrics")
	owner.post("/rules/import", "text", "groups: [", "on", source, "folder_id", "1").showsWith(http.StatusBadRequest, "groups: [")
	owner.post("/rules/import", "text", ruleFile, "on", source, "folder_id", "1", "do", "look").shows("DiskAlmostFull", "job:up:sum", "not carried", "Save these rules", "expr: disk_used_percent &gt; 90")
	owner.get("/rules/1/edit").showsWith(http.StatusNotFound)
	owner.post("/rules/import", "text", ruleFile, "on", source, "folder_id", "1", "do", "save").shows("Saved: 1 new, 0 changed", `href="/rules/1"`)
	owner.get("/rules/1/edit").shows("DiskAlmostFull", "disk_used_percent &gt; 90")
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	w.must(form.WriteField("on", source))
	w.must(form.WriteField("folder_id", "1"))
	w.must(form.WriteField("do", "look"))
	file, err := form.CreateFormFile("file", "rules.yml")
	w.must(err)
	_, err = file.Write([]byte(strings.ReplaceAll(ruleFile, "DiskAlmostFull", "DiskFull")))
	w.must(err)
	w.must(form.Close())
	r, err := http.NewRequest(http.MethodPost, w.url+"/rules/import", &body)
	w.must(err)
	r.Header.Set("Content-Type", form.FormDataContentType())
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	owner.do(r).shows("DiskFull", "alert: DiskFull")
	w.reader().get("/rules/import").showsWith(http.StatusForbidden)
}
