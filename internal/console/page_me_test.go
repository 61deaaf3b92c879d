package console_test

import (
	"net/http"
	"testing"

	"tocsin/internal/app"
	"tocsin/internal/sender/email"
)

// TestPageMe pages a person for a test, by the way that a real incident takes, and shows what came of it.
func TestPageMe(t *testing.T) {
	t.Parallel()
	w := begin(t)
	b := w.signIn(annKey)
	b.get("/me").shows("Page me now", "!Nothing was sent yet")
	test := b.post("/me/page", "severity", "Critical").shows("Nothing was sent yet")
	w.settle()
	b.get(test.path).shows("e-mail: ", "Sent", "!Nothing was sent yet")
	if n := len(w.mail.Mails()); n != 1 {
		t.Errorf("%d mails were sent", n)
	}
	b.post("/me/page", "severity", "Critical").showsWith(http.StatusTooManyRequests, "less than a minute ago")
	w.settle()
	if n := len(w.mail.Mails()); n != 1 {
		t.Errorf("%d mails were sent", n)
	}
	w.signIn(bobKey).post("/me/page", "severity", "Info").shows("Nothing was sent yet")
}

// A mail server that takes nothing is named with the cure, on the page of the test and on that of the incident.
func TestPageMeShowsFailedAttempts(t *testing.T) {
	t.Parallel()
	w := begin(t, func(c *app.Config) { c.Senders.Mail.TLS = email.StartTLS })
	b := w.signIn(annKey)
	test := b.post("/me/page", "severity", "Critical")
	w.settle()
	b.get(test.path).shows("1 attempt failed", "offers no encryption (STARTTLS)", "--smtp-tls none", "next attempt", "!Nothing was sent yet")
	b.get(b.get(test.path).link("/incidents/")).shows("Nobody was reached yet", "--smtp-tls none", "!Why you:")
}
