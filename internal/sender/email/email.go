// Package email sends mails over a mail server of the deployment's own.
//
// It must never put what people write into a header without the library's encoding, and never send in clear
// over a connection that was to be encrypted.
package email

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/textproto"
	"strings"
	"time"

	"github.com/wneessen/go-mail"

	"tocsin/internal/outbound"
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
	Hello    string // name that is said in HELO; empty: localhost
}

// The ways of TLS.
const (
	StartTLS      = "starttls"
	Implicit      = "implicit"
	Opportunistic = "opportunistic"
	None          = "none"
)

// Send sends a message to one address. Mails about the same incident are one thread.
func (s Server) Send(ctx context.Context, out *outbound.Client, to string, m sender.Message, now time.Time) (sender.Receipt, error) {
	message, err := s.message(to, m, now)
	if err != nil {
		return sender.Receipt{}, &sender.Error{Message: err.Error()}
	}
	client, err := s.client(out)
	if err != nil {
		return sender.Receipt{}, &sender.Error{Message: "the mail server's settings: " + err.Error()}
	}
	if err := client.DialAndSendWithContext(ctx, message); err != nil {
		return sender.Receipt{}, failure(err, message)
	}
	return sender.Receipt{Reply: "taken by " + s.Host, ID: message.GetMessageID()}, nil
}

func (s Server) message(to string, m sender.Message, now time.Time) (*mail.Msg, error) {
	msg := mail.NewMsg()
	if err := msg.From(s.From); err != nil {
		return nil, fmt.Errorf("the sender's address %q: %w", s.From, err)
	}
	if err := msg.To(to); err != nil {
		return nil, fmt.Errorf("the address %q: %w", to, err)
	}
	msg.Subject(sender.Cut(strings.Join(strings.Fields(m.Subject), " "), 200))
	msg.SetDateWithValue(now)
	msg.SetMessageIDWithValue(messageID(m.Key + to))
	if m.Thread != "" {
		root := messageID("thread " + m.Thread + to)
		msg.SetGenHeader("References", "<"+root+">")
		msg.SetGenHeader("In-Reply-To", "<"+root+">")
	}
	msg.SetGenHeader("Auto-Submitted", "auto-generated")
	msg.SetGenHeader("X-Tocsin-Key", m.Key)
	if m.Severity == "Critical" {
		msg.SetImportance(mail.ImportanceUrgent)
	}
	msg.SetBodyString(mail.TypeTextPlain, m.Text)
	if m.HTML != "" {
		msg.AddAlternativeString(mail.TypeTextHTML, m.HTML)
	}
	return msg, nil
}

// messageID is the same for every attempt, so that a mail that arrives twice is known for one.
func messageID(of string) string {
	sum := sha256.Sum256([]byte(of))
	return hex.EncodeToString(sum[:16]) + "@tocsin"
}

func (s Server) client(out *outbound.Client) (*mail.Client, error) {
	options := []mail.Option{
		mail.WithTLSConfig(&tls.Config{ServerName: s.Host, MinVersion: tls.VersionTLS12, InsecureSkipVerify: s.Insecure}),
		mail.WithTimeout(12 * time.Second),
		mail.WithDialContextFunc(func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := out.DialContext(ctx, network, address)
			if err == nil && s.TLS == Implicit {
				conn = tls.Client(conn, &tls.Config{ServerName: s.Host, MinVersion: tls.VersionTLS12, InsecureSkipVerify: s.Insecure})
			}
			return conn, err
		}),
	}
	port := 587
	switch s.TLS {
	case Implicit:
		port = 465
		options = append(options, mail.WithTLSPolicy(mail.NoTLS)) // it is encrypted from the first byte
	case Opportunistic:
		options = append(options, mail.WithTLSPolicy(mail.TLSOpportunistic))
	case None:
		port = 25
		options = append(options, mail.WithTLSPolicy(mail.NoTLS))
	default:
		options = append(options, mail.WithTLSPolicy(mail.TLSMandatory))
	}
	if s.Port != 0 {
		port = s.Port
	}
	options = append(options, mail.WithPort(port))
	if s.Hello != "" {
		options = append(options, mail.WithHELO(s.Hello))
	}
	if s.Username != "" {
		auth := mail.SMTPAuthAutoDiscover
		if s.TLS == Implicit { // the library does not see that our connection is encrypted
			auth = mail.SMTPAuthPlainNoEnc
		}
		options = append(options, mail.WithSMTPAuth(auth), mail.WithUsername(s.Username), mail.WithPassword(s.Password))
	}
	return mail.NewClient(s.Host, options...)
}

// failure tells what trying again may heal from what it will not: a reply of 5xx to the mail itself, or a
// log-in that is refused.
func failure(err error, m *mail.Msg) error {
	e := &sender.Error{Retry: true, Message: sender.Cut(err.Error(), 500)}
	var sent *mail.SendError
	var reply *textproto.Error
	switch {
	case errors.As(err, &sent) && !sent.IsTemp() && sent.ErrorCode() >= 500:
		e.Retry = false
	case errors.As(err, &reply) && reply.Code >= 500:
		e.Retry = false
	}
	return e
}
