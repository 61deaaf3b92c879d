package email_test

import (
	"context"
	"errors"
	"net/mail"
	"net/netip"
	"strings"
	"testing"
	"time"

	"tocsin/internal/outbound"
	"tocsin/internal/sender"
	"tocsin/internal/sender/email"
	"tocsin/internal/sender/sendertest"
)

var (
	out     = outbound.New(outbound.Policy{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}})
	message = sender.Message{Key: "i1/1/0/0/p7", Thread: "i1", Subject: "[Critical] Checkout is down\r\nBcc: everybody@example.com", Text: "Line\n.dot", HTML: "<p>é</p>", Severity: "Critical"}
	now     = time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
)

func send(t *testing.T, box *sendertest.Mailbox, change func(*email.Server), to string) (sender.Receipt, error) {
	t.Helper()
	s := email.Server{Host: box.Host, Port: box.Port, From: "Tocsin <tocsin@example.com>", Insecure: true}
	if change != nil {
		change(&s)
	}
	return s.Send(context.Background(), out, to, message, now)
}

func TestAMail(t *testing.T) {
	box := sendertest.NewMailbox(t, sendertest.Options{User: "tocsin:secret"})
	login := func(s *email.Server) { s.Username, s.Password = "tocsin", "secret" }
	for range 2 { // as two attempts
		if _, err := send(t, box, login, "ann@example.com"); err != nil {
			t.Fatal(err)
		}
	}
	mails := box.Mails()
	if len(mails) != 2 || mails[0].To != "ann@example.com" || mails[0].From != "tocsin@example.com" || !mails[0].TLS || mails[0].User != "tocsin" {
		t.Fatalf("%+v", mails)
	}
	m, err := mail.ReadMessage(strings.NewReader(mails[0].Data))
	if err != nil {
		t.Fatal(err)
	}
	again, _ := mail.ReadMessage(strings.NewReader(mails[1].Data))
	h := m.Header
	if h.Get("Subject") != "[Critical] Checkout is down Bcc: everybody@example.com" || h.Get("Bcc") != "" || h.Get("X-Tocsin-Key") != message.Key || h.Get("Auto-Submitted") != "auto-generated" ||
		h.Get("Message-Id") == "" || h.Get("Message-Id") != again.Header.Get("Message-Id") || h.Get("References") == "" || !strings.HasPrefix(h.Get("Content-Type"), "multipart/alternative") {
		t.Errorf("%v", h)
	}
	if date, err := h.Date(); err != nil || !date.Equal(now) {
		t.Errorf("%v %v", date, err)
	}
}

func TestWaysOfTLS(t *testing.T) {
	plain, secure, implicit := sendertest.NewMailbox(t, sendertest.Options{Plain: true}), sendertest.NewMailbox(t, sendertest.Options{}), sendertest.NewMailbox(t, sendertest.Options{Implicit: true, User: "a:b"})
	for name, c := range map[string]struct {
		box    *sendertest.Mailbox
		change func(*email.Server)
		ok     bool
		tls    bool
	}{
		"starttls is needed and not there": {plain, nil, false, false},
		"opportunistic without":            {plain, func(s *email.Server) { s.TLS = email.Opportunistic }, true, false},
		"opportunistic with":               {secure, func(s *email.Server) { s.TLS = email.Opportunistic }, true, true},
		"none":                             {secure, func(s *email.Server) { s.TLS = email.None }, true, false},
		"a certificate that nobody knows":  {secure, func(s *email.Server) { s.Insecure = false }, false, false},
		"implicit, and a log-in behind it": {implicit, func(s *email.Server) { s.TLS, s.Username, s.Password = email.Implicit, "a", "b" }, true, true},
		"implicit with the wrong password": {implicit, func(s *email.Server) { s.TLS, s.Username, s.Password = email.Implicit, "a", "x" }, false, false},
	} {
		before := len(c.box.Mails())
		_, err := send(t, c.box, c.change, "a@example.com")
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if mails := c.box.Mails(); c.ok && (len(mails) != before+1 || mails[before].TLS != c.tls) {
			t.Errorf("%s: %+v", name, mails)
		}
	}
}

func TestWhatMayHeal(t *testing.T) {
	reply := ""
	box := sendertest.NewMailbox(t, sendertest.Options{Refuse: func(string) string { return reply }})
	for answer, retry := range map[string]bool{"550 no such user": false, "451 try later": true, "421 going down": true, "554 spam": false} {
		reply = answer
		_, err := send(t, box, nil, "a@example.com")
		var failed *sender.Error
		if !errors.As(err, &failed) || failed.Retry != retry {
			t.Errorf("%s: %+v", answer, err)
		}
	}
	var failed *sender.Error
	if _, err := send(t, box, nil, "not an address"); !errors.As(err, &failed) || failed.Retry {
		t.Errorf("a wrong address: %v", err)
	}
	if _, err := send(t, box, func(s *email.Server) { s.Port = 1 }, "a@example.com"); !errors.As(err, &failed) || !failed.Retry {
		t.Errorf("nobody there: %v", err)
	}
}
