package queriertest

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"tocsin/internal/querier"
)

var quiet = log.New(io.Discard, "", 0)

// PEM returns a certificate in PEM.
func PEM(raw []byte) []byte { return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw}) }

// SHA256 returns the fingerprint of a certificate.
func SHA256(raw []byte) string { return fmt.Sprintf("%x", sha256.Sum256(raw)) }

// Phases tests the phases of a connection test.
func (q Type) Phases(t *testing.T) {
	test := func(address, payload string) string {
		open, failed := q.Open(querier.Datasource{Type: q.Name, Address: address, Payload: []byte(payload)}, Out())
		if failed != nil {
			t.Fatal(failed)
		}
		defer open.Close()
		var told []string
		for _, p := range open.Test(context.Background()) {
			if p.OK {
				told = append(told, p.Name)
				continue
			}
			if p.Message == "" {
				t.Errorf("%s: no message", p.Name)
			}
			told = append(told, "not "+p.Name)
		}
		return strings.Join(told, " ")
	}
	good, refusing := httptest.NewServer(Write(200, q.Good)), httptest.NewServer(Write(401, ""))
	broken, secure := httptest.NewServer(Write(500, "")), httptest.NewUnstartedServer(Write(200, q.Good))
	secure.Config.ErrorLog = quiet
	secure.StartTLS()
	for _, s := range []*httptest.Server{good, refusing, broken, secure} {
		t.Cleanup(s.Close)
	}
	for _, c := range []struct{ address, payload, want string }{
		{good.URL, `{}`, "resolve dial sign_in query"},
		{refusing.URL, `{}`, "resolve dial not sign_in"},
		{broken.URL, `{}`, "resolve dial sign_in not query"},
		{secure.URL, `{}`, "resolve dial not tls"},
		{secure.URL, `{"tls_skip_verify": true}`, "resolve dial tls sign_in query"},
		{"http://127.0.0.1:1", `{}`, "resolve not dial"},
		{"http://169.254.169.254", `{}`, "resolve not dial"},
		{"http://no-such-host.invalid", `{}`, "not resolve"},
	} {
		if got := test(c.address, c.payload); got != c.want {
			t.Errorf("%s %s: %s, want %s", c.address, c.payload, got, c.want)
		}
	}
}

// Echo returns a server that answers with all that it received, which it stores in seen.
func Echo(status int, seen *string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		r.ParseForm()
		user, password, _ := r.BasicAuth()
		*seen = fmt.Sprint(r.URL, r.Header, r.Form, user, password)
		text, _ := json.Marshal(map[string]string{"status": "error", "errorType": "bad_data", "error": *seen})
		Write(status, string(text))(w, r)
	}
}
