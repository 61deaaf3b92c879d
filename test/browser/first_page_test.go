package browser

import (
	"net/netip"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"tocsin/internal/app"
	"tocsin/internal/sender/email"
	"tocsin/internal/sender/mailtest"
	"tocsin/test/browser/page"
	"tocsin/test/browser/world"
)

// mostActs is below what a stranger may need of clicks and fields from an empty server to the first message about an alert.
const mostActs = 25

// stranger sets an account up by its console, and counts.
type stranger struct {
	*page.Page
	clicks, fields int
}

// follow clicks what leads to another page.
func (s *stranger) follow(what string) {
	s.clicks++
	s.Follow(what)
}

// enter fills in a field.
func (s *stranger) enter(field, text string) {
	s.fields++
	s.Type(field, text)
}

// mailed returns the mails to an address, and waits for one with a text.
func mailed(t *testing.T, w *world.World, box *mailtest.Mailbox, to, text string) string {
	t.Helper()
	for range 30 {
		w.Pass(t, 10*time.Second)
		mails := box.Mails()
		at := slices.IndexFunc(mails, func(m mailtest.Mail) bool { return m.To == to && strings.Contains(m.Data, text) })
		if at >= 0 {
			return mails[at].Data
		}
	}
	t.Fatalf("no mail to %s has %q", to, text)
	return ""
}

// A stranger who has the link that an empty server prints needs nothing but the console, and the command that it shows, until a
// colleague is mailed about an alert.
func TestStrangerReachesFirstPage(t *testing.T) {
	t.Parallel()
	box := mailtest.New(t, mailtest.Options{Plain: true})
	w := ended(t, world.BeginWith(t, t.TempDir(), func(c *app.Config) {
		c.Senders = app.Senders{
			Mail:  email.Server{Host: box.Host, Port: box.Port, From: "Tocsin <tocsin@example.com>", TLS: email.None},
			Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")},
		}
	}))
	const phrase = "correct horse battery staple"
	s := &stranger{Page: open(t, w)}

	s.clicks++ // the link in the terminal
	s.Open(w.Keys.LinkPath)
	s.enter("[name=new_password]", phrase)
	s.enter("[name=again]", phrase)
	s.follow("Set the password and sign in")
	s.See("Nobody can be paged yet")

	s.follow("Edit")
	s.enter("[name=email]", "anna@example.com")
	s.follow("form[action='/me'] button")
	s.follow("Page me")
	mailed(t, w, box, "anna@example.com", "Test")

	s.follow("Now")
	s.follow("Invite people")
	s.enter("form[action='/people'] [name=email]", "ben@example.com")
	s.follow("Invite")

	s.follow("Now")
	s.follow("Make a schedule")
	s.fields++
	choose(s.Page, "select[name='l0.g0.p0']", "ben")
	s.follow("Review the change")
	s.follow("Create the schedule")

	s.follow("Page who is on call")
	s.follow("Save")
	s.follow("Save")
	s.See("ben on call in On call")

	s.follow("Connect a source")
	s.follow("Prometheus Alertmanager")
	s.follow("Save")
	s.See("Waiting for the first event")

	command := page.Eval[string](s.Page, "[...document.querySelectorAll('pre')].map(e => e.textContent).find(t => t.startsWith('curl '))")
	if out, err := exec.Command("sh", "-c", command).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v %s", command, err, out)
	}
	mailed(t, w, box, "ben@example.com", "DiskFull")
	s.See("1 event in the last 7 days.")
	t.Logf("%d clicks and %d fields", s.clicks, s.fields)
	if s.clicks+s.fields >= mostActs {
		t.Errorf("%d clicks and fields, want fewer than %d", s.clicks+s.fields, mostActs)
	}
}
