package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
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
	Listen    string        `help:"HOST:PORT; port 0 picks a free one." default:"127.0.0.1:8080"`
	LimitWait time.Duration `help:"How long reads above the limits wait for their turn, up to 30s; 0s: they are refused at once." default:"1s"`
	Dir       string        `help:"Keep the database in this folder instead of a temporary one that is removed at the end." placeholder:"DIR"`
	serving
}

// Run starts the server with the demo account and prints example calls.
func (cmd *demoCmd) Run(con *console) (err error) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	dir := cmd.Dir
	if dir == "" {
		if dir, err = os.MkdirTemp("", "tocsin-demo-"); err != nil {
			return err
		}
		defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	}
	c := database{DB: "sqlite:" + filepath.Join(dir, "tocsin.db")}.config()
	c.Listen = cmd.Listen
	c.Log = logger(con.err, cmd.LogFormat, "warn") // calls of the demo need no log
	if err := cmd.serving.apply(&c, cmd.LimitWait); err != nil {
		return err
	}
	if _, port, err := net.SplitHostPort(cmd.Listen); c.PublicURL == "" && err == nil && port != "0" {
		c.PublicURL = "http://" + cmd.Listen // so that addresses in replies can be followed
	}
	printer := &printer{out: con.out}
	c.Senders.Closed = true
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
			printer.mu.Lock() // so that no notification is printed between the calls
			cmd.greet(con, url, keys, now)
			printer.mu.Unlock()
			go demo.Live(live, url, keys, printer.print)
		}
		return err
	})
}

// printer prints messages of concurrent goroutines one after the other.
type printer struct {
	mu  sync.Mutex
	out io.Writer
}

func (p *printer) print(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	fmt.Fprintf(p.out, time.Now().Format("15:04:05  ")+format, args...)
}

// greet prints the addresses, keys and example calls, in the order in which a new user needs them.
func (cmd *demoCmd) greet(con *console, url string, keys demo.Keys, now time.Time) {
	fmt.Fprintf(con.out, `Tocsin demo: the account %q, filled with a year of schedules, alerts, rules and deliveries.

  base URL        %s
  reference       %s/docs
  OpenAPI         %s/openapi.json
  key, all        %s
  key, read only  %s

Try, in another terminal:

`, demo.Name, url, url, url, keys.All, keys.ReadOnly)
	for _, c := range demo.Calls() {
		fmt.Fprintf(con.out, "# %s\n%s\n\n", c.Title, c.Curl(url, keys.All))
	}
	fmt.Fprint(con.out, "And then: figures, changes, and who is on call on special days.\n\n")
	for _, c := range demo.Tour(now) {
		fmt.Fprintf(con.out, "# %s\n%s\n\n", c.Title, c.Curl(url, keys.All))
	}
	fmt.Fprintln(con.out, "From now on alerts arrive by themselves; below is the outcome of each, and who would be notified.")
	if cmd.Dir == "" {
		fmt.Fprintln(con.out, "Ctrl-C ends it and removes everything.")
	} else {
		fmt.Fprintf(con.out, "Ctrl-C ends it; %s stays.\n", cmd.Dir)
	}
}
