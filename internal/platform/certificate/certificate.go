// Package certificate holds the TLS certificate that the server shows, and reads its files again when they change.
//
// It must never log a key, or show a certificate without its key.
package certificate

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"tocsin/internal/platform/jobs"
)

// Files is a certificate and its key as files have them. What is in the files is compared: renewals replace files, or turn a
// symbolic link that leads to them.
type Files struct {
	cert, key string // paths
	log       *slog.Logger
	pair      atomic.Pointer[tls.Certificate]
	seen      [sha256.Size]byte // of the files that were used last
	refused   string            // what was wrong with the files at the last call; empty: nothing
	reported  bool              // whether that was logged
	reloads   *prometheus.CounterVec
}

// Load reads the files. Without files it returns nil, and the server uses plain HTTP.
func Load(cert, key string, log *slog.Logger, metrics prometheus.Registerer) (*Files, error) {
	if cert == "" && key == "" {
		return nil, nil
	}
	if cert == "" || key == "" {
		return nil, errors.New("--tls-cert and --tls-key go together: give both or neither")
	}
	c := &Files{cert: cert, key: key, log: log, reloads: prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "tocsin_tls_reloads_total",
		Help: "Times that changed TLS files were read, by outcome.",
	}, []string{"outcome"})}
	sum, pair, err := c.read()
	if err != nil {
		return nil, err
	}
	c.seen = sum
	c.pair.Store(pair)
	c.reloads.WithLabelValues("done").Add(0)
	c.reloads.WithLabelValues("failed").Add(0)
	metrics.MustRegister(c.reloads, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "tocsin_tls_certificate_expiry_timestamp_seconds",
		Help: "When the TLS certificate that the server shows expires, Unix seconds.",
	}, func() float64 { return float64(c.pair.Load().Leaf.NotAfter.Unix()) }))
	return c, nil
}

// read reads the files. sum identifies what is in them.
func (c *Files) read() (sum [sha256.Size]byte, pair *tls.Certificate, err error) {
	cert, err := os.ReadFile(c.cert)
	if err != nil {
		return sum, nil, fmt.Errorf("TLS certificate: %w", err)
	}
	key, err := os.ReadFile(c.key)
	if err != nil {
		return sum, nil, fmt.Errorf("key of the TLS certificate: %w", err)
	}
	h := sha256.New()
	fmt.Fprintf(h, "%d ", len(cert))
	h.Write(cert)
	h.Write(key)
	h.Sum(sum[:0])
	p, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return sum, nil, fmt.Errorf("TLS certificate %s with key %s: %w", c.cert, c.key, err)
	}
	return sum, &p, nil
}

// Config returns the configuration of a listener; nil for plain HTTP.
func (c *Files) Config() *tls.Config {
	if c == nil {
		return nil
	}
	return &tls.Config{
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.pair.Load(), nil },
		MinVersion:     tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"},
	}
}

// renew uses the files if they have changed. Files that are no pair change nothing; they are reported when they are still
// the same at the next call, because the two files are not replaced at the same instant.
func (c *Files) renew() {
	sum, pair, err := c.read()
	switch {
	case err != nil && err.Error() != c.refused:
		c.refused, c.reported = err.Error(), false
		return
	case err != nil:
		if !c.reported {
			c.reloads.WithLabelValues("failed").Inc()
			c.log.Error("the new TLS certificate cannot be used; the server keeps the old one",
				"expires", c.pair.Load().Leaf.NotAfter, "error", err)
		}
		c.reported = true
		return
	case sum != c.seen:
		c.pair.Store(pair)
		c.reloads.WithLabelValues("done").Inc()
		c.log.Info("a new TLS certificate is used", "expires", pair.Leaf.NotAfter)
	}
	c.seen, c.refused = sum, ""
}

// Job returns the job that reads the files again.
func (c *Files) Job() jobs.Job {
	return jobs.Job{Name: "certificate", Interval: 2 * time.Second, Run: func(context.Context, time.Time) (time.Time, error) {
		c.renew()
		return time.Time{}, nil
	}}
}
