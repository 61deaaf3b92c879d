package redact

import "testing"

func TestAddressesShowNoPath(t *testing.T) {
	for in, want := range map[string]string{
		`{"settings":{"url":"https://hooks.example.com/T0/B1/secret","alias":"#ops"}}`: `{"settings":{"url":"https://hooks.example.com/***","alias":"#ops"}}`,
		`{"webhook_url":"https://example.com"}`:                                        `{"webhook_url":"https://example.com"}`,
		`{"url":"no address"}`:                                                         `{"url":"***"}`,
		`{"webhooks":[{"type":"slack","settings":{"url":["https://a.b/c"]}}]}`:         `{"webhooks":[{"type":"slack","settings":{"url":["https://a.b/***"]}}]}`,
		`{"address":"https://example.com/path"}`:                                       `{"address":"https://example.com/path"}`,
	} {
		if got := JSON([]byte(in), 1000); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}
