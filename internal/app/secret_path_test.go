package app

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/db/dbtest"
)

// written is a log that a test reads while the program writes.
type written struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (w *written) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.Write(p)
}

// find returns the first line since the last call that holds the beginning or the end of one of the texts.
func (w *written) find(texts []string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	defer w.b.Reset()
	for line := range strings.Lines(w.b.String()) {
		folded := strings.ToLower(line)
		for _, text := range texts {
			text = strings.ToLower(text)
			if strings.Contains(folded, text[:12]) || strings.Contains(folded, text[len(text)-12:]) {
				return line
			}
		}
	}
	return ""
}

var parameter = regexp.MustCompile(`\{\w+\}`)

// TestLogHoldsNoSecretOfPath sends secrets that are valid in the path of every route and behind it, with all methods, and
// in all spellings that a client, a proxy or a mail program makes of an address.
func TestLogHoldsNoSecretOfPath(t *testing.T) {
	t.Parallel()
	log := &written{}
	a, err := New(t.Context(), Config{
		DB: dbtest.Migrated(t), SealKeyFile: filepath.Join(t.TempDir(), "tocsin.key"), Clock: clock.System, Version: "test",
		PublicURL: "https://tocsin.example.com", Log: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	first, err := a.FirstStart(context.Background(), "UTC")
	if err != nil {
		t.Fatal(err)
	}
	handler, err := a.Handler()
	if err != nil {
		t.Fatal(err)
	}
	send := func(method, address string) *httptest.ResponseRecorder {
		t.Helper()
		r := httptest.NewRequest(method, "/", strings.NewReader("{}"))
		r.URL, err = url.Parse("http://tocsin.example.com" + address)
		if err != nil {
			t.Fatal(err)
		}
		r.RequestURI = address
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		return w
	}
	call := func(path, body string) (data map[string]any) {
		t.Helper()
		r := httptest.NewRequest("POST", path+"?app_key="+first.Key, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		var reply struct{ Data map[string]any }
		if err := json.Unmarshal(w.Body.Bytes(), &reply); err != nil || w.Code != http.StatusOK {
			t.Fatalf("%s: %d %s", path, w.Code, w.Body)
		}
		return reply.Data
	}
	feed := call("/schedule/calendar/url", `{"kind":"person"}`)
	team := call("/team/upsert", fmt.Sprintf(`{"team_name":"Ops","person_ids":[%d]}`, first.OwnerID))
	channel := call("/channel/create", fmt.Sprintf(`{"channel_name":"Shop","team_id":%.0f}`, team["team_id"]))
	pushed := call("/integration/create", fmt.Sprintf(`{"integration_name":"Probe","integration_type":"standard","channel_id":%.0f}`, channel["channel_id"]))
	link := strings.TrimPrefix(first.LinkPath, "/link/")
	address := feed["url"].(string)
	secrets := []string{link, address[strings.LastIndexByte(address, '/')+1:], first.Key, pushed["integration_key"].(string)}
	var patterns []string
	for pattern := range a.routes() {
		_, path, hasMethod := strings.Cut(pattern, " ")
		if !hasMethod {
			path = pattern
		}
		if path != "/" {
			patterns = append(patterns, path)
		}
	}
	routes := len(patterns)
	for _, op := range a.Frame.Ops() {
		patterns = append(patterns, op.Path)
	}
	if routes < 100 || len(patterns) < routes+200 {
		t.Fatalf("%d routes of %d patterns", routes, len(patterns))
	}
	spelled := func(secret string) []string {
		return []string{
			secret, secret + "/", "/" + secret, secret + "//", "%2F" + secret, secret + "%2f", secret[:8] + "%" + fmt.Sprintf("%02x", secret[8]) + secret[9:],
			"./" + secret, "../link/" + secret, secret + ".ics", secret + "%00", secret + ";v=1", strings.ToUpper(secret), "&app_key=" + secret, "?integration_key=" + secret,
		}
	}
	methods := []string{"GET", "HEAD", "POST", "OPTIONS", "PUT", "DELETE", "PATCH", "TRACE", "get", "PROPFIND"}
	for n, pattern := range patterns {
		open := parameter.MatchString(pattern)
		for i, secret := range secrets {
			for j, text := range spelled(secret) {
				addresses := []string{pattern + "/" + text, pattern + text}
				if open {
					addresses = []string{parameter.ReplaceAllLiteralString(pattern, text), "/" + strings.TrimPrefix(parameter.ReplaceAllLiteralString(pattern, text), "/") + "/"}
				}
				for k, address := range addresses {
					for m, method := range methods {
						if !strings.HasPrefix(pattern, "/link") && !strings.HasPrefix(pattern, "/calendar") && (n+i+j+k+m)%37 != 0 { // the whole product takes minutes
							continue
						}
						if method == "POST" && strings.HasPrefix(pattern, "/person") || strings.Contains(pattern, "/live") {
							continue
						}
						send(method, address)
						if line := log.find([]string{secret}); line != "" {
							t.Fatalf("%s %s logs %s", method, address, line)
						}
					}
				}
			}
		}
	}
}
