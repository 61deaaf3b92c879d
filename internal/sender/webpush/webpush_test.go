package webpush

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"net/netip"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/SherClockHolmes/webpush-go"

	"tocsin/internal/platform/egress"
	"tocsin/internal/sender"
	"tocsin/internal/sender/webpushtest"
)

func TestMain(m *testing.M) {
	remove, err := webpushtest.Trust()
	if err != nil {
		panic(err)
	}
	code := m.Run()
	remove()
	os.Exit(code)
}

// browserOf is a browser as the sender knows it.
func browserOf(t *testing.T, b *webpushtest.Browser) Browser {
	t.Helper()
	var s struct {
		Endpoint string
		Keys     struct{ P256dh, Auth string }
	}
	if err := json.Unmarshal([]byte(b.Subscription()), &s); err != nil {
		t.Fatal(err)
	}
	return Browser{s.Endpoint, s.Keys.P256dh, s.Keys.Auth}
}

func server(t *testing.T) Server {
	t.Helper()
	private, public, err := webpush.GenerateVAPIDKeys()
	if err != nil {
		t.Fatal(err)
	}
	return Server{public, private, "https://tocsin.example.com"}
}

var loopback = egress.Policy{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}}

// TestBrowserReadsWhatIsSent sends messages through a push service that checks, and that decrypts them by itself.
func TestBrowserReadsWhatIsSent(t *testing.T) {
	s := webpushtest.New(t)
	b := s.Browser("phone")
	from := server(t)
	out := egress.New(loopback)
	m := sender.Message{
		Thread: "65f0c0ffee65f0c0ffee65f0", Subject: "[Critical] The shop is 倒", Severity: "Critical", Channel: "Shop", Why: "on call in Day",
		Link: "https://tocsin.example.com/incidents/1", AckLink: "https://tocsin.example.com/ack/x", Text: "is not sent",
	}
	if receipt, err := Send(t.Context(), out, from, browserOf(t, b), m); err != nil || receipt.Status != 201 {
		t.Fatalf("%+v, %v", receipt, err)
	}
	m.Severity, m.Subject = "Ok", "[Resolved] The shop is 倒"
	if _, err := Send(t.Context(), out, from, browserOf(t, b), m); err != nil {
		t.Fatal(err)
	}
	got := s.Got()
	if len(got) != 2 {
		t.Fatalf("%+v", got)
	}
	first, second := got[0], got[1]
	if first.Title != "[Critical] The shop is 倒" || first.Channel != "Shop" || first.Why != "on call in Day" || first.Text != "" || first.Quiet ||
		first.Ack != m.AckLink || first.Link != m.Link || first.Urgency != "high" || first.TTL != "86400" || first.Size > 4096 {
		t.Errorf("%+v", first)
	}
	if first.Topic == "" || len(first.Topic) > 32 || first.Topic != second.Topic || first.Tag != first.Topic || second.Urgency != "normal" || !second.Quiet {
		t.Errorf("%+v", second)
	}
}

// TestRefusals: neither the endpoint nor a key is in an error.
func TestRefusals(t *testing.T) {
	s := webpushtest.New(t)
	from, m := server(t), sender.Message{Subject: "x", Severity: "Info"}
	to := browserOf(t, s.Browser("phone"))
	secret := to.Endpoint[len(s.URL)+len("/send/"):]
	closed := to
	closed.P256dh = "AAAA"
	plain := to
	plain.Endpoint = "http://127.0.0.1:1/" + secret
	for name, c := range map[string]struct {
		out   *egress.Client
		to    Browser
		retry bool
	}{
		"an address of this machine": {egress.New(egress.Policy{RefusePrivate: true}), to, false},
		"a key that is none":         {egress.New(loopback), closed, false},
		"nobody listens":             {egress.New(loopback), plain, true},
	} {
		_, err := Send(context.Background(), c.out, from, c.to, m)
		if err == nil || sender.Retry(err) != c.retry || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v", name, err)
		}
	}
	s.Answer(func(*webpushtest.Browser) int { return 410 })
	if receipt, err := Send(t.Context(), egress.New(loopback), from, to, m); err == nil || sender.Retry(err) || receipt.Status != 410 || strings.Contains(err.Error(), secret) {
		t.Errorf("%+v %v", receipt, err)
	}
}

// TestPayloadFits: whatever a message holds, it fits, is whole characters, and shows that it was cut.
func TestPayloadFits(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	alphabet := []rune("aé倒🔔\"\\\n\x00\u2028<>&\u202e")
	text := func(most int) string {
		var b strings.Builder
		for range random.IntN(most) {
			b.WriteRune(alphabet[random.IntN(len(alphabet))])
		}
		return b.String()
	}
	for range 2000 {
		m := sender.Message{Subject: text(3000), Channel: text(300), Why: text(3000), Severity: "Critical", Thread: text(50),
			Link: "https://" + strings.Repeat("l", random.IntN(1500)), AckLink: "https://" + strings.Repeat("a", random.IntN(1500))}
		if random.IntN(2) == 0 {
			m.Channel, m.Why = "", ""
		}
		p := payload(m)
		body, err := json.Marshal(p)
		if err != nil || len(body) > maxPayload+1000 { // encoding/json escapes more than the sender does
			t.Fatalf("%d bytes, %v", len(body), err)
		}
		if !utf8.ValidString(p.Title) || len(m.Subject) > 2*maxTitle && !strings.HasSuffix(p.Title, "…") || len(p.Title) > maxTitle {
			t.Fatalf("the title %q of %q", p.Title, m.Subject)
		}
		if p.Ack != "" && p.Ack != m.AckLink || p.Link != "" && p.Link != m.Link {
			t.Fatal("half a link is sent")
		}
	}
}
