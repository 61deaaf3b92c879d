// Package cli is the command line: one file per command. It reads flags, environment and the configuration file, and
// prints the output that people and scripts rely on (docs/command-line.md). It must never hold a rule of the domain.
package cli

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/alecthomas/kong"
)

// Exit codes.
const (
	Done   = 0
	Failed = 1 // one clear line on standard error
	Misuse = 2 // a command, flag or value that does not exist

	NotCarried = 3 // of "rules import --strict"
)

// commands is the whole command line. Every flag is also an environment variable (--limit-per-second is
// TOCSIN_LIMIT_PER_SECOND) and a member of the configuration file (limit-per-second).
type commands struct {
	Config kong.ConfigFlag `help:"Configuration file (YAML): flag names without dashes in front, and values." placeholder:"FILE"`

	Demo        demoCmd        `cmd:"" help:"Start a throw-away server filled with one believable account."`
	Serve       serveCmd       `cmd:"" help:"Run the server."`
	Edge        edgeCmd        `cmd:"" help:"Evaluate alert rules in another network, for a server that cannot reach its datasources."`
	Import      importCmd      `cmd:"" help:"Load an account file, all or nothing."`
	Apply       applyCmd       `cmd:"" help:"Make an account equal to an account file: print the plan, then apply it."`
	Lint        lintCmd        `cmd:"" help:"List what is wrong with the configuration: events that would reach no one."`
	Export      exportCmd      `cmd:"" help:"Write the account file of an account."`
	Account     accountCmd     `cmd:"" help:"The accounts of a database."`
	Key         keyCmd         `cmd:"" help:"App keys, and the keys that seal stored secrets."`
	Person      personCmd      `cmd:"" help:"Links with which persons sign in to the console."`
	Rules       rulesCmd       `cmd:"" help:"Alert rules."`
	Drill       drillCmd       `cmd:"" help:"Send a marked event through a running server, show who is notified, and time every hop."`
	Health      healthCmd      `cmd:"" help:"Report whether a running server answers."`
	Backup      backupCmd      `cmd:"" help:"Write a consistent, checked copy of the database, while the server runs."`
	Restore     restoreCmd     `cmd:"" help:"Make a database from a backup. It is held until it is released."`
	Release     releaseCmd     `cmd:"" help:"Let the server on a held database send."`
	Copy        copyCmd        `cmd:"" help:"Copy a database to another engine or place, checked row by row. The copy is held. Run again, it continues."`
	MoveAccount moveAccountCmd `cmd:"" help:"Move an account to another database, while events arrive."`
	Migrate     migrateCmd     `cmd:"" help:"Bring the database's schema up to date."`
	Version     versionCmd     `cmd:"" help:"Print the version of this build."`
}

// console holds the streams that a command writes to.
type console struct{ out, err io.Writer }

// Run runs one command and returns its exit code.
func Run(args []string, out, errOut io.Writer) (code int) {
	defer func() { // the parser leaves through its Exit function after --help
		if p := recover(); p != nil {
			exit, ok := p.(exited)
			if !ok {
				panic(p)
			}
			code = int(exit)
		}
	}()
	parser, err := kong.New(&commands{},
		kong.Name("tocsin"),
		kong.Description("Incident response in one binary: who is on call, what happened, and why. Start with: tocsin demo"),
		kong.DefaultEnvars("TOCSIN"),
		kong.Configuration(yamlFile),
		kong.Writers(out, errOut),
		kong.Exit(func(code int) { panic(exited(code)) }),
		kong.Bind(&console{out, errOut}),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
	)
	if err != nil {
		fmt.Fprintln(errOut, "tocsin:", err)
		return Failed
	}
	ctx, err := parser.Parse(args)
	if err != nil {
		fmt.Fprintf(errOut, "tocsin: %v (see: tocsin --help)\n", err)
		return Misuse
	}
	if err := ctx.Run(); err != nil {
		fmt.Fprintln(errOut, "tocsin:", err)
		var misuse misuseError
		if errors.As(err, &misuse) {
			return Misuse
		}
		if errors.Is(err, errNotCarried) {
			return NotCarried
		}
		return Failed
	}
	return Done
}

type exited int

// misuseError is a wrong usage that only the command itself can see.
type misuseError struct{ error }

// Main is the program.
func Main() { os.Exit(Run(os.Args[1:], os.Stdout, os.Stderr)) }
