package blackbox

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"io/fs"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestFirstStartMakesOneAccountAndShowsItsKeyOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := serve(t, dir, "serve", "--listen", "127.0.0.1:0")
	if len(s.lines) != 4 || !strings.Contains(s.lines[0], "created account") || !strings.HasPrefix(s.lines[1], "tk_") {
		t.Fatalf("standard output before listening: %q", s.lines)
	}
	key := s.lines[1]
	if a := s.call(key, "/schedule/list", `{}`); a.status != 200 {
		t.Fatalf("the owner's key: %+v", a)
	}
	command, told := strings.CutPrefix(s.lines[2], "another key: tocsin ")
	if !told {
		t.Fatalf("the third line: %q", s.lines[2])
	}
	if a := s.call(must(t, dir, strings.Fields(command)...), "/schedule/list", `{}`); a.status != 200 {
		t.Fatalf("the key that %s makes: %+v", command, a)
	}
	if a := s.call("tk_wrong", "/schedule/list", `{}`); a.code != "Unauthorized" {
		t.Fatalf("a wrong key: %+v", a)
	}
	if code := s.stop(); code != 0 {
		t.Fatalf("exit code %d after SIGTERM", code)
	}
	if strings.Contains(s.log.String(), key) || strings.Contains(s.log.String(), "tk_wrong") {
		t.Error("the log holds a key")
	}
	if !strings.Contains(s.log.String(), "request_id=") {
		t.Errorf("the log has no request ids: %s", s.log)
	}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s can be read by others: %s", d.Name(), info.Mode())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	again := serve(t, dir, "serve", "--listen", "127.0.0.1:0")
	if len(again.lines) != 0 {
		t.Errorf("the second start says %q", again.lines)
	}
	if a := again.call(key, "/schedule/list", `{}`); a.status != 200 {
		t.Errorf("the key after a restart: %+v", a)
	}
}

func TestPagesAroundOperations(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir(), "serve", "--listen", "127.0.0.1:0")
	for path, want := range map[string]string{
		"/health":       `"status":"ok"`,
		"/openapi.json": `"openapi":"3.1.0"`,
		"/docs":         "/schedule/info",
		"/":             `name="app_key"`, // leads to the page to sign in
		"/metrics":      "tocsin_api_calls_total",
	} {
		s.call("none", "/schedule/info", `{}`) // so that the metrics count a call
		if status, body := s.get(path); status != 200 || !strings.Contains(body, want) {
			t.Errorf("GET %s: %d without %s", path, status, want)
		}
	}
}

func TestRepliesAreCompressedWhenAskedFor(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir(), "serve", "--listen", "127.0.0.1:0")
	r, err := http.NewRequest("GET", s.url+"/openapi.json", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept-Encoding", "gzip")
	reply, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	if got := reply.Header.Get("Content-Encoding"); got != "gzip" {
		t.Errorf("Content-Encoding %q", got)
	}
}

func TestRequestInFlightIsAnsweredBeforeEnd(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir(), "serve", "--listen", "127.0.0.1:0")
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	// The server has the request's head and waits for its body when the signal comes.
	fmt.Fprintf(conn, "POST /schedule/list?app_key=%s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n", s.lines[1])
	if b := make([]byte, 64); readSome(t, conn, b) == 0 {
		t.Fatal("no 100 Continue")
	}
	s.cmd.Process.Signal(syscall.SIGTERM)
	for { // until it accepts no new connections: then the shutdown has begun
		c, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
		if err != nil {
			break
		}
		c.Close()
	}
	fmt.Fprint(conn, "{}")
	reply, _ := io.ReadAll(conn)
	if !strings.HasPrefix(string(reply), "HTTP/1.1 200") {
		t.Errorf("reply %q", reply)
	}
	if code := s.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func readSome(t *testing.T, r io.Reader, b []byte) int {
	t.Helper()
	n, err := r.Read(b)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestLimitsCanBeChanged(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir(), "serve", "--listen", "127.0.0.1:0", "--limit-per-minute", "3")
	for i := range 4 {
		a := s.call(s.lines[1], "/schedule/list", `{}`)
		if want := map[bool]int{true: 200, false: 429}[i < 3]; a.status != want {
			t.Errorf("call %d: status %d, want %d", i+1, a.status, want)
		}
	}
}

