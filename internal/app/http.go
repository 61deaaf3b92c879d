package app

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus/collectors"

	"tocsin/internal/console"
	"tocsin/internal/console/page"
	"tocsin/internal/engine/rumintake"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/jobs"
)

// drain is how long a stopping server waits for requests in flight, at most.
const drain = 30 * time.Second

// Server is a listening App.
type Server struct {
	URL    string // http://HOST:PORT or https://HOST:PORT
	app    *App
	http   *http.Server
	done   chan error
	runner *jobs.Runner
}

// Start listens, serves and starts the background work.
func (a *App) Start() (*Server, error) {
	tlsConfig := a.certificate.Config()
	listener, err := net.Listen("tcp", a.Listen)
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", a.Listen, err)
	}
	handler, err := a.Handler()
	if err != nil {
		return nil, err
	}
	a.Nodes.Listening(listener.Addr().String())
	if err := a.Nodes.Beat(context.Background()); err != nil { // before the first request, which the rate limits divide
		return nil, errors.Join(err, listener.Close())
	}
	s := &Server{app: a, done: make(chan error, 1), runner: a.Runner}
	s.http = &http.Server{
		Handler:           handler,
		TLSConfig:         tlsConfig,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       time.Minute,
		WriteTimeout:      time.Minute,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
	}
	s.http.RegisterOnShutdown(a.Frame.StopWaiting)
	s.http.RegisterOnShutdown(a.StopStreams)
	s.http.RegisterOnShutdown(a.monitors.StopWaiting)
	scheme := "http"
	if tlsConfig != nil {
		scheme = "https"
		listener = tls.NewListener(listener, tlsConfig)
	}
	s.URL = scheme + "://" + listener.Addr().String()
	go func() { s.done <- s.http.Serve(listener) }()
	s.runner.Start()
	return s, nil
}

// Wait blocks until the server fails, and returns its error, or until ctx ends.
func (s *Server) Wait(ctx context.Context) error {
	select {
	case err := <-s.done:
		return err
	case <-ctx.Done():
		return nil
	}
}

// Stop shuts down cleanly: it accepts no new requests, waits for those in flight, stops background work and closes the
// database.
func (s *Server) Stop() error {
	ctx, cancel := context.WithTimeout(context.Background(), drain)
	defer cancel()
	err := s.http.Shutdown(ctx)
	s.runner.Stop()
	return errors.Join(err, s.app.Keys.Flush(ctx), s.app.ingest.StoreCounts(ctx, s.app.Clock.Now()), s.app.Nodes.Leave(ctx), s.app.Close())
}

// Handler returns the handler of all paths: the operations and the pages beside them.
func (a *App) Handler() (http.Handler, error) {
	a.metrics.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), newGauges(a))
	mux := http.NewServeMux()
	for pattern, handler := range a.routes() {
		mux.Handle(pattern, handler)
	}
	return compressed(a.showHeld(a.operationsFirst(mux))), nil
}

// routes returns the handlers of all paths but those of operations, by patterns of http.ServeMux.
func (a *App) routes() map[string]http.Handler {
	all := map[string]http.Handler{
		"/":                           a.envelopesFirst(a.Frame),
		"/event/push/alert/{source}":  a.Frame.Endpoint(a.ingest.Alerts()),
		"/event/push/heartbeat":       a.Frame.Endpoint(a.ingest.Heartbeats()),
		"/event/push/change/standard": a.Frame.Endpoint(a.ingest.Changes()),
		"/sourcemap/upload":           a.Frame.Endpoint(a.sourcemaps.Uploads()),
		"/api/v2/srcmap":              a.Frame.Endpoint(a.sourcemaps.Uploads()), // the path of Datadog's command line
		"GET /ack/{token}":            a.notify.AckPage(),
		"POST /ack/{token}":           a.notify.AckPage(),
		"GET /cover/{token}":          a.shifts.CoverPage(a.Frame),
		"POST /cover/{token}":         a.shifts.CoverPage(a.Frame),
		"GET /calendar/feed/{file}":   a.feeds.Handler(a.Frame.ClientIP),
		"/api/v2/rum":                 a.Frame.Endpoint(a.browserErrors.Datadog()),
		"/tunnel":                     a.Frame.Endpoint(a.browserErrors.Sentry()),
		"GET /docs":                   a.Frame.Docs(),
		"GET /openapi.json":           a.Frame.OpenAPIHandler(),
		"GET /metrics":                a.metricsPage(),
		"GET /health":                 http.HandlerFunc(a.health),
		"GET /health/ready":           http.HandlerFunc(a.ready),
	}
	for path, endpoint := range a.ingest.PagerDuty() {
		all[path] = a.Frame.Endpoint(endpoint)
	}
	for path, endpoint := range a.monitors.Edges() {
		all[path] = a.Frame.Endpoint(endpoint)
	}
	maps.Copy(all, console.Handlers(a.site()))
	maps.Copy(all, a.phone.Handlers())
	return all
}

// envelopesFirst sends the envelopes of Sentry's SDKs to their endpoint: a prefix may be before their path, which no pattern
// of the mux describes.
func (a *App) envelopesFirst(others http.Handler) http.Handler {
	envelopes := a.Frame.Endpoint(a.browserErrors.Sentry())
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if rumintake.IsEnvelope(r.URL.Path) {
			envelopes.ServeHTTP(w, r)
		} else {
			others.ServeHTTP(w, r)
		}
	})
}

// console returns the pages for people.
func (a *App) site() *page.Site {
	return &page.Site{
		DB: a.DB, Frame: a.Frame, SignIn: a.signIn, Clock: a.Clock, Log: a.Log, PublicURL: a.PublicURL,
		TLS:  a.certificate != nil || strings.HasPrefix(a.PublicURL, "https:"),
		Live: a.live,
	}
}

// operationsFirst sends calls of operations straight to the frame and all others to the mux, which costs more.
func (a *App) operationsFirst(mux http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if a.Frame.Has(r.URL.Path) {
			a.Frame.ServeHTTP(w, r)
		} else {
			mux.ServeHTTP(w, r)
		}
	})
}

// health answers 200 while the database can be read and this process may write it, else 503.
func (a *App) health(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	if err := a.current(r.Context()); err != nil {
		problem := "does not answer"
		if errors.Is(err, db.ErrTooOld) {
			problem = "is too new for this program"
		}
		a.Log.Error("health", "error", err)
		w.Header().Set("Retry-After", "5")
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprintf(w, "{\"status\":\"failing\",\"database\":%q}\n", problem)
		return
	}
	fmt.Fprintf(w, "{\"status\":\"ok\",\"version\":%q}\n", a.Version)
}
