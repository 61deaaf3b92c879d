package api_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"tocsin/internal/api"
	"tocsin/internal/api/apitest"
	"tocsin/internal/platform/ratelimit"
)

// begin opens a connection and sends the header of a call and the first byte of a body of size bytes.
func begin(t *testing.T, s *apitest.Server, key string, size int) net.Conn {
	t.Helper()
	at, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", at.Host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	fmt.Fprintf(conn, "POST %s?app_key=%s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n{", list, key, size)
	return conn
}

// readAnswer reads the reply from a connection that begin opened.
func readAnswer(t *testing.T, conn net.Conn) (status int, header http.Header, text string) {
	t.Helper()
	reply, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(io.LimitReader(reply.Body, reply.ContentLength))
	if err != nil {
		t.Fatal(err)
	}
	return reply.StatusCode, reply.Header, string(body)
}

// holds waits until bodies hold this many bytes.
func holds(s *apitest.Server, bytes int64) {
	for api.BodyBytes(s.Frame) != bytes {
		time.Sleep(time.Millisecond)
	}
}

// TestBodiesAreBoundedOverAllConnections: an account that sends bodies without end is asked to retry. Another account
// is answered meanwhile, and every call is answered once the bodies have arrived.
func TestBodiesAreBoundedOverAllConnections(t *testing.T) {
	t.Parallel()
	const size = 700 << 10
	s := withToys(apitest.Start(t, toys()))
	api.SetBodies(s.Frame, 3<<20, time.Millisecond, time.Minute)
	greedy := []net.Conn{begin(t, s, apitest.KeyA, size)}
	holds(s, size)
	for range 3 {
		status, header, text := readAnswer(t, begin(t, s, apitest.KeyA, size))
		if status != 503 || !strings.Contains(text, "ServiceUnavailable") || header.Get("Retry-After") != "5" {
			t.Fatalf("one more of the same key: %d %v %s", status, header, text)
		}
	}
	for _, key := range []string{apitest.KeyReader, apitest.KeyB} {
		if r := s.Call(key, list, `{}`+strings.Repeat(" ", 100<<10)); r.Code != "" {
			t.Errorf("another key meanwhile: %s", r.Body)
		}
	}
	holds(s, size)
	for _, conn := range greedy {
		if _, err := io.WriteString(conn, "}"+strings.Repeat(" ", size-2)); err != nil {
			t.Fatal(err)
		}
		if status, _, text := readAnswer(t, conn); status != 200 {
			t.Errorf("a complete body: %d %s", status, text)
		}
	}
	holds(s, 0)
}

// TestSlowBodiesAreRefused: a body that arrives too slowly is refused, and its bytes are released.
func TestSlowBodiesAreRefused(t *testing.T) {
	t.Parallel()
	s := withToys(apitest.Start(t, toys()))
	api.SetBodies(s.Frame, 3<<20, time.Millisecond, 20*time.Millisecond)
	status, _, text := readAnswer(t, begin(t, s, apitest.KeyA, 1000))
	if status != 400 || !strings.Contains(text, "the body did not arrive in time") {
		t.Errorf("answered %d %s", status, text)
	}
	holds(s, 0)
}

// TestRefusalsDoNotWaitForBody: a call that is refused for its path, key, limit or permission is answered before any
// of its body has arrived.
func TestRefusalsDoNotWaitForBody(t *testing.T) {
	t.Parallel()
	s := withToys(apitest.StartWith(t, ratelimit.Rate{PerSecond: 1000, PerMinute: 1}, toys()))
	s.Call(apitest.KeyB, list, `{}`)
	at, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path, key string
		status    int
	}{
		{"/toy/none", apitest.KeyA, 404}, {list, "", 401}, {list, "tk_guess", 401}, {list, apitest.KeyB, 429}, {create, apitest.KeyNothing, 403},
	} {
		conn, err := net.Dial("tcp", at.Host)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "POST %s?app_key=%s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nExpect: 100-continue\r\nContent-Length: 1000000\r\n\r\n", c.path, c.key)
		if status, _, text := readAnswer(t, conn); status != c.status {
			t.Errorf("%s with key %q: %d %s", c.path, c.key, status, text)
		}
		conn.Close()
	}
	holds(s, 0)
}
