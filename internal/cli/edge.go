package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"tocsin/internal/app"
	"tocsin/internal/engine/evaluator"
	"tocsin/internal/engine/evaluator/remote"
	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/egress"
	"tocsin/internal/platform/jobs"
	"tocsin/internal/querier"
)

// edgeCmd evaluates alert rules for a server. It has no database.
type edgeCmd struct {
	Server      string        `help:"Address of the server: https, or http on this machine." placeholder:"URL"`
	KeyFile     string        `help:"File with the key of the edge, ek_...; or set TOCSIN_EDGE_KEY." placeholder:"FILE"`
	EdgeKey     string        `hidden:"" env:"TOCSIN_EDGE_KEY"`
	Name        string        `help:"Name under which the console shows it (default: the name of this machine)." placeholder:"NAME"`
	Dir         string        `help:"Directory of this process alone, for its key, its configuration and what it could not send yet." default:"./tocsin-edge" placeholder:"DIR"`
	Listen      string        `help:"HOST:PORT for /metrics and /health (default: none)." default:"" placeholder:"ADDR"`
	Allow       []string      `help:"Networks in which datasources may be although they are otherwise refused; link-local ones and metadata services stay refused." placeholder:"CIDR"`
	Only        []string      `help:"The only networks in which datasources may be." placeholder:"CIDR"`
	SecretEnv   []string      `name:"secret-env" help:"Variable that datasources may refer to as ${env:NAME}, with the host that may receive its value; repeatable." placeholder:"NAME=HOST"`
	StaleConfig time.Duration `help:"How long rules are evaluated without the server." default:"24h"`
	LogFormat   string        `help:"text or json." enum:"text,json" default:"text"`
	LogLevel    string        `help:"Least severe line to log: debug, info, warn or error." enum:"debug,info,warn,error" default:"info"`
}

// Run evaluates until SIGTERM or SIGINT.
func (cmd *edgeCmd) Run(con *console) error {
	ctx, interrupted := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer interrupted()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	log := logger(con.err, cmd.LogFormat, cmd.LogLevel)
	metrics := prometheus.NewRegistry()
	metrics.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	now := clock.Correct(clock.Steady(clock.System))
	center, err := cmd.center(log, now, stop)
	if err != nil {
		return err
	}
	limitMemory(log)
	edgePace.Keep()
	switch err := center.Join(ctx); {
	case context.Cause(ctx) != nil: // the key is not accepted
		return unlessStopped(ctx)
	case err != nil:
		log.Warn("the server cannot be reached yet", "server", cmd.Server, "error", err)
	}
	runner := jobs.New(now, log, metrics)
	e := evaluator.New(evaluator.Config{
		Center: center, Open: center.Open, Clock: now, Log: log, Metrics: metrics, Wake: jobs.NewSignal(), Journal: center.Journal,
	})
	runner.Add(e.Evaluating())
	runner.Add(center.Requests())
	closePages, err := cmd.pages(con, metrics, e, center, stop)
	if err != nil {
		return err
	}
	defer closePages()
	runner.Start()
	<-ctx.Done()
	runner.Stop()
	return unlessStopped(ctx)
}

// unlessStopped returns why the process ends; nil: a signal ended it.
func unlessStopped(ctx context.Context) error {
	if err := context.Cause(ctx); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// center returns the server as the flags have it.
func (cmd *edgeCmd) center(log *slog.Logger, now *clock.Corrected, stop func(error)) (*remote.Center, error) {
	key, err := cmd.key()
	if err != nil {
		return nil, err
	}
	if cmd.Server == "" {
		return nil, misuseError{errors.New("--server is missing: want the server's address, such as https://tocsin.example.com")}
	}
	if cmd.StaleConfig < time.Minute || cmd.StaleConfig > 30*24*time.Hour {
		return nil, misuseError{fmt.Errorf("--stale-config must be from 1m to 720h, got %s", cmd.StaleConfig)}
	}
	policy := egress.Policy{RefuseCloud: true}
	policy.Allow, err = networks("--allow", cmd.Allow)
	if err != nil {
		return nil, err
	}
	policy.Only, err = networks("--only", cmd.Only)
	if err != nil {
		return nil, err
	}
	policy.Allow = append(policy.Allow, loopback...)
	secrets, err := querier.ParseSecretEnv(cmd.SecretEnv)
	if err != nil {
		return nil, misuseError{fmt.Errorf("--secret-env %w", err)}
	}
	host, err := os.Hostname()
	if err != nil && cmd.Name == "" {
		return nil, misuseError{errors.New("--name is missing, and this machine has no name")}
	}
	types := app.Queriers()
	center, err := remote.New(remote.Config{
		Server: cmd.Server, Key: key, Dir: cmd.Dir, Name: cmp.Or(cmd.Name, host), Version: release(),
		Types: slices.Sorted(maps.Keys(types)), SecretEnv: secrets.Set(), StaleConfig: cmd.StaleConfig, Log: log, Stop: stop,
		Clock: now, Machine: clock.System,
		Out:  egress.New(egress.Policy{Allow: loopback}),
		Open: querier.Registry{Types: types, Out: egress.New(policy), SecretEnv: secrets}.Open,
	})
	if err != nil {
		return nil, fmt.Errorf("edge: %w", err)
	}
	return center, nil
}

var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}

// maxKey is how long the file of a key may be, in bytes.
const maxKey = 4096

// key returns the key of the edge.
func (cmd *edgeCmd) key() (string, error) {
	if (cmd.KeyFile == "") == (cmd.EdgeKey == "") {
		return "", misuseError{errors.New("give the key of the edge in --key-file or in TOCSIN_EDGE_KEY, in one of them")}
	}
	text := cmd.EdgeKey
	if cmd.KeyFile != "" {
		file, err := os.Open(cmd.KeyFile)
		if err != nil {
			return "", err
		}
		defer file.Close()
		all, err := io.ReadAll(io.LimitReader(file, maxKey))
		if err != nil {
			return "", err
		}
		text = string(all)
	}
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "ek_") || strings.ContainsAny(text, " \r\n") {
		return "", errors.New("the key of an edge is one line that begins with ek_; the console makes one under Edges")
	}
	return text, nil
}

// pages serves /metrics and /health, if the flags want it.
func (cmd *edgeCmd) pages(
	con *console, metrics *prometheus.Registry, e *evaluator.Evaluator, center *remote.Center, stop func(error),
) (func(), error) {
	metrics.MustRegister(
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "tocsin_watches", Help: "Alert rules on datasources that this edge evaluates.",
		}, func() float64 { all, _ := e.Watches(); return float64(all) }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "tocsin_spool_bytes", Help: "How much an edge keeps on its disk of watches and of what it could not send.",
		}, func() float64 { return float64(center.Journal.Bytes()) }),
	)
	if cmd.Listen == "" {
		return func() {}, nil
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(metrics, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) {
		all, unknown := e.Watches()
		text := "ok"
		if since := center.Reached(); time.Since(since) > time.Minute { // to start it again would not help
			text = "the server cannot be reached, rules are evaluated on"
		}
		fmt.Fprintf(w, "%s; %d watches, %d unknown\n", text, all, unknown)
	})
	listener, err := net.Listen("tcp", cmd.Listen)
	if err != nil {
		return nil, fmt.Errorf("--listen: %w", err)
	}
	server := &http.Server{Handler: mux, ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second}
	go func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			stop(err)
		}
	}()
	fmt.Fprintf(con.out, "listening on http://%s\n", listener.Addr())
	return func() { _ = server.Close() }, nil // the process ends
}
