package main

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

func TestReceiver(t *testing.T) {
	handled := make(chan event, 10)
	r, err := newReceiver(secret, func(e event) { handled <- e })
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(r)
	defer s.Close()
	sign, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	post := func(id, signed, body string, at time.Time) int {
		t.Helper()
		signature, err := sign.Sign(id, at, []byte(signed))
		if err != nil {
			t.Fatal(err)
		}
		q, _ := http.NewRequest(http.MethodPost, s.URL, strings.NewReader(body))
		q.Header.Set("Webhook-Id", id)
		q.Header.Set("Webhook-Signature", "v1,bm8= "+signature)
		q.Header.Set("Webhook-Timestamp", strconv.FormatInt(at.Unix(), 10))
		reply, err := http.DefaultClient.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		reply.Body.Close()
		return reply.StatusCode
	}
	const body = `{"event_id": "a", "event_type": "i_new", "incident": {"title": "CPU is high"}}`
	now := time.Now()
	for _, c := range []struct {
		name, id, signed, body string
		at                     time.Time
		want                   int
	}{
		{"new", "a", body, body, now, 204},
		{"again", "a", body, body, now, 204},
		{"changed", "b", body, body + " ", now, 401},
		{"old", "b", body, body, now.Add(-time.Hour), 401},
		{"no JSON", "b", "x", "x", now, 400},
		{"another", "b", body, body, now, 204},
	} {
		if got := post(c.id, c.signed, c.body, c.at); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
	for range 2 {
		if e := <-handled; e.title() != "CPU is high" {
			t.Errorf("%+v", e)
		}
	}
	if len(handled) > 0 || len(r.queue) > 0 {
		t.Error("a message was handled twice")
	}
	if _, err := newReceiver("", nil); err == nil {
		t.Error("it starts without a secret")
	}
}
