package webhook_test

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"tocsin/internal/api/apitest"
	"tocsin/internal/engine/webhook"
	"tocsin/internal/integration"
	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/id"
	"tocsin/internal/platform/jobs"
)

// million is a history of that many deliveries spread over a span of time, by 20 integrations of which the
// busiest sends a fifth, with 10 event types and one failure in twenty; five deliveries to an incident.
const million = 1_000_000

var benchStart = time.Date(2026, 4, 5, 16, 0, 0, 0, time.UTC)

func history(r *rand.Rand, first, n int, span time.Duration) []webhook.Delivery {
	deliveries := make([]webhook.Delivery, n)
	for i := range deliveries {
		at := benchStart.Add(time.Duration(int64(span)/million*int64(first+i)) + time.Duration(r.IntN(1000))*time.Microsecond)
		d := webhook.Delivery{
			IntegrationID: 6113996590131 + int64(r.ExpFloat64()*4)%20, EventID: at.Format("20060102") + id.Short(), WebhookType: "alert", EventType: fmt.Sprintf("a_%d", r.IntN(10)),
			ChannelID: 2551105804131, RefID: fmt.Sprintf("69da3f0ef77b1b51%08x", (first+i)/5), Endpoint: "https://example.com/webhook", Attempt: 1,
			Duration: int64(r.IntN(500)), Status: "success", StatusCode: 200, EventTime: webhook.Moment(at),
		}
		if r.IntN(20) == 0 {
			d.Status, d.StatusCode = "failed", 500
		}
		deliveries[i] = d
	}
	return deliveries
}

// BenchmarkHistoryList measures whole calls over HTTP, each with a window of its own whose ends cut into
// hours, in the middle of the list as well as at its beginning: p50-ms and p99-ms are what to look at.
func BenchmarkHistoryList(b *testing.B) {
	for _, days := range []int{7, 1} {
		span := time.Duration(days) * 24 * time.Hour
		b.Run(fmt.Sprintf("days=%d", days), func(b *testing.B) {
			s := apitest.Start(b, webhook.New(webhook.Config{CursorKey: []byte("key")}).Ops())
			r := rand.New(rand.NewPCG(1, 2))
			began := time.Now()
			const batch = 50_000
			for first := 0; first < million; first += batch {
				s.Write(func(tx *db.Tx) error { return webhook.Record(tx, apitest.AccountA, history(r, first, batch, span)) })
			}
			b.Logf("built in %v: %.0f rows a second", time.Since(began), million/time.Since(began).Seconds())
			for _, f := range []struct{ name, members string }{
				{"all", ``},
				{"status=failed", `,"status":"failed"`},
				{"status=success", `,"status":"success"`},
				{"integration", `,"integration_id":6113996590131`},
				{"integration,rare", `,"integration_id":6113996590150`},
				{"type", `,"event_types":["a_1"]`},
				{"types=2", `,"event_types":["a_1","a_7"]`},
				{"types=10", `,"event_types":["a_0","a_1","a_2","a_3","a_4","a_5","a_6","a_7","a_8","a_9"]`},
				{"ref", `,"ref_id":"69da3f0ef77b1b5100010000"`},
				{"integration,failed", `,"integration_id":6113996590131,"status":"failed"`},
				{"types=2,failed", `,"event_types":["a_1","a_7"],"status":"failed"`},
				{"integration,types=2", `,"integration_id":6113996590131,"event_types":["a_1","a_7"]`},
				{"integration,types=2,failed", `,"integration_id":6113996590131,"event_types":["a_1","a_7"],"status":"failed"`},
				{"nothing", `,"integration_id":1,"status":"failed"`},
			} {
				b.Run(f.name, func(b *testing.B) { measure(b, s, r, span, f.members) })
			}
		})
	}
}

// BenchmarkRecord measures recording in transactions of different sizes, on disk, onto a history that
// grows meanwhile.
func BenchmarkRecord(b *testing.B) {
	for _, n := range []int{1, 100, 10_000} {
		b.Run(fmt.Sprintf("batch=%d", n), func(b *testing.B) {
			s := apitest.Start(b)
			r := rand.New(rand.NewPCG(1, 2))
			first := 0
			for b.Loop() {
				s.Write(func(tx *db.Tx) error {
					return webhook.Record(tx, apitest.AccountA, history(r, first, n, 7*24*time.Hour))
				})
				first += n
			}
			b.ReportMetric(float64(first)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

// BenchmarkDeliver measures delivering messages that wait for 50 endpoints to a receiver on this machine, and recording
// that, on disk.
func BenchmarkDeliver(b *testing.B) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.WriteHeader(http.StatusNoContent)
	}))
	defer s.Close()
	var hooks []integration.Integration
	for n := range 50 {
		hooks = append(hooks, subscriber(n+1, integration.Settings{Endpoint: s.URL, SignSecret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", Headers: map[string]string{"X-Token": "secret"}}))
	}
	h := hook(b, hooks...)
	h.Write(func(tx *db.Tx) error {
		for n := range b.N {
			if err := webhook.PutMessage(tx, apitest.AccountA, int64(n%50+1), apitest.Now, strings.Repeat("payload ", 100)); err != nil {
				return err
			}
		}
		return nil
	})
	runner := jobs.New(clock.At(apitest.Now.Add(time.Second)), slog.New(slog.DiscardHandler), nil)
	for _, j := range h.Service.Jobs() {
		runner.Add(j)
	}
	b.ResetTimer()
	before := processor()
	runner.Start()
	for rows(b, h.Server, "webhook_message WHERE settled_at = 0") > 0 {
		time.Sleep(5 * time.Millisecond)
	}
	b.StopTimer()
	runner.Stop()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "attempts/s")
	b.ReportMetric(float64((processor()-before).Microseconds())/float64(b.N), "processor-µs/attempt")
}

// processor is the time that this process has used of the processors.
func processor() time.Duration {
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func measure(b *testing.B, s *apitest.Server, r *rand.Rand, span time.Duration, members string) {
	var took []time.Duration
	for b.Loop() {
		from := benchStart.Add(time.Duration(r.Int64N(int64(span / 4))))
		to := benchStart.Add(span - time.Duration(r.Int64N(int64(span/4))))
		body := fmt.Sprintf(`{"limit":100,"asc":%t,"start_time":%d,"end_time":%d%s}`, r.IntN(2) == 0, from.UnixMilli(), to.UnixMilli(), members)
		began := time.Now()
		reply, err := http.Post(s.URL+"/webhook/history/list?app_key="+apitest.KeyA, "application/json", bytes.NewBufferString(body))
		if err != nil {
			b.Fatal(err)
		}
		n, err := io.Copy(io.Discard, reply.Body)
		reply.Body.Close()
		if err != nil || reply.StatusCode != 200 {
			b.Fatal(reply.StatusCode, n, err)
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	for _, p := range []int{50, 99} {
		b.ReportMetric(took[len(took)*p/100].Seconds()*1000, fmt.Sprintf("p%d-ms", p))
	}
}
