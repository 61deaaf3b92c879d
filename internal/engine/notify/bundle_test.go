package notify

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"tocsin/internal/core/render"
)

// The texts of a bundle of hostile titles fit their services, with the link and the number of those that are not listed.
func TestTextsOfBundleFit(t *testing.T) {
	t.Parallel()
	const link = "https://tocsin.example.com/ack/0123456789012345678901234567890123456789012345678901234567890123456789"
	b := &bundle{key: "bundle/page/b0b0b0b0b0b0b0b0b0b0b0b0", first: &Notification{Incident: "i", Cause: Page}, zone: time.UTC}
	for n := range 1000 {
		severity := []string{"Critical", "Warning"}[n/900]
		b.items = append(b.items, bundleItem{Severity: severity, Title: fmt.Sprint(n, strings.Repeat(" <@all> *火*_&", 40)), Channel: strings.Repeat("火", 100), start: 1})
	}
	for _, method := range []string{"slack", "discord", "teams", "feishu", "dingtalk", "wecom", "telegram", "zoom", "ntfy"} {
		to, _ := render.For(method)
		text := string(b.list(to, link, maxChat))
		if len(text) > maxChat+100 || !strings.Contains(text, "1000 incidents need you: 900 Critical in ") || !strings.Contains(text, link[:30]) || !strings.Contains(text, " more") {
			t.Errorf("%s: %d bytes: %s", method, len(text), text)
		}
	}
	for _, link := range []string{link, ""} {
		if text := string(b.short(render.Short, link)); len([]rune(text)) > maxShort || !strings.HasSuffix(text, link) || !strings.Contains(text, " more") {
			t.Errorf("%d characters: %s", len([]rune(text)), text)
		}
	}
	mail, err := b.html(link)
	if err != nil || strings.Contains(string(mail), "<@all>") || strings.Count(string(mail), "<div ") != maxListed+1 || !strings.Contains(string(mail), "and 960 more") {
		t.Errorf("%v %s", err, mail)
	}
}

// One item more than is listed, and a channel without a name.
func TestFirstLineOfBundle(t *testing.T) {
	t.Parallel()
	b := &bundle{first: &Notification{Incident: "i", Cause: Page}, zone: time.UTC}
	add := func(n int, severity, channel string) {
		for range n {
			b.items = append(b.items, bundleItem{Severity: severity, Channel: channel, Title: "T"})
		}
	}
	add(31, "Critical", "Payments")
	add(10, "Warning", "Shop")
	add(3, "Warning", "")
	add(2, "Info", "Shop")
	add(1, "Info", "Mail")
	if got, want := b.head(), "47 incidents need you: 31 Critical in Payments, 10 Warning in Shop, 3 Warning, 3 more"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	b.first = &Notification{Incident: "i", Cause: Recovery}
	if got := b.head(); !strings.HasPrefix(got, "47 incidents are over: 31 Critical in Payments") {
		t.Error(got)
	}
	one := bundleItem{Severity: "Critical", Title: "T"}
	for cause, want := range map[string]string{
		Page:     "1 incident needs you: 1 Critical, and 1 message of Tocsin",
		Recovery: "1 incident is over: 1 Critical, and 1 message of Tocsin",
		Acked:    "1 incident is acknowledged: 1 Critical, and 1 message of Tocsin",
		Merged:   "1 incident is part of a merge: 1 Critical, and 1 message of Tocsin",
	} {
		b := &bundle{first: &Notification{Cause: cause}, items: []bundleItem{one, {Title: "T"}}}
		if got := b.head(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
