package ingest_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"tocsin/internal/api/apitest"
	"tocsin/internal/platform/ratelimit"
)

// counting is a listener that counts the bytes that the server reads from all its connections.
type counting struct {
	net.Listener
	read *atomic.Int64
}

func (l counting) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return countedConn{c, l.read}, err
}

type countedConn struct {
	net.Conn
	read *atomic.Int64
}

func (c countedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.read.Add(int64(n))
	return n, err
}

// A body whose sender has no valid key is not read: 150 connections with 4 MiB each cost the headers, however the
// bodies are framed. The bound for chunked bodies is net/http's own: it discards up to twice 256 KiB so that a
// connection can be used again.
func TestBodiesWithoutKeyAreNotRead(t *testing.T) {
	t.Parallel()
	r := newFixture(t, ratelimit.Rate{})
	r.Call(apitest.KeyA, "/integration/disable", map[string]any{"integration_id": mine})
	var read atomic.Int64
	server := httptest.NewUnstartedServer(r.mux)
	server.Listener = counting{server.Listener, &read}
	server.Start()
	defer server.Close()

	for _, c := range []struct {
		path    string
		chunked bool
		most    int64 // bytes per connection
		says    string
	}{
		{"alert/standard", false, 16 << 10, "is required"},
		{"alert/standard?integration_key=guess", false, 16 << 10, "not a valid one"},
		{"alert/standard?integration_key=" + keyMine, false, 16 << 10, "disabled"},
		{"alert/nagios?integration_key=" + keyTheirs, false, 16 << 10, "there is no source"},
		{"change/standard", false, 16 << 10, "is required"},
		{"heartbeat?integration_key=guess", false, 16 << 10, "not a valid one"},
		{"alert/standard", true, 600 << 10, "is required"},
		{"alert/pagerduty", false, 16 << 10, "at most 524288 bytes"},
	} {
		t.Run(fmt.Sprint(c.path, " chunked ", c.chunked), func(t *testing.T) {
			const connections = 50
			before := read.Load()
			var all sync.WaitGroup
			for range connections {
				all.Go(func() {
					if answer := sendMuch(t, server.Listener.Addr().String(), "/event/push/"+c.path, c.chunked); !strings.Contains(answer, c.says) {
						t.Errorf("answered %q, want %q in it", answer, c.says)
					}
				})
			}
			all.Wait()
			if got := read.Load() - before; got > connections*c.most {
				t.Errorf("the server read %d bytes, %d per connection; want at most %d per connection", got, got/connections, c.most)
			}
		})
	}
}

// sendMuch sends a body of 4 MiB, as much of it as the server takes, and returns the answer's body.
func sendMuch(t *testing.T, address, path string, chunked bool) string {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Error(err)
		return ""
	}
	defer conn.Close()
	framing := "Content-Length: 4194304"
	if chunked {
		framing = "Transfer-Encoding: chunked"
	}
	fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n%s\r\n\r\n", path, framing)
	go func() {
		body := strings.Repeat(" ", 64<<10)
		if chunked {
			body = fmt.Sprintf("%x\r\n%s\r\n", len(body), body)
		}
		for range 64 {
			if _, err := io.WriteString(conn, body); err != nil {
				return // the server has closed the connection
			}
		}
		if chunked {
			io.WriteString(conn, "0\r\n\r\n")
		}
	}()
	reply, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Error(err)
		return ""
	}
	text, err := io.ReadAll(io.LimitReader(reply.Body, reply.ContentLength))
	if err != nil {
		t.Error(err)
	}
	return string(text)
}

// An integration that opens connections for large bodies and sends none of them blocks neither another integration nor
// another account.
func TestOneIntegrationDoesNotBlockOthers(t *testing.T) {
	t.Parallel()
	r := newFixture(t, ratelimit.Rate{})
	address := strings.TrimSuffix(strings.TrimPrefix(r.url, "http://"), "/event/push/")
	for range 100 {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "POST /event/push/alert/standard?integration_key=%s HTTP/1.1\r\nHost: x\r\nContent-Length: 4194304\r\n\r\n{", keyMine)
	}
	var second struct {
		Key string `json:"integration_key"`
	}
	r.Call(apitest.KeyA, "/integration/create", `{"integration_name":"second","integration_type":"standard","channel_id":1}`).Into(&second)
	large := []byte(strings.Repeat(" ", 2<<20) + one)
	for range 20 {
		if a := r.send("POST", "alert/standard?integration_key="+keyTheirs, large); a.status != 200 {
			t.Fatalf("another account: %d %s", a.status, a.Error.Message)
		}
		if a := r.send("POST", "alert/standard?integration_key="+second.Key, large); a.status != 200 {
			t.Fatalf("another integration: %d %s", a.status, a.Error.Message)
		}
	}
}
