package certificate

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

// newPair returns a certificate with a serial number, and its key.
func newPair(t *testing.T, serial int64) (cert, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(serial), NotAfter: time.Unix(2_000_000_000+serial, 0), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})
}

// TestCertificatesAreReadAgain renews a certificate as tools do: files replaced by new ones, and the link of a mounted
// secret turned to another folder. Files that are no pair change nothing and are reported once.
func TestCertificatesAreReadAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	put := func(folder string, cert, key []byte) { // whole, as renewals do
		t.Helper()
		must(os.MkdirAll(filepath.Join(dir, folder), 0o700))
		for name, text := range map[string][]byte{"tls.crt": cert, "tls.key": key} {
			path := filepath.Join(dir, folder, name)
			must(os.WriteFile(path+".new", text, 0o600))
			must(os.Rename(path+".new", path))
		}
	}
	cert, key := newPair(t, 1)
	put("one", cert, key)
	must(os.Symlink("one", filepath.Join(dir, "data")))
	var log bytes.Buffer
	metrics := prometheus.NewRegistry()
	c, err := Load(filepath.Join(dir, "data", "tls.crt"), filepath.Join(dir, "data", "tls.key"), slog.New(slog.NewTextHandler(&log, nil)), metrics)
	must(err)
	listener, err := tls.Listen("tcp", "127.0.0.1:0", c.Config())
	must(err)
	defer listener.Close()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			conn.(*tls.Conn).Handshake()
			conn.Close()
		}
	}()
	shows := func(what string, serial int64) {
		t.Helper()
		conn, err := tls.Dial("tcp", listener.Addr().String(), &tls.Config{InsecureSkipVerify: true})
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		defer conn.Close()
		if got := conn.ConnectionState().PeerCertificates[0].SerialNumber.Int64(); got != serial {
			t.Errorf("%s: the server shows certificate %d, want %d", what, got, serial)
		}
	}
	c.renew()
	shows("at the start", 1)
	cert, key = newPair(t, 2)
	put("one", cert, key)
	c.renew()
	shows("after the files were replaced", 2)
	other, _ := newPair(t, 3)
	put("one", other, key) // only one of the files so far
	c.renew()
	if strings.Contains(log.String(), "ERROR") {
		t.Errorf("between the replacement of two files: %s", &log)
	}
	for range 5 {
		c.renew()
	}
	shows("with a key of another certificate", 2)
	if n := strings.Count(log.String(), "level=ERROR"); n != 1 {
		t.Errorf("%d errors were logged: %s", n, &log)
	}
	must(os.Remove(filepath.Join(dir, "one", "tls.crt")))
	c.renew()
	c.renew()
	shows("with a file removed", 2)
	if n := strings.Count(log.String(), "level=ERROR"); n != 2 {
		t.Errorf("%d errors were logged: %s", n, &log)
	}
	cert, key = newPair(t, 4)
	put("two", cert, key)
	must(os.Symlink("two", filepath.Join(dir, "data.new")))
	must(os.Rename(filepath.Join(dir, "data.new"), filepath.Join(dir, "data")))
	c.renew()
	shows("after the link was turned", 4)
	if err := testutil.GatherAndCompare(metrics, strings.NewReader(`
# HELP tocsin_tls_certificate_expiry_timestamp_seconds When the TLS certificate that the server shows expires, Unix seconds.
# TYPE tocsin_tls_certificate_expiry_timestamp_seconds gauge
tocsin_tls_certificate_expiry_timestamp_seconds 2.000000004e+09
# HELP tocsin_tls_reloads_total Times that changed TLS files were read, by outcome.
# TYPE tocsin_tls_reloads_total counter
tocsin_tls_reloads_total{outcome="done"} 2
tocsin_tls_reloads_total{outcome="failed"} 2
`)); err != nil {
		t.Error(err)
	}
	if strings.Contains(log.String(), "PRIVATE") {
		t.Error("the log holds a key")
	}
}
