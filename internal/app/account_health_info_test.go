package app_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/platform/db/dbtest"
)

// TestHealthInfo shows how the server is to those who may read the audit log, without a path or another account's names.
func TestHealthInfo(t *testing.T) {
	t.Parallel()
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
			Nodes  []struct {
				Name      string
				StartedAt int64 `json:"started_at"`
				SeenAt    int64 `json:"seen_at"`
			}
			Store struct {
				Kind  string
				Bytes int64
				Log   int64 `json:"log_bytes"`
				Free  int64 `json:"free_bytes"`
			}
		}
	}
	if err := json.Unmarshal(body, &reply); err != nil || status != http.StatusOK || reply.Data.Status != "ok" {
		t.Fatalf("%d %s", status, body)
	}
	kind := "sqlite"
	if dbtest.Server != "" {
		kind = "postgres"
	}
	if s := reply.Data.Store; s.Kind != kind || s.Bytes == 0 || s.Free == 0 || strings.Contains(string(body), "tocsin.db") {
		t.Errorf("%s", body)
	}
	s := reply.Data.Store
	if len(reply.Data.Nodes) != 1 {
		t.Fatalf("%s", body)
	}
	n := reply.Data.Nodes[0]
	apitest.Golden(t, "account_health_info", body,
		fmt.Sprintf(`"started_at":%d`, n.StartedAt), `"started_at":1776002400000`, fmt.Sprintf(`"seen_at":%d`, n.SeenAt), `"seen_at":1776052800000`,
		fmt.Sprintf(`"name":%q`, n.Name), `"name":"node-1"`, `"address":""`, `"address":"10.0.0.7:8080"`,
		fmt.Sprintf(`"now":%d`, reply.Data.Now), `"now":1776052800000`, fmt.Sprintf(`"kind":%q`, s.Kind), `"kind":"sqlite"`, fmt.Sprintf(`"bytes":%d`, s.Bytes), `"bytes":1048576`,
		fmt.Sprintf(`"log_bytes":%d`, s.Log), `"log_bytes":4096`, fmt.Sprintf(`"free_bytes":%d`, s.Free), `"free_bytes":10737418240`)
}
