package accountfile_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"tocsin/internal/accountfile"
	"tocsin/internal/engine/webhook"
	"tocsin/internal/platform/id"
)

// BenchmarkImport reads, imports, replaces and exports an account with 300,000 deliveries. It reports the deliveries per
// second of each step, and the memory that the file uses once it is read.
func BenchmarkImport(b *testing.B) {
	const n = 300_000
	f := read(b, byHand(b))
	start := time.Date(2026, 4, 5, 16, 0, 0, 0, time.UTC)
	for i := range n {
		at := start.Add(time.Duration(i) * 2 * time.Second)
		f.Deliveries = append(f.Deliveries, webhook.Delivery{
			IntegrationID: 6113996590131 + int64(i%7), EventID: at.Format("20060102") + id.Short(), WebhookType: "alert", EventType: "a_update", ChannelID: 1001,
			RefID: fmt.Sprintf("69da3f0ef77b1b51%08x", i/5), Endpoint: "https://hooks.example.com/services/alerts", Attempt: 1, Duration: int64(i % 500), Status: "success", StatusCode: 200, EventTime: webhook.Moment(at),
		})
	}
	document := text(b, f)
	for b.Loop() {
		timed := func(name string, fn func()) {
			began := time.Now()
			fn()
			b.ReportMetric(n/time.Since(began).Seconds(), name+"/s")
		}
		before, h := heap(), newInstallation(b)
		var f *accountfile.File
		timed("read", func() { f = read(b, document) })
		b.ReportMetric(heap()-before, "MiB-read")
		timed("import", func() { must(b, h.load(f, false)) })
		timed("replace", func() { must(b, h.load(f, true)) })
		timed("export", func() {
			if strings.Count(h.export(b, account, true), "event_id") != n+2 {
				b.Fatal("deliveries are missing")
			}
		})
	}
}

func heap() float64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc) / (1 << 20)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
