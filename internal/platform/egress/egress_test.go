package egress

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"
)

var loopback = Policy{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}}

func phase(err error) Phase {
	var f *Failure
	if !errors.As(err, &f) {
		return ""
	}
	return f.Phase
}

// The dialled address is checked, however the address of this machine is spelled.
func TestThisMachineIsNotCalled(t *testing.T) {
	t.Parallel()
	called := false
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { called = true }))
	defer s.Close()
	port := s.URL[strings.LastIndex(s.URL, ":"):]
	for _, host := range []string{"127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "0.0.0.0", "[::ffff:7f00:1]", "me:password@127.0.0.1"} {
		_, err := New(Policy{}).Do(context.Background(), Request{URL: "http://" + host + port + "/secret-in-the-path"})
		if phase(err) != Refused || strings.Contains(err.Error(), "secret-in-the-path") || strings.Contains(err.Error(), "password") {
			t.Errorf("%s: %s %v", host, phase(err), err)
		}
	}
	for _, odd := range []string{"2130706433", "0x7f.1", "0177.0.0.1", "127.1"} { // which the system may read as addresses
		c := New(Policy{})
		c.dialer.Resolver = nameServer(t, netip.MustParseAddr("127.0.0.1"))
		if _, err := c.Do(context.Background(), Request{URL: "http://" + odd + port}); err == nil {
			t.Errorf("%s was called", odd)
		}
	}
	for _, odd := range []string{"ftp://example.com", "http://", "://", "/path", "file:///etc/passwd"} {
		if _, err := New(Policy{}).Do(context.Background(), Request{URL: odd}); phase(err) != Malformed {
			t.Errorf("%s: %v", odd, err)
		}
	}
	if called {
		t.Error("the server was called")
	}
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/redirect":
			http.Redirect(w, r, "http://localhost:1/elsewhere", http.StatusFound)
		case "/endless":
			for {
				if _, err := w.Write(make([]byte, 4096)); err != nil {
					return
				}
			}
		case "/cut":
			panic(http.ErrAbortHandler)
		case "/cut-within":
			w.Header().Set("Content-Length", "100")
			io.WriteString(w, "half")
		case "/echo":
			body, _ := io.ReadAll(r.Body)
			w.Header().Set("Answer", r.Header.Get("question"))
			w.WriteHeader(http.StatusTeapot)
			fmt.Fprint(w, r.Method, " ", r.UserAgent(), " ", string(body))
		}
	}))
	defer s.Close()
	c := New(loopback)
	a, err := c.Do(context.Background(), Request{URL: s.URL + "/echo", Header: http.Header{"question": {"why"}}, Body: []byte("so")})
	if err != nil || a.Status != http.StatusTeapot || string(a.Body) != "POST Tocsin so" || a.Header.Get("Answer") != "why" || a.Took <= 0 {
		t.Errorf("echo: %+v, %v", a, err)
	}
	if a, err := c.Do(context.Background(), Request{URL: s.URL + "/redirect"}); err != nil || a.Status != http.StatusFound {
		t.Errorf("redirect: %d, %v", a.Status, err)
	}
	if a, err := c.Do(context.Background(), Request{URL: s.URL + "/endless"}); err != nil || len(a.Body) != MaxReply {
		t.Errorf("endless: %d bytes, %v", len(a.Body), err)
	}
	if _, err := c.Do(context.Background(), Request{URL: s.URL + "/cut"}); phase(err) != EOF {
		t.Errorf("cut: %s %v", phase(err), err)
	}
	if a, err := c.Do(context.Background(), Request{URL: s.URL + "/cut-within"}); phase(err) != EOF || a.Status != 200 || string(a.Body) != "half" {
		t.Errorf("cut within: %+v %s %v", a, phase(err), err)
	}
	s.Close()
	if _, err := c.Do(context.Background(), Request{URL: s.URL + "/echo"}); phase(err) != Dial {
		t.Errorf("nobody there: %s %v", phase(err), err)
	}
	for _, client := range []*http.Client{c.strict, c.lax} {
		if client.Transport.(*http.Transport).Proxy != nil {
			t.Error("there is a proxy")
		}
	}
}

