package api

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/klauspost/compress/gzhttp"
	"github.com/klauspost/compress/gzip"
)

// Document is a text that is the same for everyone who asks for it. It is compressed once, and all replies share its
// bytes: a reply that no one reads costs no memory of its own.
type Document struct {
	Kind string // its Content-Type
	Text []byte
	Tag  string // differs for each text

	zip    sync.Once
	zipped []byte // nil: it does not get shorter
}

// Serve answers GET and HEAD with the document, or with 304 when the client has it already.
func (d *Document) Serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Type", d.Kind)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Vary", "Accept-Encoding")
	text, tag := d.Text, d.Tag
	if acceptsGzip(r) && h.Get(gzhttp.HeaderNoCompression) == "" {
		if zipped := d.compressed(); zipped != nil {
			h.Set("Content-Encoding", "gzip")
			text, tag = zipped, tag+"-gzip"
		}
	}
	h.Set(gzhttp.HeaderNoCompression, "1") // else it would be compressed for each reply
	h.Set("ETag", `"`+tag+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(text))
}

// compressed returns the document as gzip; nil if that is hardly shorter, as of a picture.
func (d *Document) compressed() []byte {
	d.zip.Do(func() {
		var b bytes.Buffer
		w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
		if err != nil {
			panic(err) // the level is a constant
		}
		_, _ = w.Write(d.Text) // a buffer takes everything
		_ = w.Close()
		if b.Len() < len(d.Text)-len(d.Text)/8 {
			d.zipped = slices.Clip(b.Bytes())
		}
	})
	return d.zipped
}

// acceptsGzip reports whether the client takes replies in gzip.
func acceptsGzip(r *http.Request) bool {
	for coding := range strings.SplitSeq(strings.Join(r.Header["Accept-Encoding"], ","), ",") {
		name, weight, _ := strings.Cut(strings.TrimSpace(coding), ";")
		if name == "gzip" || name == "*" {
			weight = strings.TrimPrefix(strings.TrimSpace(weight), "q=")
			return strings.Trim(weight, "0.") != "" || weight == ""
		}
	}
	return false
}
