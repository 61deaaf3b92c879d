package api

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strings"
	"sync"
	"time"
)

// served answers GET and HEAD with a document made beforehand, and says so when the reader has it
// already.
func served(w http.ResponseWriter, r *http.Request, kind string, document []byte) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "this document takes GET and HEAD", http.StatusMethodNotAllowed)
		return
	}
	h.Set("Content-Type", kind)
	h.Set("Cache-Control", "no-cache") // ask again each time: an upgrade changes it
	h.Set("ETag", `"`+digest(document)+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(document))
}

// digest is SHA-256 in the form that content security policies use.
func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return base64.StdEncoding.EncodeToString(sum[:])
}

// OpenAPIHandler serves the document of OpenAPI, made when it is first asked for.
func (f *Frame) OpenAPIHandler() http.Handler {
	document := sync.OnceValue(func() []byte {
		text, err := f.OpenAPI()
		if err != nil {
			panic(err) // of our own types; a test has seen it pass
		}
		return text
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { served(w, r, "application/json", document()) })
}

// baseURL is how this request reached us, for examples that can be copied. The host is the caller's to
// choose, so one that is not plainly a host is not repeated.
func (f *Frame) baseURL(r *http.Request) string {
	host, scheme := r.Host, "http"
	if host == "" || strings.ContainsFunc(host, func(r rune) bool { return !isAlphanumeric(r) && !strings.ContainsRune("-.:[]", r) }) {
		host = "localhost"
	}
	if r.TLS != nil || trusted(peer(r), f.Proxies) && r.Header.Get("X-Forwarded-Proto") == "https" {
		scheme = "https"
	}
	return scheme + "://" + host
}
