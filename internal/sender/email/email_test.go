package email_test

import (
	"context"
	"errors"
	"mime"
	"net/mail"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"tocsin/internal/core/render"
	"tocsin/internal/platform/egress"
	"tocsin/internal/sender"
	"tocsin/internal/sender/email"
	"tocsin/internal/sender/mailtest"
)

var (
	out     = egress.New(egress.Policy{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}})
	message = sender.Message{
		Key: "i1/1/0/0/p7", Thread: "i1", Subject: "[Critical] Checkout is down\r\nBcc: everybody@example.com", Severity: "Critical",
		Text: "Line\r\n.dot\r\n.\r\nMAIL FROM:<evil@example.com>\r\nPrüfung 支付", HTML: "<p>é</p>",
	}
	now = time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
)

func send(t *testing.T, keyring *mailtest.Mailbox, change func(*email.Server), to string) (sender.Receipt, error) {
	t.Helper()
	s := email.Server{Host: keyring.Host, Port: keyring.Port, From: "Tocsin <tocsin@pager.example.com>", Insecure: true}
	if change != nil {
		change(&s)
	}
	return s.Send(context.Background(), out, to, message, now)
}

func read(t *testing.T, m mailtest.Mail) (mail.Header, map[string]string) {
	t.Helper()
	_, header, texts, err := m.Read()
	if err != nil {
		t.Fatal(err)
	}
	return header, texts
}

func TestMail(t *testing.T) {
	keyring := mailtest.New(t, mailtest.Options{User: "tocsin:secret"})
	login := func(s *email.Server) { s.Username, s.Password = "tocsin", "secret" }
	var receipts []sender.Receipt
	for range 2 { // as two attempts
		receipt, err := send(t, keyring, login, "ann@example.com")
		if err != nil {
			t.Fatal(err)
		}
		receipts = append(receipts, receipt)
	}
	mails := keyring.Mails()
	if len(mails) != 2 || mails[0].To != "ann@example.com" || mails[0].From != "tocsin@pager.example.com" || !mails[0].TLS || mails[0].User != "tocsin" {
		t.Fatalf("%+v", mails)
	}
	h, parts := read(t, mails[0])
	again, _ := read(t, mails[1])
	subject, err := new(mime.WordDecoder).DecodeHeader(h.Get("Subject"))
	if err != nil || subject != "[Critical] Checkout is down Bcc: everybody@example.com" || h.Get("Bcc") != "" || h.Get("X-Tocsin-Key") != message.Key || h.Get("Auto-Submitted") != "auto-generated" ||
		!strings.HasSuffix(h.Get("Message-Id"), "@pager.example.com>") || h.Get("Message-Id") != again.Get("Message-Id") || h.Get("References") == "" || h.Get("In-Reply-To") != h.Get("References") {
		t.Errorf("%v", h)
	}
	if receipts[0].ID != h.Get("Message-Id") || receipts[0].Reply != "taken by 127.0.0.1: taken as number 1" {
		t.Errorf("%+v", receipts[0])
	}
	if parts["text/plain"] != string(message.Text) || parts["text/html"] != string(message.HTML) {
		t.Errorf("%q", parts)
	}
	if date, err := h.Date(); err != nil || !date.Equal(now) {
		t.Errorf("%v %v", date, err)
	}
}

func TestMailsOfIncidentAreOneThread(t *testing.T) {
	keyring := mailtest.New(t, mailtest.Options{})
	s := email.Server{Host: keyring.Host, Port: keyring.Port, From: "tocsin@example.com", Insecure: true}
	for _, m := range []sender.Message{{Key: "1", Thread: "i1", Text: "a"}, {Key: "2", Thread: "i1", Text: "b"}, {Key: "3", Thread: "i2", Text: "c"}, {Key: "4", Text: "d"}} {
		if _, err := s.Send(context.Background(), out, "a@example.com", m, now); err != nil {
			t.Fatal(err)
		}
	}
	ids, threads := []string{}, []string{}
	for _, m := range keyring.Mails() {
		h, parts := read(t, m)
		ids, threads = append(ids, h.Get("Message-Id")), append(threads, h.Get("References"))
		if len(parts) != 1 || len(strings.TrimSpace(parts["text/plain"])) != 1 || h.Get("X-Mailer") != "Tocsin" || h.Get("Importance") != "" {
			t.Errorf("%v %q", h, parts)
		}
	}
	slices.Sort(ids)
	if len(slices.Compact(ids)) != 4 || threads[0] != threads[1] || threads[0] == threads[2] || threads[3] != "" {
		t.Errorf("%v %v", ids, threads)
	}
}

