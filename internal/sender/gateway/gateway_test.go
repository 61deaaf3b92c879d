package gateway_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"unicode/utf8"

	"tocsin/internal/outbound"
	"tocsin/internal/sender"
	"tocsin/internal/sender/gateway"
)

func TestSend(t *testing.T) {
	var header http.Header
	var body map[string]any
	status := http.StatusAccepted
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header = r.Header
		text, _ := io.ReadAll(r.Body)
		body = nil
		_ = json.Unmarshal(text, &body)
		w.WriteHeader(status)
	}))
	defer s.Close()
	out := outbound.New(outbound.Policy{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}})
	g := gateway.Gateway{URL: s.URL, Token: "secret"}
	m := sender.Message{Key: "k", Text: strings.Repeat("é", 600), Severity: "Critical", AckLink: "https://tocsin.example.com/ack/x", Test: true}
	if _, err := g.Send(context.Background(), out, "sms", "+15550100", m); err != nil {
		t.Fatal(err)
	}
	text, _ := body["text"].(string)
	if header.Get("Authorization") != "Bearer secret" || header.Get("Idempotency-Key") != "k" || body["kind"] != "sms" || body["to"] != "+15550100" || body["key"] != "k" ||
		body["ack_link"] != m.AckLink || body["test"] != true || utf8.RuneCountInString(text) != 480 || !strings.HasSuffix(text, "…") {
		t.Errorf("%v %v", header, body)
	}
	for code, retry := range map[int]bool{400: false, 429: true, 502: true} {
		status = code
		_, err := g.Send(context.Background(), out, "voice", "+15550100", m)
		failed, ok := err.(*sender.Error)
		if !ok || failed.Retry != retry || strings.Contains(failed.Message, "secret") {
			t.Errorf("%d: %v", code, err)
		}
	}
}
