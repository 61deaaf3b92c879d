package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"tocsin/internal/app"
	"tocsin/internal/demo"
	"tocsin/internal/engine/notify"
	"tocsin/internal/sender"
)

type demoCmd struct {
	Listen string `help:"HOST:PORT; port 0 picks a free one." default:"127.0.0.1:8080"`
	Dir    string `help:"Keep the database in this folder instead of a temporary one that is removed at the end." placeholder:"DIR"`
	serving
}

// Run starts the server with the demo account and prints example calls.
func (cmd *demoCmd) Run(con *console) (err error) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	dir := cmd.Dir
	if dir == "" {
		dir, err = os.MkdirTemp("", "tocsin-demo-")
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}
	c := database{DB: "sqlite:" + filepath.Join(dir, "tocsin.db")}.config()
	c.Listen = cmd.Listen
	c.Log = logger(con.err, cmd.LogFormat, "error") // neither calls need a log, nor webhooks that fail on purpose
	if err := cmd.serving.apply(&c); err != nil {
		return err
	}
	if _, port, err := net.SplitHostPort(cmd.Listen); c.PublicURL == "" && err == nil && port != "0" {
		c.PublicURL = "http://" + cmd.Listen // so that addresses in replies can be followed
	}
	printer, receiver := &printer{out: con.out}, &demo.Receiver{}
	c.Senders.Webhooks = receiver
	if c.Senders.Mail.Host == "" && c.Senders.Gateway.URL == "" && c.Senders.Twilio.SID == "" { // without senders no message is sent
		c.Senders.Deliver = func(_ context.Context, method string, to notify.Address, m sender.Message) (sender.Receipt, error) {
			where := to.To
			if to.Chat != nil {
				where = to.Chat.Alias
			}
			printer.print("notified   %s over %s: %s\n", where, method, m.Subject)
			return sender.Receipt{Reply: "not really sent: this is the demo"}, nil
		}
	}
	metrics, err := serveMetrics()
	if err != nil {
		return err
	}
	defer func() { _ = metrics.Close() }() // it ends with the demo
	c.DatasourceAllow = append(c.DatasourceAllow, netip.MustParsePrefix("127.0.0.1/32"))
	a, err := app.New(ctx, c)
	if err != nil {
		return err
	}
	live, end := context.WithCancel(ctx)
	defer end()
	return run(ctx, a, con, func(url string) error {
		now := c.Clock.Now()
		keys, err := demo.Fill(ctx, a.DB, a.Keyring, now)
		if err == nil && keys.New {
			err = demo.Furnish(ctx, url, keys, now)
		}
		if err == nil {
			err = demo.Watch(ctx, url, keys, "http://"+metrics.Addr)
		}
		if err == nil {
			cmd.greet(con, url, keys, now)
			printer.open()
			go demo.Live(live, demo.Place{URL: url, Keys: keys, Receiver: receiver, Began: now, Show: printer.print})
		}
		return err
	})
}

// serveMetrics answers the queries of the demo's rules on a free port of this machine.
func serveMetrics() (*http.Server, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	server := &http.Server{Addr: listener.Addr().String(), Handler: demo.Metrics{Now: time.Now}, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = server.Serve(listener) }() // it ends with the demo
	return server, nil
}

// printer prints messages of concurrent goroutines one after the other. It keeps them until it is opened, so that the
// greeting comes first.
type printer struct {
	mu     sync.Mutex
	out    io.Writer
	early  bytes.Buffer
	opened bool
}

func (p *printer) print(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	to := p.out
	if !p.opened {
		to = &p.early
	}
	fmt.Fprintf(to, time.Now().Format("15:04:05  ")+format, args...)
}

// open prints what was kept, and from then on everything at once.
func (p *printer) open() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.opened = true
	_, _ = p.early.WriteTo(p.out) // as for all that is printed, a failure is of no use to anyone
}

// greet prints the addresses, keys and example calls, in the order in which a new user needs them.
func (cmd *demoCmd) greet(con *console, url string, keys demo.Keys, now time.Time) {
	fmt.Fprintf(con.out, `Tocsin demo: the account %q, filled with a year of schedules, alerts, rules and deliveries.

  console         %s%s
                  (opens signed in, for a day)

  base URL        %s
  reference       %s/docs
  OpenAPI         %s/openapi.json
  key, all        %s
  key, read only  %s

Try, in another terminal:

`, demo.Name, url, keys.LinkPath, url, url, url, keys.All, keys.ReadOnly)
	for _, c := range demo.Calls() {
		fmt.Fprintf(con.out, "# %s\n%s\n\n", c.Title, c.Curl(url, keys.All))
	}
	fmt.Fprint(con.out, "And then: figures, changes, and who is on call on special days.\n\n")
	for _, c := range demo.Tour(now) {
		fmt.Fprintf(con.out, "# %s\n%s\n\n", c.Title, c.Curl(url, keys.All))
	}
	fmt.Fprintf(con.out, "From now on alerts arrive by themselves. Watch them in the console: %s%s\n", url, keys.LinkPath)
	fmt.Fprintf(con.out, "Four alert rules watch metrics of the demo: %s/rules\n", url)
	fmt.Fprintln(con.out, "Below is the outcome of each, and who would be notified.")
	if cmd.Dir == "" {
		fmt.Fprintln(con.out, "Ctrl-C ends it and removes everything.")
	} else {
		fmt.Fprintf(con.out, "Ctrl-C ends it; %s stays.\n", cmd.Dir)
	}
}