// TestSubjects: a subject is read as it was written, also if it looks encoded.
func TestSubjects(t *testing.T) {
	keyring := mailtest.New(t, mailtest.Options{})
	s := email.Server{Host: keyring.Host, Port: keyring.Port, From: "tocsin@example.com", Insecure: true}
	for n, subject := range []string{
		"=?utf-8?q?=0D=0ABcc:_evil@example.com?=", "=?bogus?b?x?= is full", "a =?utf-8?b?8J+UpQ==?= b", "a=?", strings.Repeat("=? ", 60) + "end", strings.Repeat("=?x", 66), "支付 =?utf-8?q?x?=", "CPU > 90%",
	} {
		if _, err := s.Send(context.Background(), out, "a@example.com", sender.Message{Key: "k", Subject: subject, Text: "x"}, now); err != nil {
			t.Fatal(err)
		}
		got, h, _, err := keyring.Mails()[n].Read()
		if err != nil || got != subject {
			t.Errorf("%q is read as %q, %v", subject, got, err)
		}
		if raw := h.Get("Subject"); strings.Contains(subject, "=?") && !strings.HasPrefix(strings.ToLower(raw), "=?utf-8?") {
			t.Errorf("%q is sent as %q", subject, raw)
		}
		for line := range strings.SplitSeq(keyring.Mails()[n].Data, "\r\n") {
			if len(line) > 76 && strings.Contains(line, "=?") {
				t.Errorf("%q has a line of %d bytes", subject, len(line))
			}
		}
	}
}

// FuzzNothingIsInjected: any message and any address result in one mail to one address with its own headers.
func FuzzNothingIsInjected(f *testing.F) {
	keyring := mailtest.New(f, mailtest.Options{Plain: true})
	f.Add("s\r\nBcc: evil@example.com\r\n\r\nbody", "a@example.com", "x\r\n.\r\nMAIL FROM:<evil@example.com>\r\nRCPT TO:<evil@example.com>")
	f.Add("\xff\x00\n\u2028", "a@example.com>\r\nRCPT TO:<evil@example.com", "\n.\n")
	f.Add("=?utf-8?q?=0D=0ABcc:?=", "\"a@example.com> RCPT TO:<evil\"@example.com", "..\r\n.")
	f.Add("=?bogus?b?x?= =?utf-8?q?=?=", "a@example.com", "=?utf-8?q?x?=")
	f.Add("", "a@example.com, evil@example.com", "")
	f.Add(strings.Repeat("支", 300), "Ann\r\nBcc: evil@example.com <a@example.com>", strings.Repeat("x", 3000))
	f.Fuzz(func(t *testing.T, words, to, text string) {
		before := len(keyring.Mails())
		s := email.Server{Host: keyring.Host, Port: keyring.Port, From: "tocsin@example.com", TLS: email.None}
		m := sender.Message{Key: words, Thread: words, Subject: words, Text: render.Markup(text), Severity: words}
		if _, err := s.Send(context.Background(), out, to, m, now); err != nil {
			if sender.Retry(err) {
				t.Errorf("%q to %q: %v", words, to, err)
			}
			return
		}
		mails := keyring.Mails()[before:]
		if len(mails) != 1 || mails[0].From != "tocsin@example.com" {
			t.Fatalf("%q to %q: %+v", words, to, mails)
		}
		subject, h, parts, err := mails[0].Read()
		if err != nil || subject != sender.Line(words, 200) {
			t.Fatalf("%q is read as %q, %v", words, subject, err)
		}
		allowed := []string{"Auto-Submitted", "Content-Transfer-Encoding", "Content-Type", "Date", "From", "In-Reply-To", "Message-Id", "Mime-Version", "References", "Subject", "To", "User-Agent", "X-Mailer", "X-Tocsin-Key", "Importance", "Priority", "X-Priority", "X-Msmail-Priority"}
		for name, values := range h {
			if !slices.Contains(allowed, name) || len(values) != 1 {
				t.Errorf("%q: %s %q", words, name, values)
			}
		}
		if len(parts) != 1 {
			t.Errorf("%q", parts)
		}
	})
}

