package cli

import (
	"context"
	"fmt"
	"os/signal"
	"syscall"
	"time"

	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/copydb"
	"tocsin/internal/platform/db"
)

type moveAccountCmd struct {
	From      string `help:"The database that has the account; servers may use it." required:"" placeholder:"DSN"`
	To        string `help:"The database that gets it; servers may use it." required:"" placeholder:"DSN"`
	Account   int64  `help:"The account." required:"" placeholder:"ID"`
	Archive   string `help:"File that holds the account on its way, and stays (default: account-ID.db)." placeholder:"FILE"`
	PublicURL string `name:"public-url" help:"Where the account is served afterwards, for the answers to its senders." placeholder:"URL"`
	Back      bool   `help:"Put an account that has left the source, and that the target refuses, back."`
	Quiet     bool   `help:"Print no progress."`
}

// Run moves the account, or continues a move that was interrupted.
func (cmd *moveAccountCmd) Run(con *console) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	begin := clock.System.Now()
	m := copydb.Move{
		From: cmd.From, To: cmd.To, Account: cmd.Account, Archive: cmd.Archive, Address: cmd.PublicURL, Back: cmd.Back, Now: begin,
	}
	waiting := begin
	m.Step = func(text string) {
		fmt.Fprintln(con.err, text)
		if text == copydb.Leaving {
			waiting = clock.System.Now()
		}
	}
	if m.Archive == "" {
		m.Archive = fmt.Sprintf("account-%d.db", cmd.Account)
	}
	if !cmd.Quiet {
		m.Progress = progress(con.err)
	}
	results, err := m.Run(ctx)
	if err != nil {
		return err
	}
	if results == nil {
		fmt.Fprintf(con.out, "account %d is in %s already\n", cmd.Account, db.Name(cmd.To))
		return nil
	}
	if err := report(con.out, results, clock.System.Now().Sub(begin)); err != nil {
		return err
	}
	now := db.Name(cmd.To)
	if cmd.Back {
		now = db.Name(cmd.From)
	}
	if waiting != begin {
		fmt.Fprintf(con.out, "its senders and callers waited for %s\n", clock.System.Now().Sub(waiting).Round(time.Millisecond))
	}
	fmt.Fprintf(con.out, "account %d is served from %s; %s can be deleted once that is seen to work\n", cmd.Account, now, m.Archive)
	return nil
}
