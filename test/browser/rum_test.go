package browser

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	"tocsin/test/browser/page"
	"tocsin/test/browser/world"
)

// hostileTitle is an error's message that would run if it were not shown as text.
const hostileTitle = `Cannot read <img src=x onerror=alert(1)> of undefined`

// anError reports an error of the demo's shop as the Datadog library does, stores the source map of one of its two files,
// and returns the id of its issue.
func anError(t *testing.T, w *world.World) string {
	t.Helper()
	var applications struct {
		Items []struct {
			ID    string `json:"application_id"`
			Token string `json:"client_token"`
			Type  string `json:"type"`
		} `json:"items"`
	}
	w.Do(t, "/rum/application/list", map[string]any{"limit": 100}, &applications)
	for _, a := range applications.Items {
		if a.Type != "browser" {
			continue
		}
		report(t, w, a.ID, a.Token)
		upload(t, w, "/assets/app.min.js")
		var issues struct {
			Items []struct {
				ID    string `json:"issue_id"`
				Error struct {
					Message string `json:"message"`
				} `json:"error"`
			} `json:"items"`
		}
		now := w.Clock.Now().UnixMilli()
		w.Do(t, "/rum/issue/list", map[string]any{"start_time": now - 3600_000, "end_time": now + 1, "application_ids": []string{a.ID}}, &issues)
		for _, i := range issues.Items {
			if strings.Contains(i.Error.Message, "<img") {
				return i.ID
			}
		}
	}
	t.Fatal("the error became no issue")
	return ""
}

func report(t *testing.T, w *world.World, application, token string) {
	t.Helper()
	const shop = "https://shop.example.com"
	stack := "TypeError: " + hostileTitle + "\n  at i @ " + shop + "/assets/app.min.js:1:273\n  at m @ " + shop + "/assets/app.min.js:1:484\n" +
		"  at run @ " + shop + "/node_modules/react/index.js:9:1\n  at tick @ " + shop + "/node_modules/react/index.js:10:1\n  at e @ " + shop + "/assets/lost.js:1:9"
	body, err := json.Marshal(map[string]any{
		"type": "error", "date": w.Clock.Now().UnixMilli(), "application": map[string]any{"id": application}, "session": map[string]any{"id": "s1", "type": "user"},
		"view": map[string]any{"id": "v1", "url": shop + "/cart"}, "service": "shop-web", "version": "1.4.2", "ddtags": "env:production,service:shop-web,version:1.4.2",
		"error": map[string]any{"id": "e1", "type": "TypeError", "source": "source", "handling": "unhandled", "message": hostileTitle, "stack": stack},
	})
	if err != nil {
		t.Fatal(err)
	}
	send(t, w, "/api/v2/rum?ddsource=browser&dd-api-key="+url.QueryEscape(token), "text/plain;charset=UTF-8", "", body)
	w.Pass(t, 0)
}

func upload(t *testing.T, w *world.World, minified string) {
	t.Helper()
	text, err := os.ReadFile("../../internal/core/symbols/testdata/app.min.js.map")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	err = form.WriteField("event", fmt.Sprintf(`{"type":"js_sourcemap","service":"shop-web","version":"1.4.2","minified_url":%q}`, minified))
	if err == nil {
		err = form.WriteField("source_map", string(text))
	}
	if err == nil {
		err = form.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	send(t, w, "/sourcemap/upload", form.FormDataContentType(), w.Keys.All, b.Bytes())
}

func send(t *testing.T, w *world.World, path, kind, key string, body []byte) {
	t.Helper()
	r, err := http.NewRequest(http.MethodPost, w.URL+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", kind)
	if key != "" {
		r.Header.Set("DD-API-KEY", key)
	}
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	if reply.StatusCode >= 300 {
		text, _ := io.ReadAll(reply.Body)
		t.Fatalf("%s: %d %s", path, reply.StatusCode, text)
	}
}

// The page of an error: own frames are open with the line that failed marked in the original code, those of libraries are
// folded, a missing source map names its file, and a hostile title is text.
func TestErrorInOriginalCode(t *testing.T) {
	w := begin(t)
	issue := anError(t, w)
	p := signedIn(t, w)
	p.Open("/rum/issues/" + issue)
	p.See(hostileTitle)
	p.See("applyCoupon")
	p.See("src/cart.ts:10")
	p.See("A source map is missing")
	p.See("/assets/lost.js")
	p.Unseen("/assets/app.min.js")
	if got := page.Eval[string](p, "document.querySelector('.code mark').innerText"); got != "10  return totalOf(items) * (1 - coupon!.rate);" {
		t.Errorf("the marked line is %q", got)
	}
	if n := page.Eval[int](p, "document.querySelectorAll('main img').length"); n != 0 {
		t.Errorf("%d pictures were made of a title", n)
	}
	p.Unseen("node_modules")
	p.Click("2 library frames")
	p.See("node_modules/react/index.js:10:1")
	p.Follow("As delivered")
	p.See("app.min.js:1:273")
	p.Unseen("src/cart.ts")
	p.Follow("Original code")
	p.See("src/cart.ts:10")

	o := once(t)
	for _, c := range []struct {
		width int
		dark  bool
		lang  string
	}{{1360, false, "en"}, {390, true, "en"}, {320, false, "zh"}} {
		p.Language(c.lang)
		p.Size(c.width, 844)
		p.Dark(c.dark)
		p.Open("/rum/issues/" + issue)
		o.note(p.Axe(), fmt.Sprint(c))
		if over, what := p.Sideways(); over > 0 {
			o.note([]string{"scrolls sideways: " + what}, fmt.Sprint(c))
		}
	}
	p.See("源代码")

	// The state is changed in place, and so is the cause.
	p.Language("en")
	p.Size(1360, 1000)
	p.Open("/rum/issues/" + issue)
	page.Eval[bool](p, "(document.getElementById('status').value = 'reviewed', true)")
	p.Click("Save the state")
	p.Has(".tags .tag:last-child")
	p.See("Reviewed")
}
