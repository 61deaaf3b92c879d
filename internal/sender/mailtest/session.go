package mailtest

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/emersion/go-sasl"
	"github.com/emersion/go-smtp"
)

// session is one connection to a Mailbox.
type session struct {
	keyring *Mailbox
	conn    *smtp.Conn
	mail    Mail
	user    string
	taken   bool // the mail was taken just now
}

// reply returns a reply such as "550 no such user" in the form that the library sends, also for success.
func reply(text string) error {
	number, words, _ := strings.Cut(text, " ")
	code, err := strconv.Atoi(number)
	if err != nil {
		return err
	}
	return &smtp.SMTPError{Code: code, EnhancedCode: smtp.NoEnhancedCode, Message: words}
}

// AuthMechanisms returns the log-in mechanisms that are offered.
func (s *session) AuthMechanisms() []string {
	switch o := s.keyring.options; {
	case o.User == "":
		return nil
	case o.Login:
		return []string{"LOGIN"}
	}
	return []string{sasl.Plain}
}

// Auth begins a log-in.
func (s *session) Auth(method string) (sasl.Server, error) {
	if method == "LOGIN" {
		return &login{check: s.logIn}, nil
	}
	return sasl.NewPlainServer(func(_, name, password string) error { return s.logIn(name, password) }), nil
}

// logIn refuses a wrong password with a reply that repeats it, as some servers do.
func (s *session) logIn(name, password string) error {
	if name+":"+password != s.keyring.options.User {
		return reply("535 wrong user or password: " + base64.StdEncoding.EncodeToString([]byte("\x00"+name+"\x00"+password)))
	}
	s.user = name
	return nil
}

// login is the mechanism LOGIN, which the library has for clients only.
type login struct {
	check func(name, password string) error
	asked int
	name  string
}

func (l *login) Next(answer []byte) (ask []byte, done bool, err error) {
	switch l.asked++; l.asked {
	case 1:
		return []byte("Username:"), false, nil
	case 2:
		l.name = string(answer)
		return []byte("Password:"), false, nil
	}
	return nil, true, l.check(l.name, string(answer))
}

// Mail begins a mail.
func (s *session) Mail(from string, _ *smtp.MailOptions) error {
	if s.keyring.options.User != "" && s.user == "" {
		return reply("530 log in first")
	}
	_, secure := s.conn.TLSConnectionState()
	s.mail = Mail{From: from, TLS: secure, User: s.user}
	return nil
}

// Rcpt accepts an address, of which a mail has one.
func (s *session) Rcpt(to string, _ *smtp.RcptOptions) error {
	s.mail.To = to
	if s.keyring.options.Refuse != nil {
		if text := s.keyring.options.Refuse(to); text != "" {
			return reply(text)
		}
	}
	return nil
}

// Data accepts the mail itself.
func (s *session) Data(r io.Reader) error {
	data, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	s.mail.Data = string(data)
	text := ""
	if answer := s.keyring.options.Answer; answer != nil {
		text = answer(s.mail)
		if text == "" {
			return s.conn.Conn().Close()
		}
		if !strings.HasPrefix(text, "2") {
			return reply(text)
		}
	}
	s.keyring.mu.Lock()
	defer s.keyring.mu.Unlock()
	s.keyring.mails = append(s.keyring.mails, s.mail)
	s.taken = true
	return reply(cmp.Or(text, fmt.Sprintf("250 taken as number %d", len(s.keyring.mails))))
}

// Reset is called when the answer to a mail has been sent, among others.
func (s *session) Reset() {
	if s.taken && s.keyring.options.HangUp {
		s.conn.Conn().Close()
	}
	s.mail, s.taken = Mail{}, false
}

// Logout ends the session.
func (s *session) Logout() error { return nil }
