package integration

import (
	"strings"
	"testing"
)

// TestWebhookHeaders checks that a webhook cannot have headers that would break the framing of a request, that belong to
// the connection or that Tocsin sets, in any case of letters, and that the error names them. Authorization is allowed.
func TestWebhookHeaders(t *testing.T) {
	refused := func(headers map[string]string) string {
		err := (&Settings{Endpoint: "https://example.com", Headers: headers}).checkWebhook("settings", WebhookAlert)
		if err == nil {
			return ""
		}
		return err.Error()
	}
	for _, name := range []string{"Host", "Content-Length", "Transfer-Encoding", "Connection", "Keep-Alive", "Proxy-Connection", "Proxy-Authorization", "Proxy-Authenticate",
		"TE", "Trailer", "Upgrade", "Expect", "Webhook-Id", "Webhook-Number", "Webhook-Timestamp", "Webhook-Signature"} {
		for _, written := range []string{name, strings.ToLower(name), strings.ToUpper(name)} {
			if why := refused(map[string]string{written: "x"}); !strings.Contains(why, "settings.headers") || !strings.Contains(why, `"`+written+`"`) {
				t.Errorf("%s: %q", written, why)
			}
		}
	}
	for _, name := range []string{"", "a b", "a:b", "a\r\nb", "é", "a(b", "a\x00"} {
		if why := refused(map[string]string{name: "x"}); !strings.Contains(why, "settings.headers") {
			t.Errorf("%q: %q", name, why)
		}
	}
	for _, value := range []string{"a\r\nX: y", "a\nb", "a\rb", "a\x00", "a\x7f"} {
		if why := refused(map[string]string{"X-Token": value}); !strings.Contains(why, `"X-Token"`) || strings.Contains(why, "a\r") {
			t.Errorf("%q: %q", value, why)
		}
	}
	if why := refused(map[string]string{"X-Token": "a", "x-token": "b"}); !strings.Contains(why, "twice") {
		t.Errorf("the same name twice: %q", why)
	}
	for _, name := range []string{"Authorization", "Content-Type", "User-Agent", "X-Token", "x_a!#$%&'*+-.^`|~1"} {
		if why := refused(map[string]string{name: "Bearer  tok\ten é"}); why != "" {
			t.Errorf("%s: %s", name, why)
		}
	}
}
