package console_test

import (
	"bytes"
	"mime/multipart"
	"net/http"
	"strings"
	"testing"
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
