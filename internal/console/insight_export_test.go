package console_test

import (
	"encoding/csv"
	"io"
	"net/http"
	"strings"
	"testing"
)

// file asks for a file as the form of a page does.
func (b *browser) file(path string) (*http.Response, string) {
	b.w.t.Helper()
	r, err := http.NewRequest(http.MethodPost, b.w.url+path, nil)
	b.w.must(err)
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	reply, err := b.client.Do(r)
	b.w.must(err)
	defer reply.Body.Close()
	body, err := io.ReadAll(reply.Body)
	b.w.must(err)
	return reply, string(body)
}

// TestInsightFiles downloads the table of each page of figures, and is refused what the operation refuses.
func TestInsightFiles(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.push(shopDown)
	b := w.signIn(ownerKey)
	for by, column := range map[string]string{"account": "incident_id", "team": "team_name", "channel": "channel_name", "responder": "responder_name"} {
		path := "/insight/export?by=" + by + "&days=28&unit=day"
		b.get("/insight?by="+by+"&days=28").shows(`action="/insight/export?by=`+by, "CSV")
		reply, body := b.file(path)
		rows, err := csv.NewReader(strings.NewReader(body)).ReadAll()
		if err != nil || reply.StatusCode != http.StatusOK || len(rows) < 2 || !strings.Contains(strings.Join(rows[0], " "), column) ||
			reply.Header.Get("Content-Type") != "text/csv; charset=utf-8" || !strings.Contains(reply.Header.Get("Content-Disposition"), ".csv") {
			t.Errorf("%s: %d %v %v %s", path, reply.StatusCode, err, reply.Header, body)
		}
	}
	if reply, body := b.file("/insight/export?by=team&from=0001-01-01"); reply.StatusCode != http.StatusBadRequest || !strings.Contains(body, "start_time") || !strings.Contains(body, "<main") {
		t.Errorf("an impossible window: %d %s", reply.StatusCode, body)
	}
	if reply := b.get("/audit"); !strings.Contains(reply.body, "insight") {
		t.Errorf("the audit log does not know of the files: %s", reply.main())
	}
}

// TestCompression compresses pages and assets, unless another site made the browser ask, which could guess what is in them
// by their length. Assets are kept for ever under their own address.
func TestCompression(t *testing.T) {
	t.Parallel()
	w := begin(t)
	b := w.signIn(ownerKey)
	get := func(path, from, etag string) *http.Response {
		r, err := http.NewRequest(http.MethodGet, w.url+path, nil)
		w.must(err)
		r.Header.Set("Accept-Encoding", "gzip")
		if from != "" {
			r.Header.Set("Sec-Fetch-Site", from)
		}
		if etag != "" {
			r.Header.Set("If-None-Match", etag)
		}
		reply, err := b.client.Do(r)
		w.must(err)
		reply.Body.Close()
		return reply
	}
	page := b.get("/").body
	start := strings.Index(page, "/assets/console.css?v=")
	style := page[start : start+strings.IndexByte(page[start:], '"')]
	for from, encoding := range map[string]string{"": "gzip", "none": "gzip", "same-origin": "gzip", "same-site": "", "cross-site": ""} {
		for _, path := range []string{"/", style} {
			if got := get(path, from, "").Header.Get("Content-Encoding"); got != encoding {
				t.Errorf("%s from %q is encoded as %q, want %q", path, from, got, encoding)
			}
		}
	}
	first := get(style, "", "")
	if first.Header.Get("Cache-Control") != "public, max-age=31536000, immutable" || first.Header.Get("Vary") != "Accept-Encoding" {
		t.Errorf("%s: %v", style, first.Header)
	}
	if again := get(style, "", first.Header.Get("ETag")); again.StatusCode != http.StatusNotModified {
		t.Errorf("%s again: %d", style, again.StatusCode)
	}
	start = strings.Index(page, "/assets/inter.woff2?v=")
	if font := get(page[start:start+strings.IndexByte(page[start:], '"')], "", ""); font.Header.Get("Content-Encoding") != "" {
		t.Errorf("the font, which is compressed already, is compressed again")
	}
}
