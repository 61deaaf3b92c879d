package egress

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
)

// A reply that is read as it arrives ends with the error of the connection, whatever the reader makes of it, and is never longer
// than the request permits.
func TestReadAsItArrives(t *testing.T) {
	t.Parallel()
	own := errors.New("of the reader")
	for _, c := range []struct {
		name, body string
		length     int // declared
		limit      int64
		swallow    bool // the reader hides errors
		err        error
		want       Phase
	}{
		{name: "whole", body: "0123456789", length: 10, limit: 10},
		{name: "empty", limit: 10},
		{name: "longer than permitted", body: "0123456789", length: 10, limit: 9, want: TooLarge},
		{name: "longer than permitted, hidden", body: "0123456789", length: 10, limit: 9, swallow: true, want: TooLarge},
		{name: "cut", body: "0123", length: 10, limit: 100, swallow: true, want: EOF},
		{name: "the error of the reader", body: "0123", length: 4, limit: 100, err: own},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Length", fmt.Sprint(c.length))
				w.WriteHeader(http.StatusAccepted)
				io.WriteString(w, c.body)
			}))
			t.Cleanup(server.Close)
			client := New(Policy{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}}).Own(nil, 1)
			t.Cleanup(client.Close)
			var got string
			a, err := client.Do(t.Context(), Request{URL: server.URL, MaxReply: c.limit, Read: func(a Attempt, body io.Reader) error {
				b, err := io.ReadAll(body)
				got = string(b)
				if c.swallow {
					return nil
				}
				if a.Status != http.StatusAccepted {
					t.Errorf("status %d", a.Status)
				}
				return errors.Join(err, c.err)
			}})
			if c.err != nil && !errors.Is(err, c.err) || c.want != "" && phase(err) != c.want || c.want == "" && c.err == nil && (err != nil || got != c.body) {
				t.Errorf("%q %v", got, err)
			}
			if int64(len(got)) > c.limit || !strings.HasPrefix(c.body, got) || a.Status != http.StatusAccepted {
				t.Errorf("%q of %q with status %d", got, c.body, a.Status)
			}
		})
	}
}
