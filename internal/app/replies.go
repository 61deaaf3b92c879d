package app

import (
	"bytes"
	"io"
	"net/http"
	"sync"

	"github.com/klauspost/compress/gzhttp"
	"github.com/klauspost/compress/gzhttp/writer"
	"github.com/klauspost/compress/gzhttp/writer/gzkp"
	"github.com/klauspost/compress/gzip"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"tocsin/internal/auth"
)

// compressed compresses replies for clients that accept it, except those that another site made a browser ask for. Who
// can choose a part of a page, and sees how long the page is when it is compressed, could guess what else is in it
// (BREACH): the key of a push address, for instance. Over HTTPS browsers send the kind of site that a request comes from;
// without HTTPS there is nothing to guess. Forms have no secret token: forged ones are refused by where they come from.
//
// A compressor keeps a megabyte until the client has read the reply. So a few replies have one, and the others are compressed
// by less without a memory. Zstandard has no such way.
func compressed(h http.Handler) http.Handler {
	wrap, err := gzhttp.NewWrapper(gzhttp.EnableZstd(false), gzhttp.Implementation(compressors(32)))
	if err != nil {
		panic(err) // the options are constants
	}
	return wrap(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if from := r.Header.Get("Sec-Fetch-Site"); from == "cross-site" || from == "same-site" {
			w.Header().Set(gzhttp.HeaderNoCompression, "1")
		}
		h.ServeHTTP(w, r)
	}))
}

// compressors returns what makes compressors, most of them with a memory at a time.
func compressors(most int) writer.GzipWriterFactory {
	free := make(chan struct{}, most)
	return writer.GzipWriterFactory{Levels: gzkp.Levels, New: func(w io.Writer, level int) writer.GzipWriter {
		select {
		case free <- struct{}{}:
			return &compressor{GzipWriter: gzkp.NewWriter(w, level), closed: func() { <-free }}
		default:
			return gzkp.NewWriter(w, gzip.StatelessCompression)
		}
	}}
}

// compressor is one of the compressors with a memory.
type compressor struct {
	writer.GzipWriter
	once   sync.Once
	closed func()
}

func (c *compressor) Close() error {
	defer c.once.Do(c.closed)
	return c.GzipWriter.Close()
}

// metricsPage serves the metrics. They are written as a whole first: what they are gathered into is many times as large, and
// must not wait until the client has read them.
func (a *App) metricsPage() http.Handler {
	metrics := promhttp.HandlerFor(a.metrics, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError, DisableCompression: true})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		page := &drawn{ResponseWriter: w, status: http.StatusOK}
		metrics.ServeHTTP(page, r)
		if err := a.Frame.Send(w, r, auth.Principal{}, page.status, page.Bytes()); err != nil {
			w.Header().Set("Retry-After", "5")
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
		}
	})
}

// drawn is a reply that is not sent yet. Its header is that of the reply.
type drawn struct {
	http.ResponseWriter
	bytes.Buffer
	status int
}

func (d *drawn) Write(b []byte) (int, error) { return d.Buffer.Write(b) }
func (d *drawn) WriteHeader(status int)      { d.status = status }