func TestTLSModes(t *testing.T) {
	plain := mailtest.New(t, mailtest.Options{Plain: true})
	secure := mailtest.New(t, mailtest.Options{})
	implicit := mailtest.New(t, mailtest.Options{Implicit: true, User: "a:b"})
	old := mailtest.New(t, mailtest.Options{Implicit: true, Login: true, User: "a:b"})
	inClear := mailtest.New(t, mailtest.Options{Plain: true, User: "a:b"})
	for name, c := range map[string]struct {
		keyring *mailtest.Mailbox
		change  func(*email.Server)
		ok      bool
		tls     bool
	}{
		"starttls is needed and not there": {plain, nil, false, false},
		"opportunistic without":            {plain, func(s *email.Server) { s.TLS = email.Opportunistic }, true, false},
		"opportunistic with":               {secure, func(s *email.Server) { s.TLS = email.Opportunistic }, true, true},
		"none":                             {secure, func(s *email.Server) { s.TLS = email.None }, true, false},
		"a certificate that nobody knows":  {secure, func(s *email.Server) { s.Insecure = false }, false, false},
		"implicit, and a log-in behind it": {implicit, func(s *email.Server) {
			s.TLS = email.Implicit
			s.Username = "a"
			s.Password = "b"
		}, true, true},
		"implicit, with LOGIN": {old, func(s *email.Server) {
			s.TLS = email.Implicit
			s.Username = "a"
			s.Password = "b"
		}, true, true},
		"implicit, a certificate unknown": {implicit, func(s *email.Server) { s.TLS, s.Insecure = email.Implicit, false }, false, false},
		"implicit where there is none":    {plain, func(s *email.Server) { s.TLS = email.Implicit }, false, false},
		"no password goes in clear": {inClear, func(s *email.Server) {
			s.TLS = email.None
			s.Username = "a"
			s.Password = "b"
		}, false, false},
		"no way": {plain, func(s *email.Server) { s.TLS = "ssl" }, false, false},
		"implicit with the wrong password": {implicit, func(s *email.Server) {
			s.TLS = email.Implicit
			s.Username = "a"
			s.Password = "x"
		}, false, false},
	} {
		before := len(c.keyring.Mails())
		_, err := send(t, c.keyring, c.change, "a@example.com")
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if mails := c.keyring.Mails(); c.ok && (len(mails) != before+1 || mails[before].TLS != c.tls) {
			t.Errorf("%s: %+v", name, mails)
		}
	}
}

func TestRetryableFailures(t *testing.T) {
	reply := ""
	keyring := mailtest.New(t, mailtest.Options{Refuse: func(string) string { return reply }})
	for answer, retry := range map[string]bool{"550 no such user": false, "451 try later": true, "421 going down": true, "554 spam": false} {
		reply = answer
		_, err := send(t, keyring, nil, "a@example.com")
		if err == nil || sender.Retry(err) != retry || !strings.Contains(err.Error(), answer[4:]) {
			t.Errorf("%s: %+v", answer, err)
		}
	}
	reply = ""
	for name, c := range map[string]struct {
		options mailtest.Options
		change  func(*email.Server)
		to      string
		retry   bool
	}{
		"the mail is refused":    {mailtest.Options{Answer: func(mailtest.Mail) string { return "554 5.7.1 spam" }}, nil, "a@example.com", false},
		"the mail is put off":    {mailtest.Options{Answer: func(mailtest.Mail) string { return "452 4.3.1 full" }}, nil, "a@example.com", true},
		"a wrong password":       {mailtest.Options{User: "a:right-one"}, func(s *email.Server) { s.Username, s.Password = "a", "wrong-one" }, "a@example.com", false},
		"a wrong address":        {mailtest.Options{}, nil, "not an address", false},
		"no sender":              {mailtest.Options{}, func(s *email.Server) { s.From = "" }, "a@example.com", false},
		"no such way":            {mailtest.Options{}, func(s *email.Server) { s.TLS = "ssl" }, "a@example.com", false},
		"nobody there":           {mailtest.Options{}, func(s *email.Server) { s.Port = 1 }, "a@example.com", true},
		"an address of no use":   {mailtest.Options{}, func(s *email.Server) { s.Host = "127.0.0.2" }, "a@example.com", false},
		"a certificate not ours": {mailtest.Options{}, func(s *email.Server) { s.Insecure = false }, "a@example.com", true},
	} {
		_, err := send(t, mailtest.New(t, c.options), c.change, c.to)
		var failed *sender.Error
		if !errors.As(err, &failed) || failed.Retry != c.retry || failed.Message == "" {
			t.Errorf("%s: %+v", name, err)
		}
		for _, secret := range []string{"wrong-one", "AGEAd3Jvbmctb25l"} { // base64 of how it is sent
			if err != nil && strings.Contains(err.Error(), secret) {
				t.Errorf("%s: the password is shown: %v", name, err)
			}
		}
	}
}

// TestAcceptedMailIsNotSentAgain: a mail that the server accepted is sent, even if the server then closes the connection.
func TestAcceptedMailIsNotSentAgain(t *testing.T) {
	keyring := mailtest.New(t, mailtest.Options{HangUp: true})
	if receipt, err := send(t, keyring, nil, "a@example.com"); err != nil || receipt.ID == "" || len(keyring.Mails()) != 1 {
		t.Errorf("%+v %v", receipt, err)
	}
}

// TestSilentServer: a server that accepts the connection and sends nothing blocks no one once the context ends.
func TestSilentServer(t *testing.T) {
	for _, implicit := range []bool{false, true} {
		ctx, cancel := context.WithCancel(context.Background())
		keyring := mailtest.New(t, mailtest.Options{Silent: cancel, Implicit: implicit})
		s := email.Server{Host: keyring.Host, Port: keyring.Port, From: "tocsin@example.com", Insecure: true}
		if implicit {
			s.TLS = email.Implicit
		}
		for range 2 { // then with a context that is over from the start
			if _, err := s.Send(ctx, out, "a@example.com", message, now); !sender.Retry(err) || !strings.Contains(err.Error(), "given up") {
				t.Errorf("implicit %t: %v", implicit, err)
			}
		}
	}
}
