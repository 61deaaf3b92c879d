package app_test

import (
	"io"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"tocsin/internal/app"
	"tocsin/internal/demo"
	"tocsin/internal/platform/clock"
)

// BenchmarkCall measures the calls of the demo within one process, without connections: what the program adds to
// net/http. The log is formatted and discarded.
func BenchmarkCall(b *testing.B) {
	a, err := app.New(b.Context(), app.Config{
		DB: "sqlite:" + filepath.Join(b.TempDir(), "tocsin.db"), Clock: clock.System, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Version: "test",
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = a.Close() })
	keys, err := demo.Fill(b.Context(), a.DB, a.Keyring, clock.System.Now())
	if err != nil {
		b.Fatal(err)
	}
	handler, err := a.Handler()
	if err != nil {
		b.Fatal(err)
	}
	for _, call := range demo.Calls() {
		b.Run(strings.TrimPrefix(call.Path, "/"), func(b *testing.B) {
			b.ReportAllocs()
			b.SetParallelism(16) // writers that arrive together share a commit
			before := processorTime()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					r, _ := http.NewRequestWithContext(b.Context(), http.MethodPost, call.Path+"?app_key="+keys.All, strings.NewReader(call.Body))
					r.Header.Set("Content-Type", "application/json")
					w := &discarded{header: http.Header{}}
					if handler.ServeHTTP(w, r); w.status != http.StatusOK {
						b.Errorf("%s: status %d", call.Path, w.status)
						return
					}
				}
			})
			b.ReportMetric(float64(processorTime()-before)/float64(b.N), "cpu-ns/op")
		})
	}
}

// processorTime returns the processor time of the process, which other work on the machine disturbs less than the clock.
func processorTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // cannot fail for this process
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// discarded keeps the status of a reply and nothing else.
type discarded struct {
	header http.Header
	status int
}

func (d *discarded) Header() http.Header         { return d.header }
func (d *discarded) WriteHeader(status int)      { d.status = status }
func (d *discarded) Write(b []byte) (int, error) { return len(b), nil }
