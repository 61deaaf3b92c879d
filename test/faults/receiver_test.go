package faults

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"maps"
	"math/big"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// fault is one way to misbehave. It has what the ledger must show of it.
type fault struct {
	name   string
	answer func(c net.Conn) // to a request that was read; the connection is closed afterwards
	secure *tls.Certificate // the endpoint has TLS with it
	https  bool             // the address begins with https
	codes  []int            // what the ledger may have as status code; 0: no reply
	why    string           // part of the ledger's reason; empty: the message was delivered
	after  [2]time.Duration // how long the retry waits at least and at most; zero: there is none
	unseen bool             // no request reaches it
	hangs  bool             // it answers too late, or never
}

// receiver is a real server on TCP with one fault. It writes down the requests that it has read.
type receiver struct {
	fault
	net.Listener
	serving sync.RWMutex // held for reading while a request is served
	mu      sync.Mutex
	seen    map[string]int // requests by Webhook-Id
	all     int            // requests
}

func start(t *testing.T, f fault) *receiver {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &receiver{fault: f, Listener: l, seen: map[string]int{}}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			r.serving.RLock()
			go func() {
				defer r.serving.RUnlock()
				r.serve(c)
			}()
		}
	}()
	return r
}

func (r *receiver) url() string {
	if r.https {
		return "https://" + r.Addr().String() + "/in"
	}
	return "http://" + r.Addr().String() + "/in"
}

// serve reads one request and answers it.
func (r *receiver) serve(c net.Conn) {
	defer c.Close()
	if r.secure != nil {
		c = tls.Server(c, &tls.Config{Certificates: []tls.Certificate{*r.secure}})
	}
	q, err := http.ReadRequest(bufio.NewReader(c))
	if err != nil {
		return
	}
	if _, err := io.Copy(io.Discard, q.Body); err != nil {
		return
	}
	r.mu.Lock()
	r.seen[q.Header.Get("Webhook-Id")]++
	r.all++
	r.mu.Unlock()
	r.answer(c)
}

func (r *receiver) requests() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.all
}

// saw returns the requests by Webhook-Id, and how many there were. It waits for requests that are being served: the
// client may be done with one before this process has written it down.
func (r *receiver) saw() (map[string]int, int) {
	r.serving.Lock()
	defer r.serving.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.seen), r.all
}

// text answers with a text.
func text(s string) func(net.Conn) {
	return func(c net.Conn) { io.WriteString(c, s) }
}

// status answers with a status and headers, and closes the connection.
func status(code int, headers ...string) func(net.Conn) {
	return text(fmt.Sprintf("HTTP/1.1 %d X\r\nContent-Length: 0\r\nConnection: close\r\n%s\r\n", code, strings.Join(append(headers, ""), "\r\n")))
}

// gone waits until the client has left.
func gone(c net.Conn) { io.Copy(io.Discard, c) }

// forever writes a text again and again until the client has left.
func forever(first, again string, pause time.Duration) func(net.Conn) {
	return func(c net.Conn) {
		for text := first; ; text = again {
			if _, err := io.WriteString(c, text); err != nil {
				return
			}
			time.Sleep(pause) // the fault is to be slow
		}
	}
}

// reset sends a text and resets the connection.
func reset(s string) func(net.Conn) {
	return func(c net.Conn) {
		io.WriteString(c, s)
		if tcp, ok := c.(*net.TCPConn); ok {
			tcp.SetLinger(0)
		}
	}
}

// bomb is a reply whose body is 64 MiB when it is unpacked.
func bomb() func(net.Conn) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	io.CopyN(z, zeros{}, 64<<20)
	z.Close()
	return text(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s", packed.Len(), packed.String()))
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { clear(b); return len(b), nil }

// authority signs certificates.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	pem         []byte
}

func newAuthority() (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	from := time.Now().Add(-time.Hour)
	c := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "faults"}, NotBefore: from, NotAfter: from.Add(48 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	return &authority{c, key, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})}, err
}

// sign returns a certificate for an address until a moment.
func (a *authority) sign(t *testing.T, address string, until time.Time) *tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: address}, NotBefore: until.Add(-24 * time.Hour), NotAfter: until,
		IPAddresses: []net.IP{net.ParseIP(address)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	der, err := x509.CreateCertificate(rand.Reader, c, a.certificate, &key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}
