// Package email sends mails over the deployment's own mail server.
//
// It must never put text of people into a header without the library's encoding, and never send in clear text over a
// connection that is configured to be encrypted.
package email

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/textproto"
	"strings"
	"time"

	"tocsin/internal/core/sentence"
	"tocsin/internal/platform/egress"
	"tocsin/internal/sender"
)

// Server is the mail server.
type Server struct {
	Host     string
	Port     int // 0: the default of the TLS mode
	Username string
	Password string
	From     string // address, or name and address
	TLS      string // starttls (also when empty), implicit, opportunistic or none
	Insecure bool   // accept any certificate
	Hello    string // name sent in HELO; empty: the machine's
}

// The TLS modes.
const (
	StartTLS      = "starttls"
	Implicit      = "implicit"
	Opportunistic = "opportunistic"
	None          = "none"
)

// timeout is the longest time of a mail from the connection to the server's acceptance, and each step may take half
// of it. The caller's timeout may be shorter, as for notifications: 15 seconds (docs/lifecycle.md, 5).
const timeout = 24 * time.Second

// Send sends a message to one address. Mails about the same incident form one thread. Once the server has accepted
// the mail it is sent, even if the connection fails afterwards.
func (s Server) Send(ctx context.Context, out *egress.Client, to string, m sender.Message, now time.Time) (sender.Receipt, error) {
	message, err := s.message(to, m, now)
	if err != nil {
		return sender.Receipt{}, &sender.Error{Message: sentence.Raw(err.Error())}
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	client, err := s.client(ctx, out)
	if err != nil {
		return sender.Receipt{}, &sender.Error{Message: sentence.Raw("the mail server's settings: " + err.Error())}
	}
	if err := client.DialAndSendWithContext(ctx, message); err != nil && !message.IsDelivered() {
		return sender.Receipt{}, s.failure(ctx, err)
	}
	reply := s.hide("taken by " + s.Host + ": " + message.ServerResponse())
	return sender.Receipt{Reply: sender.Cut(reply, 1000), ID: message.GetMessageID()}, nil
}

// failure returns the error of an attempt. It may be retried unless the address must not be called or the server
// replied 5xx, be it to the log-in or to the mail.
func (s Server) failure(ctx context.Context, err error) error {
	var method *egress.Failure
	var reply *textproto.Error
	e := &sender.Error{Retry: true, Message: sentence.Raw(err.Error())}
	switch {
	case errors.As(err, &method):
		e.Retry, e.Message = method.Retry(), method.Why
	case errors.Is(ctx.Err(), context.Canceled):
		e.Message = sentence.Raw(fmt.Sprintf("the mail was given up before %s had taken it", s.Host))
	case ctx.Err() != nil:
		e.Message = sentence.Raw(fmt.Sprintf("%s did not take the mail in time", s.Host))
	case strings.HasSuffix(err.Error(), "does not support STARTTLS"):
		e.Message = sentence.Raw(fmt.Sprintf("the mail server %s offers no encryption (STARTTLS). "+
			"If it runs on this machine or in a trusted network, "+
			"start Tocsin with --smtp-tls none", s.Host))
	case errors.As(err, &reply):
		e.Retry = reply.Code < 500
	case refused(err):
		e.Retry = false
	}
	e.Message = e.Message.Edit(func(text string) string { return sender.Cut(s.hide(text), 500) })
	return e
}

// hide replaces the password in a text, also in the encoding of the log-in, because a server may repeat its input.
func (s Server) hide(text string) string {
	plain := base64.StdEncoding.EncodeToString([]byte("\x00" + s.Username + "\x00" + s.Password))
	return sender.Hide(text, s.Password, base64.StdEncoding.EncodeToString([]byte(s.Password)), plain)
}
