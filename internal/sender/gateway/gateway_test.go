package gateway_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"tocsin/internal/core/render"
	"tocsin/internal/sender"
	"tocsin/internal/sender/gateway"
	"tocsin/internal/sender/sendertest"
)

func TestSend(t *testing.T) {
	s := sendertest.New(t)
	s.Answer = sendertest.Answer{Status: 202, Body: `{"id":"c-9"}`}
	g := gateway.Gateway{URL: s.URL + "/page?account=" + sendertest.Token, Token: sendertest.Secret}
	if receipt, err := g.Send(context.Background(), s.Out, "sms", "+4915112345678", sendertest.Message); err != nil || receipt.Status != 202 || receipt.Reply != `{"id":"c-9"}` {
		t.Errorf("%+v %v", receipt, err)
	}
	if s.Header("Idempotency-Key") != sendertest.Message.Key {
		t.Errorf("key %q", s.Header("Idempotency-Key"))
	}
	m := sendertest.Message
	m.Phone = &sender.Phone{Callback: "https://tocsin.example/phone/" + sendertest.Token, Code: "0815", Ack: true, Escalate: true}
	if _, err := g.Send(context.Background(), s.Out, "voice", "+4915112345678", m); err != nil {
		t.Error(err)
	}
	drill := sendertest.Message
	drill.Test, drill.AckLink = true, ""
	g.Token, g.Header = "", http.Header{"x-api-key": {sendertest.Secret}}
	if _, err := g.Send(context.Background(), s.Out, "voice", "+4915112345678", drill); err != nil || s.Header("X-Api-Key") != sendertest.Secret || s.Header("Authorization") != "" {
		t.Errorf("%v, key %q", err, s.Header("X-Api-Key"))
	}
	s.Golden(t, "requests")
	drill.Text = render.Markup(strings.Repeat("火", 1000))
	if _, err := g.Send(context.Background(), s.Out, "sms", "+1", drill); err != nil || strings.Count(s.Body(), "火") != 479 {
		t.Errorf("%d characters, %v", strings.Count(s.Body(), "火"), err)
	}
	drill.Phone = m.Phone
	s.GivenUp(t, func(ctx context.Context) (sender.Receipt, error) { return g.Send(ctx, s.Out, "sms", "+1", drill) })
	s.Table(t, func() (sender.Receipt, error) { return g.Send(context.Background(), s.Out, "sms", "+1", drill) })
}

func TestAnyCertificate(t *testing.T) {
	secure := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer secure.Close()
	s := sendertest.New(t)
	for _, insecure := range []bool{true, false} {
		g := gateway.Gateway{URL: secure.URL, Insecure: insecure}
		if _, err := g.Send(context.Background(), s.Out, "sms", "+1", sendertest.Message); (err == nil) != insecure || err != nil && !sender.Retry(err) {
			t.Errorf("insecure %t: %v", insecure, err)
		}
	}
}
