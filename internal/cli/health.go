package cli

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// healthCmd asks a running server how it is, for container platforms whose image has no other program.
type healthCmd struct {
	Server  string        `help:"Address of the server." default:"http://127.0.0.1:8080" placeholder:"URL"`
	Ready   bool          `help:"Fail too while due work is late."`
	Timeout time.Duration `help:"Longest wait for the reply." default:"5s"`
}

// maxHealth is how much of a reply is printed, in bytes.
const maxHealth = 64 << 10

// Run prints the reply of the server. It returns an error if the server does not answer, or answers that it fails.
func (cmd *healthCmd) Run(con *console) error {
	url := strings.TrimRight(cmd.Server, "/") + "/health"
	if cmd.Ready {
		url += "/ready"
	}
	ctx, cancel := context.WithTimeout(context.Background(), cmd.Timeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return misuseError{err}
	}
	reply, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(io.LimitReader(reply.Body, maxHealth))
	if err != nil {
		return err
	}
	fmt.Fprintln(con.out, strings.TrimSpace(string(text)))
	if reply.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: HTTP status %d", url, reply.StatusCode)
	}
	return nil
}
