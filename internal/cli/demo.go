package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"tocsin/internal/app"
	"tocsin/internal/demo"
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
	a, err := app.New(ctx, c)
	if err != nil {
		return err
	}
	return run(ctx, a, con, func(url string) error {
		keys, err := demo.Fill(ctx, a.DB, a.Box, c.Clock.Now())
		if err == nil {
			cmd.greet(con, url, keys)
		}
		return err
	})
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
	if cmd.Dir == "" {
		fmt.Fprintln(con.out, "Ctrl-C ends it and removes everything.")
	} else {
		fmt.Fprintf(con.out, "Ctrl-C ends it; %s stays.\n", cmd.Dir)
	}
}
