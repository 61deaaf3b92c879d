package cli

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Several files are more calls than an account's rate takes at a time: each is imported nevertheless, once.
func TestRulesImportWaitsForRate(t *testing.T) {
	t.Parallel()
	refused, imported := 0, 0
	mux := http.NewServeMux()
	mux.HandleFunc("/monit/datasource/list", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"data": [{"id": 7, "name": "fra"}]}`)
	})
	mux.HandleFunc("/monit/rule/import/file", func(w http.ResponseWriter, _ *http.Request) {
		if refused <= imported {
			refused++
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusTooManyRequests)
			fmt.Fprint(w, `{"error": {"code": "RequestTooFrequently", "message": "too many"}}`)
			return
		}
		imported++
		fmt.Fprint(w, `{"data": {"items": [{"name": "Disk", "status": "carried", "action": "create"}, {"name": "x:y", "status": "not_carried", "why": "a series"}], "created": 1}}`)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	file := filepath.Join(t.TempDir(), "rules.yml")
	if err := os.WriteFile(file, []byte("groups: []"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	cmd := &rulesImportCmd{Files: []string{file, file, file}, Server: server.URL, AppKey: "tk_1", Datasource: "fra", Strict: true}
	if err := cmd.Run(&console{out: &out}); !errors.Is(err, errNotCarried) {
		t.Fatalf("%v", err)
	}
	if imported != 3 || refused != 3 || strings.Count(out.String(), "Disk: carried, new") != 3 {
		t.Errorf("%d imported, %d refused:\n%s", imported, refused, out.String())
	}
	cmd.Datasource = "ams"
	if err := cmd.Run(&console{out: &out}); err == nil || !strings.Contains(err.Error(), `"ams"`) || strings.Contains(err.Error(), "tk_1") {
		t.Errorf("unknown datasource: %v", err)
	}
	server.Close()
	if err := cmd.Run(&console{out: &out}); err == nil || !strings.Contains(err.Error(), "does not answer") || strings.Contains(err.Error(), "tk_1") {
		t.Errorf("no server: %v", err)
	}
}
