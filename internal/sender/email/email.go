// Package email sends mails over a mail server of the deployment's own.
//
// It must never put what people write into a header without the library's encoding, and never send in clear
// over a connection that was to be encrypted.
package email

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/textproto"
	"time"

	"tocsin/internal/platform/egress"
	"tocsin/internal/sender"
)

// Server is the mail server.
type Server struct {
	Host     string
	Port     int // 0: the usual one of TLS
	Username string
	Password string
	From     string // address, or name and address
	TLS      string // starttls (also when empty), implicit, opportunistic or none
	Insecure bool   // accept any certificate
	Hello    string // name that is said in HELO; empty: the machine's
}

// The ways of TLS.
const (
	StartTLS      = "starttls"
	Implicit      = "implicit"
	Opportunistic = "opportunistic"
	None          = "none"
)

// timeout is how long a mail may take from the connection to the server's yes, and each step the half, unless the
// caller has less, as notices do: 15 seconds (docs/lifecycle.md, 5).
const timeout = 24 * time.Second

// Send sends a message to one address. Mails about the same incident are one thread. Once the server has said
// yes the mail is sent, whatever becomes of the connection then.
func (s Server) Send(ctx context.Context, out *egress.Client, to string, m sender.Message, now time.Time) (sender.Receipt, error) {
	message, err := s.message(to, m, now)
	if err != nil {
		return sender.Receipt{}, &sender.Error{Message: err.Error()}
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	client, err := s.client(ctx, out)
	if err != nil {
		return sender.Receipt{}, &sender.Error{Message: "the mail server's settings: " + err.Error()}
	}
	if err := client.DialAndSendWithContext(ctx, message); err != nil && !message.IsDelivered() {
		return sender.Receipt{}, s.failure(ctx, err)
	}
	reply := s.hide("taken by " + s.Host + ": " + message.ServerResponse())
	return sender.Receipt{Reply: sender.Cut(reply, 1000), ID: message.GetMessageID()}, nil
}

// failure tells what trying again may heal from what it will not: an address that must not be called, or a
// reply of 5xx, be it to the log-in or to the mail.
func (s Server) failure(ctx context.Context, err error) error {
	var method *egress.Failure
	var reply *textproto.Error
	e := &sender.Error{Retry: true, Message: err.Error()}
	switch {
	case errors.As(err, &method):
		e.Retry, e.Message = method.Retry(), method.Message
	case errors.Is(ctx.Err(), context.Canceled):
		e.Message = fmt.Sprintf("the mail was given up before %s had taken it", s.Host)
	case ctx.Err() != nil:
		e.Message = fmt.Sprintf("%s did not take the mail in time", s.Host)
	case errors.As(err, &reply):
		e.Retry = reply.Code < 500
	case refused(err):
		e.Retry = false
	}
	e.Message = sender.Cut(s.hide(e.Message), 500)
	return e
}

// hide takes the password out of a text, also as it is when one logs in: a server may repeat what it was told.
func (s Server) hide(text string) string {
	plain := base64.StdEncoding.EncodeToString([]byte("\x00" + s.Username + "\x00" + s.Password))
	return sender.Hide(text, s.Password, base64.StdEncoding.EncodeToString([]byte(s.Password)), plain)
}
