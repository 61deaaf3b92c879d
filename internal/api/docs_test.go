package api_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"tocsin/internal/api"
	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
)

func getDocs(h http.Handler, change func(*http.Request)) *httptest.ResponseRecorder {
	r := httptest.NewRequest("GET", "http://tocsin.example:8080/docs", nil)
	if change != nil {
		change(r)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

func TestReferenceShowsEveryOperation(t *testing.T) {
	t.Parallel()
	s, ops := golden(t)
	w := getDocs(s.Frame.Docs(), nil)
	page := html.UnescapeString(w.Body.String())
	if w.Code != 200 || w.Header().Get("Content-Type") != "text/html; charset=utf-8" || w.Header().Get("X-Content-Type-Options") != "nosniff" || w.Header().Get("Referrer-Policy") != "no-referrer" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
	for _, op := range ops {
		for _, part := range []string{op.Path, op.Doc, `curl "$TOCSIN_URL` + op.Path + `"`, "-d '" + op.Example + "'", strings.TrimSpace(string(op.Reply))} {
			if !strings.Contains(page, part) {
				t.Errorf("%s: %s is missing", op.Path, part)
			}
		}
	}
	for _, part := range []string{
		"API reference, build test · 7 operations", "Schedules Read (on-call) or Schedules Manage (on-call)", "any valid app key",
		"Nothing is lost.", "writes; the audit log records it as toy:write:create", "toy:write:open; marked as dangerous there",
		"at most 50 a second and 1000 a minute per account; a body of at most 2000 bytes", "a body of at most 1 MiB",
		"RequestTooFrequently", "<td>429</td>", "ResourceNotFound",
	} {
		if !strings.Contains(page, part) {
			t.Errorf("%q is missing", part)
		}
	}
}

// TestFieldsInWords checks the rows of the request that has every kind of field.
func TestFieldsInWords(t *testing.T) {
	t.Parallel()
	s, _ := golden(t)
	page := getDocs(s.Frame.Docs(), nil).Body.String()
	article := page[strings.Index(page, `<article id="toy-echo"`):]
	article = article[:strings.Index(article, "</article>")]
	request := html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(article[:strings.Index(article, "<h4>Reply")], ""))
	request = strings.Join(strings.Fields(request), " ")
	for _, row := range []string{
		"name required string 1 to 5 characters What it is called.",
		"count required int64 1 to 100 How many.",
		"maybe required null or Api_testPart A part, or null for none.",
		"huge optional uint64 Any unsigned 64-bit integer.",
		"small optional int8 A small integer.",
		"mode optional int64 one of 0, 1 0 or 1.",
		"ratio optional number 0 to 0.5 A share.",
		"on optional boolean Whether it is on.",
		"kind optional string one of red, blue Its colour.",
		"id optional string 4 hexadecimal digits Its identifier.",
		"code optional string matches ^[A-Z]*$ Capital letters.",
		"tags optional array of string 1 to 3 items each at most 4 characters Words.",
		"ids optional array of uint64 at most 4 items Identifiers.",
		"labels optional object of string Labels by name.",
		"parts optional array of Api_testPart What it is made of.",
		"free optional any JSON Any document.",
		"at optional time (RFC 3339) When.",
		"colours optional array of string Types that write themselves.",
		"shapes optional array of string or array of array of string each each at most 4 characters Lists, or one of them.",
		"colour optional string at most 3 characters As shown.",
		"weight required int64 at least 0 Grams.",
		"size required int64 at least 1 Litres. note optional null or string A note. * optional any JSON Other members are stored unchanged.",
	} {
		if !strings.Contains(request, row) {
			t.Errorf("no row %q in\n%s", row, request)
		}
	}
	if strings.Index(request, "name required") > strings.Index(request, "count required") || strings.Index(request, "count required") > strings.Index(request, "big optional") {
		t.Error("the fields are not in the order of their declaration")
	}
}

func TestReferenceIsOnePage(t *testing.T) {
	t.Parallel()
	s, _ := golden(t)
	w := getDocs(s.Frame.Docs(), nil)
	page, policy := w.Body.String(), w.Header().Get("Content-Security-Policy")
	for element, directive := range map[string]string{"style": "style-src", "script": "script-src"} {
		found := regexp.MustCompile(`(?s)<`+element+`>(.*?)</`+element+`>`).FindAllStringSubmatch(page, -1)
		if len(found) != 1 {
			t.Fatalf("%d of <%s>", len(found), element)
		}
		sum := sha256.Sum256([]byte(found[0][1]))
		if want := directive + " 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "';"; !strings.Contains(policy, want) {
			t.Errorf("the policy %s lacks %s", policy, want)
		}
	}
	for _, part := range []string{"default-src 'none';", "connect-src 'self';", "base-uri 'none';", "form-action 'none';", "frame-ancestors 'none'"} {
		if !strings.Contains(policy, part) {
			t.Errorf("the policy lacks %s", part)
		}
	}
	if strings.Contains(policy, "unsafe") {
		t.Errorf("%s", policy)
	}
	ids, links := map[string]bool{}, []string{}
	parsed := xml.NewDecoder(strings.NewReader(page[:strings.Index(page, "<script>")]))
	parsed.Strict = false
	parsed.AutoClose = xml.HTMLAutoClose
	parsed.Entity = xml.HTMLEntity
	for {
		token, err := parsed.Token()
		if errors.Is(err, io.EOF) || token == nil {
			break
		}
		e, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		if regexp.MustCompile("^(link|script|img|iframe|object|embed|base|form)$").MatchString(e.Name.Local) {
			t.Errorf("<%s> in a page of one part", e.Name.Local)
		}
		for _, a := range e.Attr {
			switch name := a.Name.Local; {
			case name == "style" || strings.HasPrefix(name, "on") || name == "src":
				t.Errorf("<%s %s=%q>", e.Name.Local, name, a.Value)
			case name == "id" && ids[a.Value]:
				t.Errorf("two elements have the id %s", a.Value)
			case name == "id":
				ids[a.Value] = true
			case name == "href" && strings.HasPrefix(a.Value, "#"):
				links = append(links, a.Value[1:])
			case name == "href" && a.Value != "openapi.json":
				t.Errorf("a link to %s", a.Value)
			}
		}
	}
	for _, link := range links {
		if !ids[link] {
			t.Errorf("a link to #%s, which is not there", link)
		}
	}
	if len(links) < 20 {
		t.Errorf("only %d links were found", len(links))
	}
}

