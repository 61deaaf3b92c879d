package email

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"

	"github.com/wneessen/go-mail"
	"github.com/wneessen/go-mail/smtp"

	"tocsin/internal/platform/egress"
)

// modes holds the default port and the library's policy for each TLS mode. With implicit TLS the library itself uses
// none, because the connection is encrypted already.
var modes = map[string]struct {
	port   int
	policy mail.TLSPolicy
}{
	StartTLS: {587, mail.TLSMandatory}, Implicit: {465, mail.NoTLS}, Opportunistic: {587, mail.TLSOpportunistic}, None: {25, mail.NoTLS},
}

// client returns a client for one mail. The library observes ctx only until it is connected, so the end of ctx
// closes the connection.
func (s Server) client(ctx context.Context, out *egress.Client) (*mail.Client, error) {
	method, ok := modes[cmp.Or(s.TLS, StartTLS)]
	if !ok {
		return nil, fmt.Errorf("TLS %q: want starttls, implicit, opportunistic or none", s.TLS)
	}
	port := cmp.Or(s.Port, method.port)
	encryption := &tls.Config{ServerName: s.Host, MinVersion: tls.VersionTLS12, InsecureSkipVerify: s.Insecure}
	dial := func(dialling context.Context, network, _ string) (net.Conn, error) {
		conn, err := out.DialContext(dialling, network, net.JoinHostPort(s.Host, strconv.Itoa(port)))
		if err != nil {
			return nil, err
		}
		context.AfterFunc(ctx, func() { conn.Close() })
		if s.TLS != Implicit {
			return conn, nil
		}
		secure := tls.Client(conn, encryption)
		if err := secure.HandshakeContext(dialling); err != nil {
			conn.Close()
			return nil, fmt.Errorf("%s: TLS: %w", s.Host, err)
		}
		return secure, nil
	}
	options := []mail.Option{
		mail.WithPort(port),
		mail.WithTLSPolicy(method.policy),
		mail.WithTLSConfig(encryption),
		mail.WithTimeout(timeout / 2),
		mail.WithDialContextFunc(dial),
	}
	if s.Hello != "" {
		options = append(options, mail.WithHELO(s.Hello))
	}
	switch {
	case s.Username == "":
	case s.TLS == Implicit: // the library does not know that the connection is encrypted, and would not log in
		options = append(options, mail.WithSMTPAuthCustom(&login{user: s.Username, password: s.Password}))
	default:
		options = append(options, mail.WithSMTPAuth(mail.SMTPAuthAutoDiscover), mail.WithUsername(s.Username), mail.WithPassword(s.Password))
	}
	return mail.NewClient(s.Host, options...)
}

// login logs in over an encrypted connection by the mechanism that the server offers: PLAIN, or else LOGIN.
type login struct {
	smtp.Auth
	user, password string
}

// Start begins the log-in. Both mechanisms refuse a connection that is not encrypted.
func (l *login) Start(server *smtp.ServerInfo) (string, []byte, error) {
	l.Auth = smtp.LoginAuth(l.user, l.password, server.Name, false)
	if slices.Contains(server.Auth, "PLAIN") {
		l.Auth = smtp.PlainAuth("", l.user, l.password, server.Name, false)
	}
	return l.Auth.Start(server)
}

// refused reports whether the server refused a mail for good.
func refused(err error) bool {
	var sent *mail.SendError
	return errors.As(err, &sent) && !sent.IsTemp() && sent.ErrorCode() >= 500
}
