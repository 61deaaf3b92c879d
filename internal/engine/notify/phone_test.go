package notify_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"tocsin/internal/engine/notify"
)

// A telephone link names an account and a message for a week. It cannot be changed, made by another server, or made from
// a link that acknowledges, nor the other way round.
func TestTelephoneLinksCannotBeForged(t *testing.T) {
	t.Parallel()
	made := func(l *notify.Links, message string) string {
		return strings.TrimPrefix(l.Phone(7, message, start), links.Base+"/phone/")
	}
	link := made(links, incidentID)
	if account, message, err := links.RedeemPhone(link, start.Add(7*24*time.Hour)); err != nil || account != 7 || message != incidentID {
		t.Errorf("%d %s %v", account, message, err)
	}
	if _, _, err := links.RedeemPhone(link, start.Add(7*24*time.Hour+time.Second)); !errors.Is(err, notify.ErrExpired) {
		t.Errorf("after a week: %v", err)
	}
	forged := map[string]string{
		"nothing":              "",
		"a part":               link[:40],
		"more":                 link + "AAAA",
		"spaces":               " " + link,
		"another server's key": made(&notify.Links{Base: links.Base, Key: []byte("another")}, incidentID),
		"the end of another":   link[:30] + made(links, "5e5e5e5e5e5e5e5e5e5e5e02")[30:],
		"an acknowledging one": token(links, 7, incidentID, 2, start),
	}
	for n := range link {
		forged["character "+link[:n]] = link[:n] + string('A'+(link[n]-'A'+1)%26) + link[n+1:]
	}
	for what, text := range forged {
		if _, _, err := links.RedeemPhone(text, start); text != link && !errors.Is(err, notify.ErrForged) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := links.Redeem(link, start); !errors.Is(err, notify.ErrForged) {
		t.Errorf("it acknowledges: %v", err)
	}
	if link := (&notify.Links{Key: links.Key}).Phone(7, incidentID, start); link != "" {
		t.Errorf("without a public URL: %s", link)
	}
	if link := links.Phone(7, "no message", start); link != "" {
		t.Errorf("of no message: %s", link)
	}
}

func FuzzRedeemPhone(f *testing.F) {
	f.Add(strings.TrimPrefix(links.Phone(7, incidentID, start), links.Base+"/phone/"))
	f.Fuzz(func(t *testing.T, text string) {
		account, message, err := links.RedeemPhone(text, start)
		if err == nil && links.Base+"/phone/"+text != links.Phone(account, message, start) {
			t.Errorf("%q is taken for %d %s", text, account, message)
		}
	})
}