// TestOperationTextsAreEscaped: no text in a table of operations can become markup.
func TestOperationTextsAreEscaped(t *testing.T) {
	t.Parallel()
	type tricky struct {
		Name string `json:"name" doc:"</td><script>alert(1)</script>"`
	}
	ops := []api.Op{{Path: "/toy/tricky", Doc: `<img src=x onerror="alert(1)">`, Notes: `</article><script>`, Example: `{"name":"it's <b> & 'more'"}`,
		Allow: []auth.Permission{auth.TeamsRead}, Reply: []byte(`{"request_id":"</code></pre><script>"}`),
		Do: api.Do(func(*api.Call, tricky) (api.Empty, error) { return api.Empty{}, nil })}}
	page := getDocs(apitest.Start(t, ops).Frame.Docs(), nil).Body.String()
	if n := strings.Count(page, "<script"); n != 1 || strings.Contains(page, "<img") || strings.Contains(page, "<b>") {
		t.Errorf("%d scripts", n)
	}
	if !strings.Contains(html.UnescapeString(page), `-d '{"name":"it'\''s <b> & '\''more'\''"}'`) {
		t.Error("the shell would read another body")
	}
}

func TestReferenceIsServed(t *testing.T) {
	t.Parallel()
	h := apitest.Start(t, toys()).Frame.Docs()
	tag := getDocs(h, nil).Header().Get("ETag")
	unchanged := getDocs(h, func(r *http.Request) { r.Header.Set("If-None-Match", tag) })
	elsewhere := getDocs(h, func(r *http.Request) { r.Host = `"><script>` })
	head := getDocs(h, func(r *http.Request) { r.Method = "HEAD" })
	post := getDocs(h, func(r *http.Request) { r.Method = "POST" })
	if unchanged.Code != 304 || elsewhere.Header().Get("ETag") != tag || head.Code != 200 || head.Body.Len() != 0 || post.Code != 405 || post.Header().Get("Allow") != "GET, HEAD" {
		t.Errorf("unchanged %d, elsewhere %d, HEAD %d, POST %d", unchanged.Code, elsewhere.Code, head.Code, post.Code)
	}
}
