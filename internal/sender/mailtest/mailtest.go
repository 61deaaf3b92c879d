// Package mailtest is a mail server for tests: it speaks SMTP on loopback and stores the mails that it accepts.
//
// The product must never import it.
package mailtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"log"
	"math/big"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-smtp"
)

// Mail is a mail that a Mailbox accepted.
type Mail struct {
	From, To string
	Data     string // headers and body as they came
	TLS      bool
	User     string // the user that logged in; empty: none
}

// Mailbox is a mail server for tests: it speaks SMTP on loopback, offers STARTTLS with a certificate of its own, and
// stores the mails that it accepts.
type Mailbox struct {
	Host string
	Port int

	mu      sync.Mutex
	mails   []Mail
	options Options
}

// Options change the behaviour of a Mailbox.
type Options struct {
	Implicit bool                   // TLS from the first byte
	Plain    bool                   // STARTTLS is not offered
	User     string                 // NAME:PASSWORD that must log in; empty: no log-in is needed
	Login    bool                   // offer the log-in LOGIN instead of PLAIN
	Refuse   func(to string) string // reply to RCPT, such as "550 no such user"; empty: taken
	Answer   func(Mail) string      // reply to the mail itself, such as "451 later"; empty: none, the connection is closed; nil: taken
	HangUp   bool                   // close the connection as soon as a mail is taken
	Silent   func()                 // never greet, but call this when a client has connected
}

// New starts a mail server that ends with the test.
func New(t testing.TB, o Options) *Mailbox {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	m := &Mailbox{Host: "127.0.0.1", Port: listener.Addr().(*net.TCPAddr).Port, options: o}
	encryption := &tls.Config{Certificates: []tls.Certificate{certificate(t)}}
	if o.Implicit {
		listener = tls.NewListener(listener, encryption)
	}
	if o.Silent != nil {
		go m.keepSilent(listener)
		t.Cleanup(func() { listener.Close() })
		return m
	}
	server := smtp.NewServer(smtp.BackendFunc(func(c *smtp.Conn) (smtp.Session, error) { return &session{keyring: m, conn: c}, nil }))
	server.Domain = "mailbox"
	server.ErrorLog = log.New(io.Discard, "", 0)
	server.AllowInsecureAuth = true
	server.ReadTimeout = 30 * time.Second
	if !o.Plain {
		server.TLSConfig = encryption
	}
	go server.Serve(listener)
	t.Cleanup(func() { server.Close() })
	return m
}

// Mails returns the mails accepted so far.
func (m *Mailbox) Mails() []Mail {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]Mail(nil), m.mails...)
}

// keepSilent accepts connections and sends nothing, until the client closes them.
func (m *Mailbox) keepSilent(listener net.Listener) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		go func() {
			defer conn.Close()
			conn.SetDeadline(time.Now().Add(30 * time.Second))
			m.options.Silent()
			conn.Read(make([]byte, 1))
		}()
	}
}

func certificate(t testing.TB) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		Subject:      pkix.Name{CommonName: "mailbox"},
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(time.Hour),
		IPAddresses:  []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}