// A client that asks for the alerts of a hundred incidents at once gets all of them, and the limit is kept. Without the
// flag it is refused at once, as in the contract.
func TestBurstOfReadsWaits(t *testing.T) {
	t.Parallel()
	for _, wait := range []string{"10s", "0s"} {
		s := serve(t, t.TempDir(), "serve", "--listen", "127.0.0.1:0", "--limit-per-second", "40", "--limit-wait", wait)
		const list = `{"start_time": 1776000000, "end_time": 1776000100}`
		begun := time.Now()
		statuses := make(chan int, 100)
		for range 100 {
			go func() { statuses <- s.call(s.lines[1], "/alert/list", list).status }()
		}
		got := map[int]int{}
		for range 100 {
			got[<-statuses]++
		}
		if wait == "0s" {
			if got[429] == 0 && time.Since(begun) < 2*time.Second {
				t.Errorf("without waiting: %v", got)
			}
			continue
		}
		if got[200] != 100 || time.Since(begun) < 2*time.Second { // the 81st is two seconds behind the first
			t.Errorf("%v after %s", got, time.Since(begun))
		}
	}
}

// A server that stops refuses the calls that wait, instead of answering them for half a minute.
func TestWaitingReadsDoNotHoldUpEnd(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir(), "serve", "--listen", "127.0.0.1:0", "--limit-per-second", "1", "--limit-per-minute", "0", "--limit-wait", "30s")
	const calls = 60
	statuses := make(chan int, calls)
	for range calls {
		go func() { statuses <- s.call(s.lines[1], "/alert/list", `{"start_time": 1, "end_time": 2}`).status }()
	}
	got := map[int]int{<-statuses: 1} // the first: the others wait, or come soon
	eventually(t, "all calls have come", func() bool {
		_, text := s.get("/metrics")
		return strings.Contains(text, fmt.Sprintf("tocsin_calls_waiting %d\n", calls-1-len(statuses)))
	})
	if code := s.stop(); code != 0 {
		t.Errorf("exit code %d: %s", code, s.log)
	}
	for range calls - 1 {
		got[<-statuses]++
	}
	if got[200] > calls/3 || got[200]+got[429] != calls {
		t.Errorf("%v", got)
	}
}

func TestTLS(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pool := certificate(t, dir)
	s := serve(t, dir, "serve", "--listen", "127.0.0.1:0", "--tls-cert", "cert.pem", "--tls-key", "key.pem")
	if !strings.HasPrefix(s.url, "https://") {
		t.Fatalf("listening on %s", s.url)
	}
	client := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}
	defer client.CloseIdleConnections()
	r, err := client.Get(s.url + "/health")
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	if r.StatusCode != 200 {
		t.Errorf("status %d", r.StatusCode)
	}
	client.CloseIdleConnections()
	renewed := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: certificate(t, dir)}, DisableKeepAlives: true}}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		r, err := renewed.Get(s.url + "/health")
		if err == nil {
			r.Body.Close()
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the server does not use the renewed certificate: %v", err)
		}
	}
	if r := tool(t, dir, "serve", "--tls-cert", "cert.pem"); r.code != 1 || !strings.Contains(r.err, "go together") {
		t.Errorf("a certificate without its key: %+v", r)
	}
}

// certificate writes a self-signed certificate for 127.0.0.1 and its key.
func certificate(t *testing.T, dir string) *x509.CertPool {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	for name, content := range map[string][]byte{"cert.pem": cert, "key.pem": pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(cert)
	return pool
}

// The health command exits with 0 while a server answers, and with 1 when there is none or it fails.
func TestHealth(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := serve(t, dir, "serve", "--db", "sqlite:tocsin.db", "--listen", "127.0.0.1:0")
	for _, args := range [][]string{{}, {"--ready"}} {
		r := tool(t, dir, append([]string{"health", "--server", s.url + "/"}, args...)...)
		if r.code != 0 || !strings.Contains(r.out, `"status":"ok"`) {
			t.Errorf("%v: %+v", args, r)
		}
	}
	failing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprintln(w, `{"status":"failing"}`)
	}))
	if r := tool(t, dir, "health", "--server", failing.URL); r.code != 1 || !strings.Contains(r.out, "failing") || !strings.Contains(r.err, "503") {
		t.Errorf("a server that fails: %+v", r)
	}
	failing.Close()
	if r := tool(t, dir, "health", "--server", failing.URL); r.code != 1 || r.err == "" {
		t.Errorf("no server: %+v", r)
	}
}
