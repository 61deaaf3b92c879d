package story

import (
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"time"

	"tocsin/internal/sender/email"
	"tocsin/internal/sender/gateway"
	"tocsin/internal/sender/mailtest"
)

// chats is where the chats of stories are: the chat ops of Slack at chats + "/slack/ops", and so on. It stands for
// the receivers' real address, which is put in its place in account files and in what is posted.
const chats = "https://chats.example.com"

// page is a notification as it arrived at a receiver. Members that a method does not send are empty, except event.
type page struct {
	method, to, event, subject, key, text, ack string
	id                                         string // Message-ID of a mail
	body                                       string // of a request to the gateway
	at                                         time.Time
}

func (p page) String() string { return fmt.Sprintf("%s %s %s", p.to, p.method, p.event) }

// answer is what a receiver replies to a page: as a mail server, and as an HTTP server.
type answer struct {
	reply  string
	status int
}

var (
	taken = answer{"250 2.0.0 taken", http.StatusOK}
	later = answer{"451 4.3.0 mailbox on fire", http.StatusServiceUnavailable}
	never = answer{"550 5.2.1 mailbox on fire", http.StatusForbidden}
	lost  = answer{} // the page is accepted, but the connection ends before the reply
)

// receivers starts a mail server and an HTTP server, for the gateway and the chats, that stop with the story.
func (w *world) receivers() {
	keyring := mailtest.New(w.t, mailtest.Options{Plain: true, Answer: func(m mailtest.Mail) string { return w.take(w.mailed(m)).reply }})
	w.mail = email.Server{Host: keyring.Host, Port: keyring.Port, From: "Tocsin <tocsin@example.com>", TLS: email.None}
	outside := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		a := w.take(w.called(r))
		if a == lost {
			panic(http.ErrAbortHandler)
		}
		rw.WriteHeader(a.status)
	}))
	w.t.Cleanup(outside.Close)
	w.gateway, w.chats = gateway.Gateway{URL: outside.URL + "/gateway"}, outside.URL
}

// placed is a text with the receivers' address in place of chats.
func (w *world) placed(text string) string { return strings.ReplaceAll(text, chats, w.chats) }

// answers sets what the receivers reply from now on. It is called for one page at a time.
func (w *world) answers(with func(page) answer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answer = with
}

// fail sets the answer of receivers whose address or method contains a text; the others accept everything.
func (w *world) fail(part string, with answer) {
	w.answers(func(p page) answer {
		if strings.Contains(p.to, part) || strings.Contains(p.method, part) {
			return with
		}
		return taken
	})
}

// acceptAll makes the receivers accept everything.
func (w *world) acceptAll() { w.answers(func(page) answer { return taken }) }

// take writes a page down, unless its receiver does not take it. That is done before it answers: what has been sent
// has been written down.
func (w *world) take(p page) answer {
	p.at = w.clock.Now()
	w.mu.Lock()
	answer := w.answer
	w.mu.Unlock()
	w.answering.Lock()
	a := answer(p)
	w.answering.Unlock()
	if a == taken || a == lost {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.pages = append(w.pages, p)
	}
	return a
}

// reached returns the pages since newPages was last called, in the order of their arrival.
func (w *world) reached() []page {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.pages)
}

// newPages returns the pages since its last call.
func (w *world) newPages() []page {
	w.mu.Lock()
	defer w.mu.Unlock()
	pages := w.pages
	w.pages = nil
	return pages
}

// mailed reads a mail. Its subject and its key must agree on the event.
func (w *world) mailed(m mailtest.Mail) page {
	subject, header, texts, err := m.Read()
	if err != nil {
		w.t.Errorf("%v in the mail %s", err, m.Data)
	}
	key, text := header.Get("X-Tocsin-Key"), strings.TrimSuffix(strings.ReplaceAll(texts["text/plain"], "\r\n", "\n"), "\n")
	p := page{method: "email", to: m.To, event: happened(key), subject: subject, key: key, text: text, ack: link.FindString(texts["text/html"]), id: header.Get("Message-Id")}
	if key == "" || p.id == "" || strings.HasPrefix(subject, "[Resolved] ") != (p.event == "i_rslv") {
		w.t.Errorf("a mail of %s with the subject %q and the key %s", p.event, subject, key)
	}
	return p
}

// called reads a request to the gateway at /gateway, or to a chat at its method and name.
func (w *world) called(r *http.Request) page {
	body, err := io.ReadAll(r.Body)
	w.check(err, r, body)
	method, to, _ := strings.Cut(strings.Trim(r.URL.Path, "/"), "/")
	var said struct {
		Kind, To, Text, Key string
		AckLink             string `json:"ack_link"`
		EventType           string `json:"event_type"`
		Blocks              []struct{ Text struct{ Text string } }
		Incident            struct{ Title string }
	}
	if method != "ntfy" {
		w.check(json.Unmarshal(body, &said), r, body)
	}
	switch method {
	case "gateway":
		return page{method: said.Kind, to: said.To, event: happened(said.Key), key: said.Key, text: said.Text, ack: said.AckLink, body: string(body)}
	case "ntfy":
		subject, err := new(mime.WordDecoder).DecodeHeader(r.Header.Get("Title"))
		w.check(err, r, body)
		_, event, _ := strings.Cut(r.Header.Get("Tags"), ",")
		return page{method: method, to: to, event: event, subject: subject, text: string(body), ack: link.FindString(r.Header.Get("Actions"))}
	case "slack":
		return page{method: method, to: to, event: headline(said.Text), subject: said.Text, text: said.Blocks[0].Text.Text, ack: link.FindString(said.Blocks[0].Text.Text)}
	case "webhook":
		return page{method: method, to: to, event: said.EventType, subject: said.Incident.Title, key: r.Header.Get("Webhook-Id"), text: string(body)}
	}
	w.t.Errorf("nobody is at %s", r.URL)
	return page{method: method, to: to}
}

func (w *world) check(err error, r *http.Request, body []byte) {
	if err != nil {
		w.t.Errorf("%v in what %s was told: %s", err, r.URL, body)
	}
}

// link is one that acknowledges.
var link = regexp.MustCompile(`https://tocsin\.example\.com/ack/[\w-]+`)

// happened is the event that a notification's key stands for: shifts, silences and actions name it, pages do not.
func happened(key string) string {
	parts := append(strings.Split(key, "/"), "", "")
	switch {
	case parts[0] == "shift" || parts[0] == "silence":
		return parts[2]
	case parts[1] == "over":
		return "i_rslv"
	case strings.HasPrefix(parts[1], "i_"):
		return parts[1]
	}
	return "i_new"
}

// headline is the event that a subject stands for, which is all that Slack gets.
func headline(subject string) string {
	for _, s := range [][2]string{{"[Resolved] ", "i_rslv"}, {"[Acknowledged] ", "i_ack"}, {"[Merged] ", "i_merge"}, {"[Now ", "i_r_severity"}, {"[", "i_new"}, {"Shift change in ", "shift_change"}, {"On call in ", "shift_daily"}} {
		if strings.HasPrefix(subject, s[0]) {
			return s[1]
		}
	}
	return subject
}
