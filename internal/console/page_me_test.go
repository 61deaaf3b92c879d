package console_test

import (
	"net/http"
	"testing"
)

// TestPageMe pages a person for a test, by the way that a real incident takes, and shows what came of it.
func TestPageMe(t *testing.T) {
	t.Parallel()
	w := begin(t)
	b := w.signIn(annKey)
	b.get("/me").shows("Page me now", "!Nothing was sent yet")
	test := b.post("/me/page", "severity", "Critical").shows("Nothing was sent yet")
	w.settle()
	b.get(test.path).shows("email: ", "Sent", "!Nothing was sent yet")
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
