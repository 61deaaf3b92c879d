package api

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"sync"
)

// serveStatic answers GET and HEAD with a document whose address never changes.
func serveStatic(w http.ResponseWriter, r *http.Request, document *Document) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "this document takes GET and HEAD", http.StatusMethodNotAllowed)
		return
	}
	w.Header().Set("Cache-Control", "no-cache") // clients must revalidate: an upgrade changes the document
	document.Serve(w, r)
}

// digest returns the SHA-256 in the form that content security policies use.
func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return base64.StdEncoding.EncodeToString(sum[:])
}

// OpenAPIHandler serves the document of OpenAPI, which is generated on the first request.
func (f *Frame) OpenAPIHandler() http.Handler {
	document := sync.OnceValue(func() *Document {
		text, err := f.OpenAPI()
		if err != nil {
			panic(err) // a programming error in our own types, found by the tests
		}
		return &Document{Kind: "application/json", Text: text, Tag: digest(text)}
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { serveStatic(w, r, document()) })
}
