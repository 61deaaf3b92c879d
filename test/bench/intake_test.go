package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"tocsin/test/pgserver"
)

// BenchmarkIntake measures what it costs to accept an event, without connections and without deciding: one operation is one
// event. It reports the processor time of this process and of PostgreSQL, which a busy machine changes less than the clock.
func BenchmarkIntake(b *testing.B) {
	s, err := pgserver.Start(pgserver.Options{Durable: true, Settings: map[string]string{"shared_buffers": "512MB"}})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	for _, embedded := range []bool{false, true} {
		for _, shape := range []struct{ clients, batch int }{{8, 100}, {32, 1}} {
			engine := map[bool]string{false: "PostgreSQL", true: "embedded"}[embedded]
			b.Run(fmt.Sprintf("%s/%d", engine, shape.batch), func(b *testing.B) {
				bed := &bed{setting: setting{embedded: embedded, nodes: 1}, dir: b.TempDir(), server: s}
				if err := bed.intake(b, shape.clients, shape.batch); err != nil {
					b.Fatal(err)
				}
			})
		}
	}
}

// intake measures how a program of this process, which decides nothing, accepts b.N events.
func (b *bed) intake(by *testing.B, clients, batch int) error {
	dsn, sealKey, err := b.database()
	if err != nil {
		return err
	}
	a, handler, err := undecided(dsn, sealKey)
	if err != nil {
		return err
	}
	defer a.Close()
	server := b.server
	if b.embedded {
		server = nil
	}
	m, err := meterOf(dsn, server)
	if err != nil {
		return err
	}
	defer m.close()
	if err := accepted(handler, clients, batch, clients*batch); err != nil { // connections, statements
		return err
	}
	by.ReportAllocs()
	by.ResetTimer()
	before, own := m.database(by), processorOf(os.Getpid())
	if err := accepted(handler, clients, batch, by.N); err != nil {
		return err
	}
	each := func(used time.Duration) float64 { return float64(used) / float64(time.Microsecond) / float64(by.N) }
	by.ReportMetric(each(processorOf(os.Getpid())-own), "node-µs/op")
	by.ReportMetric(each(m.database(by)-before), "database-µs/op")
	return nil
}

// database returns the processor time of PostgreSQL; 0 for the embedded engine.
func (m *meter) database(b *testing.B) time.Duration {
	if m.sql == nil {
		return 0
	}
	used, err := family(m.main)
	if err != nil {
		b.Fatal(err)
	}
	return used
}

// accepted sends at least n events to a handler, as clients that wait for each reply do.
func accepted(handler http.Handler, clients, batch, n int) error {
	var left atomic.Int64
	left.Store(int64(n))
	var failed atomic.Pointer[error]
	var all sync.WaitGroup
	for client := range clients {
		all.Go(func() {
			for next := pushes(client, batch); left.Add(int64(-batch)) > int64(-batch); {
				_, body, _ := bytes.Cut(next(), []byte("\r\n\r\n"))
				reply := httptest.NewRecorder()
				r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, eventPath, bytes.NewReader(body))
				if err != nil {
					failed.Store(&err)
					return
				}
				handler.ServeHTTP(reply, r)
				if reply.Code != http.StatusOK {
					err := fmt.Errorf("%d %s", reply.Code, reply.Body)
					failed.Store(&err)
					return
				}
			}
		})
	}
	all.Wait()
	if err := failed.Load(); err != nil {
		return *err
	}
	return nil
}
