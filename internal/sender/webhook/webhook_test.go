package webhook_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"tocsin/internal/platform/egress"
	"tocsin/internal/sender"
	"tocsin/internal/sender/sendertest"
	"tocsin/internal/sender/webhook"
)

// TestSignIsStandards checks the example in the documentation of Standard Webhooks.
func TestSignIsStandards(t *testing.T) {
	got := webhook.Sign("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", []byte(`{"test": 2432232314}`))
	if want := "g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestSend(t *testing.T) {
	status := http.StatusOK
	var header http.Header
	var body string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		header, body = r.Header, string(b)
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(status)
		io.WriteString(w, "so it is")
	}))
	defer s.Close()
	out := egress.New(egress.Policy{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}})
	now := func() time.Time { return time.Unix(1614265330, 0) }
	send := func(url string) (sender.Receipt, error) {
		return webhook.Sender{Now: now}.Send(context.Background(), out, sender.Chat{Token: url, SignSecret: "s"}, sender.Message{Key: "k", Data: []byte(`{"a":1}`)})
	}
	receipt, err := send(s.URL + "/hook/token-of-the-hook")
	if err != nil || receipt.Reply != "so it is" || body != `{"a":1}` || header.Get("Webhook-Id") != "k" || header.Get("Webhook-Timestamp") != "1614265330" ||
		header.Get("Webhook-Signature") != "v1,"+webhook.Sign("s", "k", "1614265330", []byte(`{"a":1}`)) {
		t.Errorf("%+v %v %v %s", receipt, err, header, body)
	}
	for code, retry := range map[int]bool{400: false, 401: false, 404: false, 410: false, 301: false, 408: true, 429: true, 500: true, 503: true} {
		status = code
		_, err := send(s.URL + "/hook/token-of-the-hook")
		var failed *sender.Error
		if !errors.As(err, &failed) || failed.Retry != retry || retry && failed.After != 7*time.Second || strings.Contains(failed.Error(), "token-of-the-hook") {
			t.Errorf("%d: %+v", code, err)
		}
	}
	s.Close()
	service := sendertest.New(t)
	service.GivenUp(t, func(ctx context.Context) (sender.Receipt, error) {
		return webhook.Sender{Now: now}.Send(ctx, service.Out, sender.Chat{Token: service.URL, SignSecret: "s"}, sendertest.Message)
	})
	var failed *sender.Error
	if _, err := send(s.URL + "/hook/token-of-the-hook"); !errors.As(err, &failed) || !failed.Retry || strings.Contains(failed.Error(), "token-of-the-hook") {
		t.Errorf("nobody there: %v", err)
	}
	if _, err := send("http://169.254.169.254/latest"); !errors.As(err, &failed) || failed.Retry {
		t.Errorf("refused: %v", err)
	}
}
