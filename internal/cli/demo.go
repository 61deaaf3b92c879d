package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
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

// Run starts the demo account and says what to try on it.
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
	c.Log = logger(con.err, cmd.LogFormat, "warn") // the calls of somebody trying things out are not news
	if err := cmd.serving.apply(&c); err != nil {
		return err
	}
	voice := &voice{out: con.out}
	c.Senders.Closed = true
	if c.Senders.Mail.Host == "" && c.Senders.Gateway.URL == "" { // nobody is really told
		c.Senders.Deliver = func(_ context.Context, method string, to notify.Address, m sender.Message) (sender.Receipt, error) {
			where := to.To
			if to.Chat != nil {
				where = to.Chat.Alias
			}
			voice.say("told       %s over %s: %s\n", where, method, m.Subject)
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
		keys, err := demo.Fill(ctx, a.DB, a.Keyring, c.Clock.Now())
		if err == nil {
			cmd.greet(con, url, keys)
			go demo.Live(live, url, keys, voice.say)
		}
		return err
	})
}

// voice lets what happens at the same time be said one after the other.
type voice struct {
	mu  sync.Mutex
	out io.Writer
}

func (v *voice) say(format string, args ...any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	fmt.Fprintf(v.out, time.Now().Format("15:04:05  ")+format, args...)
}

// greet says what there is, in the order in which a newcomer asks.
func (cmd *demoCmd) greet(con *console, url string, keys demo.Keys) {
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
	fmt.Fprintln(con.out, "From now on alerts arrive by themselves; below is what becomes of each, and who would be told.")
	if cmd.Dir == "" {
		fmt.Fprintln(con.out, "Ctrl-C ends it and removes everything.")
	} else {
		fmt.Fprintf(con.out, "Ctrl-C ends it; %s stays.\n", cmd.Dir)
	}
}