func TestEncryption(t *testing.T) {
	t.Parallel()
	handler := http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})
	serve := func(change func(*tls.Config)) string {
		s := httptest.NewUnstartedServer(handler)
		s.TLS = &tls.Config{}
		change(s.TLS)
		s.Config.ErrorLog = log.New(io.Discard, "", 0)
		s.StartTLS()
		t.Cleanup(s.Close)
		return s.URL
	}
	plain := httptest.NewServer(handler)
	defer plain.Close()
	unknown, old := serve(func(*tls.Config) {}), serve(func(c *tls.Config) { c.MinVersion, c.MaxVersion = tls.VersionTLS10, tls.VersionTLS11 })
	c := New(loopback)
	for url, lax := range map[string]Phase{unknown: "", old: TLS, strings.Replace(plain.URL, "http:", "https:", 1): TLS} {
		if _, err := c.Do(context.Background(), Request{URL: url}); phase(err) != TLS {
			t.Errorf("%s: %s %v", url, phase(err), err)
		}
		if a, err := c.Do(context.Background(), Request{URL: url, Insecure: true}); phase(err) != lax || lax == "" && a.Status != 200 {
			t.Errorf("any certificate: %s: %d %v", url, a.Status, err)
		}
	}
}

// ending is a context that ends when done is closed, with the error why.
type ending struct {
	context.Context
	done chan struct{}
	why  error
}

func (e *ending) Done() <-chan struct{} { return e.done }

func (e *ending) Err() error {
	select {
	case <-e.done:
		return e.why
	default:
		return nil
	}
}

// then calls do as soon as a reply has begun.
type then struct {
	http.RoundTripper
	do func()
}

func (t then) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := t.RoundTripper.RoundTrip(r)
	t.do()
	return answer, err
}

// A request times out in each of its phases: the peer ends the context as soon as the request is there.
func TestTimeouts(t *testing.T) {
	t.Parallel()
	var now *ending
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/body" {
			io.WriteString(w, "half")
			w.(http.Flusher).Flush()
		} else {
			close(now.done)
		}
		<-r.Context().Done()
	}))
	defer s.Close()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	go func() {
		for {
			conn, err := silent.Accept()
			if err != nil {
				return
			}
			defer conn.Close()
			conn.Read(make([]byte, 1)) // the other's first word
			close(now.done)
		}
	}()
	for _, c := range []struct {
		url  string
		why  error
		want Phase
	}{
		{"https://" + silent.Addr().String(), context.DeadlineExceeded, TimeoutConnect},
		{s.URL + "/headers", context.DeadlineExceeded, TimeoutHeaders},
		{s.URL + "/headers", context.Canceled, Other},
	} {
		now = &ending{context.Background(), make(chan struct{}), c.why}
		if _, err := New(loopback).Do(now, Request{URL: c.url}); phase(err) != c.want {
			t.Errorf("%s: %s %v, want %s", c.url, phase(err), err, c.want)
		}
	}
	now = &ending{context.Background(), make(chan struct{}), context.DeadlineExceeded}
	c := New(loopback)
	c.strict.Transport = then{c.strict.Transport, func() { close(now.done) }}
	if a, err := c.Do(now, Request{URL: s.URL + "/body"}); phase(err) != TimeoutBody || a.Status != 200 || !strings.Contains(err.Error(), "did not end its answer in ") {
		t.Errorf("body: %+v %s %v", a, phase(err), err)
	}
	c = New(Policy{Allow: loopback.Allow, Timeout: time.Nanosecond})
	if _, err := c.Do(context.Background(), Request{URL: s.URL}); phase(err) != TimeoutConnect {
		t.Errorf("the policy's own time: %s %v", phase(err), err)
	}
}

// retry reports whether an error is a failure that a retry may cure.
func retry(err error) bool {
	var f *Failure
	return errors.As(err, &f) && f.Retry()
}

func TestConnections(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	conn, err := New(loopback).DialContext(context.Background(), "tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
	if _, err := New(Policy{}).DialContext(context.Background(), "tcp", listener.Addr().String()); phase(err) != Refused || retry(err) {
		t.Errorf("%s %v", phase(err), err)
	}
	listener.Close()
	if _, err := New(loopback).DialContext(context.Background(), "tcp", listener.Addr().String()); phase(err) != Dial || !retry(err) {
		t.Errorf("%s %v", phase(err), err)
	}
}
