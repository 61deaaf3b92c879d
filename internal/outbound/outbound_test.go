package outbound

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"
)

func TestWhatMayBeDialled(t *testing.T) {
	for address, want := range map[string]string{
		"127.0.0.1": "loopback", "127.9.9.9": "loopback", "::1": "loopback", "::ffff:127.0.0.1": "loopback", "64:ff9b::7f00:1": "loopback", "2002:7f00:1::": "loopback",
		"169.254.169.254": "link-local", "fe80::1%eth0": "link-local", "64:ff9b::a9fe:a9fe": "link-local", "0.0.0.0": "nobody", "0.1.2.3": "nobody", "::": "nobody",
		"224.0.0.1": "link-local", "239.1.1.1": "many", "255.255.255.255": "many", "ff02::1": "link-local", "2001:0:1::": "tunnel",
		"10.1.2.3": "", "192.168.0.1": "", "93.184.215.14": "", "2606:2800:21f::1": "", "100.64.0.1": "",
	} {
		err := Policy{}.check(netip.MustParseAddr(address))
		got := ""
		if err != nil {
			got = err.Error()
		}
		if want == "nobody" {
			want = "anybody"
		}
		if (err == nil) != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", address, got, want)
		}
	}
	strict := Policy{RefusePrivate: true, Allow: []netip.Prefix{netip.MustParsePrefix("10.9.0.0/16"), netip.MustParsePrefix("127.0.0.1/32")}}
	for address, ok := range map[string]bool{"10.1.2.3": false, "10.9.2.3": true, "fd00::1": false, "100.64.0.1": false, "127.0.0.1": true, "127.0.0.2": false} {
		if err := strict.check(netip.MustParseAddr(address)); (err == nil) != ok {
			t.Errorf("%s: %v", address, err)
		}
	}
}

var loopback = Policy{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}}

func phase(err error) string {
	var f *Failure
	if !errors.As(err, &f) {
		return ""
	}
	return f.Phase
}

// However this machine is spelled, it is the dialled address that counts.
func TestThisMachineIsNotCalled(t *testing.T) {
	called := false
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { called = true }))
	defer s.Close()
	port := s.URL[strings.LastIndex(s.URL, ":"):]
	for _, host := range []string{"127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "0.0.0.0", "[::ffff:7f00:1]"} {
		_, err := New(Policy{}).Do(context.Background(), Request{URL: "http://" + host + port + "/secret-in-the-path"})
		if phase(err) != "refused" || strings.Contains(err.Error(), "secret-in-the-path") {
			t.Errorf("%s: %s %v", host, phase(err), err)
		}
	}
	for _, odd := range []string{"http://2130706433" + port, "http://0x7f.1" + port, "ftp://example.com", "http://", "://"} {
		if _, err := New(Policy{}).Do(context.Background(), Request{URL: odd, Timeout: time.Second}); err == nil {
			t.Errorf("%s was called", odd)
		}
	}
	if called {
		t.Error("the server was called")
	}
}

func TestAnswers(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/redirect":
			http.Redirect(w, r, "/elsewhere", http.StatusFound)
		case "/elsewhere":
			t.Error("a redirect was followed")
		case "/endless":
			for {
				if _, err := w.Write(make([]byte, 4096)); err != nil {
					return
				}
			}
		case "/hang":
			<-r.Context().Done()
		case "/cut":
			panic(http.ErrAbortHandler)
		}
	}))
	defer s.Close()
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	c := New(loopback)
	a, err := c.Do(context.Background(), Request{URL: s.URL + "/redirect"})
	if err != nil || a.Status != http.StatusFound {
		t.Errorf("redirect: %d, %v", a.Status, err)
	}
	if a, err := c.Do(context.Background(), Request{URL: s.URL + "/endless"}); err != nil || len(a.Body) != MaxReply {
		t.Errorf("endless: %d bytes, %v", len(a.Body), err)
	}
	if _, err := c.Do(context.Background(), Request{URL: s.URL + "/hang", Timeout: 50 * time.Millisecond}); phase(err) != "timeout" {
		t.Errorf("hang: %s %v", phase(err), err)
	}
	if _, err := c.Do(context.Background(), Request{URL: s.URL + "/cut"}); phase(err) != "read" {
		t.Errorf("cut: %s %v", phase(err), err)
	}
	secure := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer secure.Close()
	if _, err := c.Do(context.Background(), Request{URL: secure.URL}); phase(err) != "tls" {
		t.Errorf("unknown certificate: %s %v", phase(err), err)
	}
	if a, err := c.Do(context.Background(), Request{URL: secure.URL, Insecure: true}); err != nil || a.Status != 200 {
		t.Errorf("any certificate: %d %v", a.Status, err)
	}
}
