// Command with runs another command beside a temporary PostgreSQL server, whose address is in TOCSIN_TEST_POSTGRES:
//
//	go run ./test/pgserver/with go test ./internal/team
//
// It exits with the status of the command; with 77 where PostgreSQL is not installed.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"tocsin/test/pgserver"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: with COMMAND [ARGUMENT...]")
		os.Exit(2)
	}
	os.Exit(run(os.Args[1], os.Args[2:]))
}

// run returns the exit status.
func run(name string, args []string) int {
	s, err := pgserver.Start(pgserver.Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		if errors.Is(err, pgserver.ErrMissing) {
			return 77
		}
		return 1
	}
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM) // the command ends by itself; then the server is removed
	c := exec.Command(name, args...)
	c.Stdin = os.Stdin
	c.Stdout = os.Stdout
	c.Stderr = os.Stderr
	c.Env = append(os.Environ(), "TOCSIN_TEST_POSTGRES="+s.DSN("postgres"))
	err = c.Run()
	if closed := s.Close(); closed != nil {
		fmt.Fprintln(os.Stderr, closed)
	}
	var exited *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exited):
		return max(1, exited.ExitCode())
	}
	fmt.Fprintln(os.Stderr, err)
	return 1
}
