// Package mailtest is a mail server that mails are sent to in tests: it speaks SMTP on loopback, and writes down what
// it takes.
//
// The product must never import it.
package mailtest

import (
	"bufio"
	"cmp"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"fmt"
	"math/big"
	"net"
	"strings"
	"sync"
	"testing"
	"time"
)

// Mail is a mail that a Mailbox took.
type Mail struct {
	From, To string
	Data     string // headers and body as they came
	TLS      bool
	User     string // who logged in; empty: nobody
}

// Mailbox is a mail server for tests: it speaks SMTP on loopback, offers STARTTLS with a certificate of its
// own, and writes down what it takes.
type Mailbox struct {
	Host string
	Port int

	listener net.Listener
	tls      *tls.Config
	mu       sync.Mutex
	mails    []Mail
	options  Options
}

// Options change a Mailbox.
type Options struct {
	Implicit bool                   // TLS from the first byte
	Plain    bool                   // STARTTLS is not offered
	User     string                 // NAME:PASSWORD that must log in; empty: nobody must
	Login    bool                   // offer the log-in LOGIN instead of PLAIN
	Refuse   func(to string) string // reply to RCPT, such as "550 no such user"; empty: taken
	Answer   func(Mail) string      // reply to the mail itself, such as "451 later"; empty: none, the connection is closed; nil: taken
	HangUp   bool                   // close the connection as soon as a mail is taken
	Silent   func()                 // never greet, but call this when somebody is there
}

// New starts a mail server that ends with the test.
func New(t testing.TB, o Options) *Mailbox {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	m := &Mailbox{Host: "127.0.0.1", Port: listener.Addr().(*net.TCPAddr).Port, listener: listener, options: o,
		tls: &tls.Config{Certificates: []tls.Certificate{certificate(t)}}}
	go m.accept()
	t.Cleanup(func() { listener.Close() })
	return m
}

// Mails are those that were taken so far.
func (m *Mailbox) Mails() []Mail {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]Mail(nil), m.mails...)
}

func (m *Mailbox) accept() {
	for {
		conn, err := m.listener.Accept()
		if err != nil {
			return
		}
		if m.options.Implicit {
			conn = tls.Server(conn, m.tls)
		}
		go m.serve(conn, m.options.Implicit)
	}
}

func (m *Mailbox) serve(conn net.Conn, secure bool) {
	defer func() { conn.Close() }()
	conn.SetDeadline(time.Now().Add(30 * time.Second))
	in := bufio.NewReader(conn)
	say := func(format string, args ...any) { fmt.Fprintf(conn, format+"\r\n", args...) }
	ask := func(what string) string {
		say("334 %s", base64.StdEncoding.EncodeToString([]byte(what)))
		line, _ := in.ReadString('\n')
		return decoded(strings.TrimSpace(line))
	}
	var mail Mail
	user := ""
	if m.options.Silent != nil {
		m.options.Silent()
		in.ReadByte() // until the other leaves
		return
	}
	say("220 mailbox ESMTP")
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		line = strings.TrimRight(line, "\r\n")
		verb, rest, _ := strings.Cut(line, " ")
		switch strings.ToUpper(verb) {
		case "EHLO", "HELO":
			say("250-mailbox")
			if !secure && !m.options.Plain {
				say("250-STARTTLS")
			}
			if m.options.User != "" && m.options.Login {
				say("250-AUTH LOGIN")
			} else if m.options.User != "" {
				say("250-AUTH PLAIN")
			}
			say("250 8BITMIME")
		case "STARTTLS":
			say("220 go on")
			encrypted := tls.Server(conn, m.tls)
			if encrypted.Handshake() != nil {
				return
			}
			conn, in, secure = encrypted, bufio.NewReader(encrypted), true
		case "AUTH":
			_, token, _ := strings.Cut(rest, " ")
			name, ok := m.logIn(token, ask)
			if !ok {
				say("535 wrong user or password: %s", rest)
				continue
			}
			user = name
			say("235 welcome")
		case "MAIL":
			mail = Mail{From: address(rest), TLS: secure, User: user}
			if m.options.User != "" && user == "" {
				say("530 log in first")
				continue
			}
			say("250 ok")
		case "RCPT":
			mail.To = address(rest)
			if m.options.Refuse != nil {
				if reply := m.options.Refuse(mail.To); reply != "" {
					say("%s", reply)
					continue
				}
			}
			say("250 ok")
		case "DATA":
			say("354 go on")
			var data strings.Builder
			for {
				line, err := in.ReadString('\n')
				if err != nil {
					return
				}
				if line == ".\r\n" {
					break
				}
				data.WriteString(strings.TrimPrefix(line, "."))
			}
			mail.Data = data.String()
			reply := ""
			if m.options.Answer != nil {
				if reply = m.options.Answer(mail); reply == "" {
					return
				}
				if !strings.HasPrefix(reply, "2") {
					say("%s", reply)
					continue
				}
			}
			m.mu.Lock()
			m.mails = append(m.mails, mail)
			count := len(m.mails)
			m.mu.Unlock()
			say("%s", cmp.Or(reply, fmt.Sprintf("250 taken as number %d", count)))
			if m.options.HangUp {
				return
			}
		case "RSET", "NOOP":
			say("250 ok")
		case "QUIT":
			say("221 bye")
			return
		default:
			say("502 what?")
		}
	}
}

// logIn says who logs in with the token of PLAIN, or with the answers that LOGIN asks for.
func (m *Mailbox) logIn(token string, ask func(string) string) (name string, ok bool) {
	password := ""
	if m.options.Login {
		name, password = ask("Username:"), ask("Password:")
	} else if parts := strings.Split(decoded(token), "\x00"); len(parts) == 3 {
		name, password = parts[1], parts[2]
	}
	return name, name+":"+password == m.options.User
}

func address(rest string) string {
	_, after, _ := strings.Cut(rest, "<")
	inside, _, _ := strings.Cut(after, ">")
	return inside
}

func decoded(token string) string {
	raw, _ := base64.StdEncoding.DecodeString(token)
	return string(raw)
}

func certificate(t testing.TB) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "mailbox"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}
