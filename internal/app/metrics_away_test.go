package app_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"tocsin/internal/app"
	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/db/dbtest"
)

// While the database is away, the metrics that do not need it are served: else a database that is away would look
// like a server that is gone.
func TestMetricsWithoutDatabase(t *testing.T) {
	t.Parallel()
	a, err := app.New(t.Context(), app.Config{
		DB: dbtest.Migrated(t), SealKeyFile: filepath.Join(t.TempDir(), "tocsin.key"), Clock: clock.System,
		Log: slog.New(slog.DiscardHandler), Version: "test",
	})
	if err != nil {
		t.Fatal(err)
	}
	handler, err := a.Handler()
	if err != nil {
		t.Fatal(err)
	}
	get := func() (int, string) {
		reply := httptest.NewRecorder()
		handler.ServeHTTP(reply, httptest.NewRequest(http.MethodGet, "/metrics", nil))
		text, _ := io.ReadAll(reply.Body)
		return reply.Code, string(text)
	}
	if status, text := get(); status != http.StatusOK || !strings.Contains(text, "tocsin_due_rows{") {
		t.Fatal(status, text)
	}
	if err := a.DB.Close(); err != nil {
		t.Fatal(err)
	}
	status, text := get()
	if status != http.StatusOK || !strings.Contains(text, "tocsin_build_info{") || !strings.Contains(text, "tocsin_held 0") {
		t.Errorf("status %d: %s", status, text)
	}
	if strings.Contains(text, "tocsin_due_rows{") {
		t.Error("a database that is closed has due work")
	}
}
