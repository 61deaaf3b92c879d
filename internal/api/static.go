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

// serveStatic answers GET and HEAD with a prepared document, or with 304 when the client has it already. tag is different for
// each document: its digest is computed once, because anyone may ask.
func serveStatic(w http.ResponseWriter, r *http.Request, kind, tag string, document []byte) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "this document takes GET and HEAD", http.StatusMethodNotAllowed)
		return
	}
	h.Set("Content-Type", kind)
	h.Set("Cache-Control", "no-cache") // clients must revalidate: an upgrade changes the document
	h.Set("ETag", `"`+tag+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(document))
}

// digest returns the SHA-256 in the form that content security policies use.
func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return base64.StdEncoding.EncodeToString(sum[:])
}

// OpenAPIHandler serves the document of OpenAPI, which is generated on the first request.
func (f *Frame) OpenAPIHandler() http.Handler {
	document := sync.OnceValues(func() (text []byte, tag string) {
		text, err := f.OpenAPI()
		if err != nil {
			panic(err) // a programming error in our own types, found by the tests
		}
		return text, digest(text)
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, tag := document()
		serveStatic(w, r, "application/json", tag, text)
	})
}

// baseURL returns the URL of this server as the request reached it, for examples that can be copied. The caller chooses
// the Host header, so a value that is not plainly a host is not repeated.
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
