package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"tocsin/internal/app"
	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/copydb"
	"tocsin/internal/platform/db"
)

type copyCmd struct {
	From        string `help:"The database to copy; a server may use it." required:"" placeholder:"DSN"`
	To          string `help:"Where to copy it to: a database that is missing or empty, or the same as in a run that was interrupted." required:"" placeholder:"DSN"`
	Release     bool   `help:"To move: the copy sends, and the source does not any more. No server may use the source."`
	SealKeyFile string `help:"Key file of the source (default: its path with .key). A copy to sqlite:PATH gets it as PATH.key." placeholder:"FILE"`
	Quiet       bool   `help:"Print no progress."`
}

// Run copies the database and prints what each table has.
func (cmd *copyCmd) Run(con *console) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	begin := clock.System.Now()
	c := copydb.Copy{From: cmd.From, To: cmd.To, Release: cmd.Release, Now: begin}
	if !cmd.Quiet {
		c.Progress = progress(con.err)
	}
	key, err := cmd.carryKey()
	if err != nil {
		return err
	}
	results, err := c.Run(ctx)
	if err != nil {
		return err
	}
	if err := report(con.out, results, clock.System.Now().Sub(begin)); err != nil {
		return err
	}
	fmt.Fprintln(con.out, key)
	if cmd.Release {
		fmt.Fprintf(con.out, "the copy sends as soon as a server is started on it; %s is held and sends nothing any more\n", db.Name(cmd.From))
		return nil
	}
	fmt.Fprintf(con.out, "it is held: a server on it takes events and sends nothing, until: %s\n", releaseLine(db.Name(cmd.To)))
	fmt.Fprintln(con.out, "to move instead: stop the server, and copy with --release to another empty database")
	return nil
}

// carryKey copies the key file to where a server on the copy looks for it, and returns a line about where it is.
func (cmd *copyCmd) carryKey() (line string, err error) {
	from := app.Config{DB: cmd.From, SealKeyFile: cmd.SealKeyFile}
	if from.SealKeyFile == "" && !strings.HasPrefix(cmd.From, "sqlite:") {
		return "start its server with the keys of the source (--seal-key-file): without them no stored secret can be read", nil
	}
	file := from.SealKeys().Path()
	text, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist) && cmd.SealKeyFile == "":
		return fmt.Sprintf("there is no key file %s: start its server with the keys of the source (--seal-key-file)", file), nil
	case err != nil:
		return "", err
	case !strings.HasPrefix(cmd.To, "sqlite:"):
		return fmt.Sprintf("start its servers with the keys of the source: --seal-key-file %s, or a copy of that file", file), nil
	}
	to := app.Config{DB: cmd.To}.SealKeys().Path()
	has, err := os.ReadFile(to)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if err := copyKey(file, to); err != nil {
			return "", err
		}
	case err != nil:
		return "", err
	case !bytes.Equal(has, text):
		return "", fmt.Errorf("%s exists and is not the key file of the source, %s: move it away first", to, file)
	}
	return fmt.Sprintf("%s holds the keys of the stored secrets, as %s does", to, file), nil
}

// report prints the tables that have rows.
func report(out io.Writer, results []copydb.Result, took time.Duration) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "TABLE\tROWS\tCHECKSUM")
	rows, replaced := int64(0), int64(0)
	for _, r := range results {
		if r.Rows > 0 {
			fmt.Fprintf(w, "%s\t%d\t%s\n", r.Table, r.Rows, r.Sum)
		}
		rows, replaced = rows+r.Rows, replaced+r.Replaced
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if replaced > 0 {
		fmt.Fprintf(out, "%d rows held text with zero bytes or invalid UTF-8, which was replaced by U+FFFD\n", replaced)
	}
	_, err := fmt.Fprintf(out, "copied %d rows of %d tables in %s; rows and checksums are equal on both sides\n",
		rows, len(results), took.Round(time.Millisecond))
	return err
}

// progress prints a line every second.
func progress(out io.Writer) func(copydb.Progress) {
	at := clock.System.Now()
	var last copydb.Progress
	return func(p copydb.Progress) {
		now := clock.System.Now()
		since := now.Sub(at)
		if since < time.Second {
			return
		}
		done := p.Total - last.Total
		if p.Checking != last.Checking {
			done = p.Total
		}
		what := "copying"
		if p.Checking {
			what = "checking"
		}
		fmt.Fprintf(out, "%s table %d of %d, %s: %d rows; %d rows in all, %.0f a second\n",
			what, p.Number, p.Count, p.Table, p.Rows, p.Total, float64(done)/since.Seconds())
		at, last = now, p
	}
}
