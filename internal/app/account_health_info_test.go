package app_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"tocsin/internal/api/apitest"
)

// TestHealthInfo shows how the server is to those who may read the audit log, without a path or another account's names.
func TestHealthInfo(t *testing.T) {
	_, url, owner, nobody := start(t)
	ask := func(key string) (int, []byte) {
		r, err := http.Post(url+"/account/health/info?app_key="+key, "application/json", strings.NewReader("{}"))
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		return r.StatusCode, body
	}
	if status, body := ask(nobody); status != http.StatusForbidden {
		t.Errorf("without the permission: %d %s", status, body)
	}
	status, body := ask(owner)
	var reply struct {
		Data struct {
			Status string
			Now    int64
			Store  struct {
				Bytes int64
				Log   int64 `json:"log_bytes"`
				Free  int64 `json:"free_bytes"`
			}
		}
	}
	if err := json.Unmarshal(body, &reply); err != nil || status != http.StatusOK || reply.Data.Status != "ok" {
		t.Fatalf("%d %s", status, body)
	}
	if s := reply.Data.Store; s.Bytes <= 0 || s.Free == 0 || strings.Contains(string(body), "tocsin.db") {
		t.Errorf("%s", body)
	}
	s := reply.Data.Store
	apitest.Golden(t, "account_health_info", body,
		fmt.Sprintf(`"now":%d`, reply.Data.Now), `"now":1776052800000`, fmt.Sprintf(`"bytes":%d`, s.Bytes), `"bytes":1048576`,
		fmt.Sprintf(`"log_bytes":%d`, s.Log), `"log_bytes":4096`, fmt.Sprintf(`"free_bytes":%d`, s.Free), `"free_bytes":10737418240`)
}
