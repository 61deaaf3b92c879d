package sourcemap_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"testing"

	"tocsin/internal/api"
	"tocsin/internal/api/apitest"
	"tocsin/internal/auth"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fair"
	"tocsin/internal/platform/ratelimit"
	"tocsin/internal/sourcemap"
)

// fixture is a server with the operations, and the endpoint of uploads beside it.
type fixture struct {
	*apitest.Server
	t       *testing.T
	uploads http.Handler
	service *sourcemap.Service
}

func start(t *testing.T, rate ratelimit.Rate) *fixture {
	service := sourcemap.New(sourcemap.Config{Rate: rate, Pace: fair.NewQueue(fair.Rare, nil)})
	s := apitest.StartConfig(t, func(c *api.Config) { service.DB, service.Keys = c.DB, c.Keys }, service.Ops())
	service.Guesses = s.Frame.Guesses
	return &fixture{s, t, s.Frame.Endpoint(service.Uploads()), service}
}

// event is what a build states about a map.
func event(version, minified string) string {
	return fmt.Sprintf(`{"cli_version":"3.0.2","minified_url":%q,"project_path":"web","service":"shop-web","type":"js_sourcemap",
		"version":%q,"git_repository_url":"git@git.example.com:shop/web.git","git_commit_sha":"2577bcc913e7d8a94d8dfacca4c73bca1fa91dc2"}`, minified, version)
}

func theMap(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile("../core/symbols/testdata/app.min.js.map")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// form returns the parts of a form in pairs of name and text, and its content type.
func form(parts ...string) ([]byte, string) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for i := 0; i < len(parts); i += 2 {
		part, _ := w.CreateFormFile(parts[i], "x")
		_, _ = part.Write([]byte(parts[i+1]))
	}
	_ = w.Close()
	return b.Bytes(), w.FormDataContentType()
}

// send uploads a form as the public program does.
func (f *fixture) send(key string, parts ...string) apitest.Reply {
	f.t.Helper()
	body, kind := form(parts...)
	return f.post(key, kind, body)
}

func (f *fixture) post(key, kind string, body []byte) apitest.Reply {
	f.t.Helper()
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	_, _ = w.Write(body)
	_ = w.Close()
	r := httptest.NewRequest(http.MethodPost, "/sourcemap/upload", &zipped)
	r.Header.Set("Content-Type", kind)
	r.Header.Set("Content-Encoding", "gzip")
	r.Header.Set("DD-EVP-ORIGIN", "flashcat-cli_sourcemaps")
	if key != "" {
		r.Header.Set("DD-API-KEY", key)
	}
	recorder := httptest.NewRecorder()
	f.uploads.ServeHTTP(recorder, r)
	reply, err := apitest.ReadReply(recorder.Code, recorder.Header(), recorder.Body.Bytes())
	if err != nil {
		f.t.Fatal(err)
	}
	return reply
}

// mustSend uploads a map that is accepted.
func (f *fixture) mustSend(key, event, text string) {
	f.t.Helper()
	if r := f.send(key, "event", event, "source_map", text, "minified_file", "x", "repository", "{}"); r.Status != 200 {
		f.t.Fatalf("%d %s", r.Status, r.Body)
	}
}

const window = `"start_time":1776000000000,"end_time":1777000000000`

// TestUploadsAreReadInTurn: one upload is read at a time, over all accounts.
func TestUploadsAreReadInTurn(t *testing.T) {
	t.Parallel()
	f := start(t, ratelimit.Rate{})
	another, err := f.service.Pace.Enter(t.Context(), fair.Flow{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	statuses := make(chan int, 2)
	for n, key := range []string{apitest.KeyA, apitest.KeyB} {
		go func() {
			statuses <- f.send(key, "event", event("1.4.2", "/assets/app.min.js"), "source_map", "{}").Status
		}()
		for f.service.Pace.Waiting() != n+1 {
			runtime.Gosched()
		}
	}
	if len(statuses) > 0 {
		t.Error("an upload is read beside another")
	}
	another()
	if a, b := <-statuses, <-statuses; a != 400 || b != 400 {
		t.Errorf("%d and %d, want 400 of what is no map", a, b)
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	f := start(t, ratelimit.Rate{})
	f.mustSend(apitest.KeyA, event("1.4.2", "/assets/app.min.js"), theMap(t))
	f.mustSend(apitest.KeyB, event("1.4.2", "/assets/theirs.js"), theMap(t))
	f.Clock.Add(3600e9)
	f.mustSend(apitest.KeyA, event("1.4.3, beta", "https://cdn.example.com/assets/Über_%.js?v=1"), theMap(t))
	f.mustSend(apitest.KeyA, `"`+strings.NewReplacer(`"`, `\"`, "\n", " ", "\t", " ").Replace(event("1.4.2", "/assets/app.min.js"))+`"`, theMap(t)) // again, as a text
	first := func(key string) func(*testing.T, *apitest.Server, apitest.Reply) {
		return func(t *testing.T, _ *apitest.Server, r apitest.Reply) {
			var data api.CursorPage[sourcemap.Sourcemap]
			r.Into(&data)
			if len(data.Items) == 0 && key == "" {
				return
			}
			if len(data.Items) == 0 || data.Items[0].Key != key {
				t.Errorf("got %+v, want %s first", data.Items, key)
			}
		}
	}
	one, two := "browser/shop-web/1.4.2/assets/app.min.js.map", "browser/shop-web/1.4.3, beta/https://cdn.example.com/assets/Über_%.js?v=1.map"
	f.Scenarios(t, "/sourcemap/list", []apitest.Scenario{
		{Name: "all", Body: `{` + window + `}`, Golden: "sourcemap_list"},
		{Name: "any valid key", Key: apitest.KeyNothing, Body: `{` + window + `}`, Then: first(two)},
		{Name: "oldest first", Body: `{` + window + `,"asc":true,"orderby":"created_at"}`, Then: first(one)},
		{Name: "by version with a comma", Body: `{` + window + `,"versions":["9","1.4.3, beta"]}`, Then: first(two)},
		{Name: "not by a part of a version", Body: `{` + window + `,"versions":["1.4.3","1.4"]}`, Data: `{"total":0,"items":[],"has_next_page":false,"search_after_ctx":""}`},
		{Name: "by service", Body: `{` + window + `,"services":["shop"]}`, Data: `{"total":0,"items":[],"has_next_page":false,"search_after_ctx":""}`},
		{Name: "by part of the address", Body: `{` + window + `,"query":"über_%"}`, Then: first(two)},
		{Name: "a second page", Body: `{` + window + `,"p":2,"limit":1}`, Then: first(one)},
		{Name: "another type", Body: `{` + window + `,"type":"android","build_id":"x"}`, Data: `{"total":0,"items":[],"has_next_page":false,"search_after_ctx":""}`},
		{Name: "another time", Body: `{"start_time":1,"end_time":1776000000000}`, Code: "InvalidParameter", Says: []string{"end_time", "365 days"}},
		{Name: "an empty window", Body: `{"start_time":5,"end_time":5}`, Code: "InvalidParameter", Says: []string{"end_time", "greater"}},
		{Name: "no window", Body: `{}`, Code: "InvalidParameter", Says: []string{"required"}},
		{Name: "an unknown type", Body: `{` + window + `,"type":"flutter"}`, Code: "InvalidParameter", Says: []string{"type", "browser"}},
		{Name: "too deep", Body: `{` + window + `,"p":1000,"limit":100}`, Code: "InvalidParameter", Says: []string{"p"}},
		{Name: "no key", Key: "nobody's", Body: `{` + window + `}`, Code: "Unauthorized"},
	})
}

const datadog = "TypeError: Cannot read properties of undefined (reading 'rate')\n  at i @ https://shop.example.com/assets/app.min.js?v=3:1:273\n" +
	"  at m @ https://shop.example.com/assets/app.min.js?v=3:1:484\n  at e @ https://shop.example.com/assets/lost.js:1:5\n" +
	"  at t @ https://tags.example.net/t.js:1:2"

func enrichBody(version, more string) string {
	text, _ := json.Marshal(datadog)
	return `{"type":"browser","service":"shop-web","version":"` + version + `","near":1,"url":"https://shop.example.com/cart","stack":` + string(text) + more + `}`
}

func TestEnrich(t *testing.T) {
	t.Parallel()
	f := start(t, ratelimit.Rate{})
	f.mustSend(apitest.KeyA, event("1.4.2", "/assets/app.min.js"), theMap(t))
	f.Grant(auth.ApplicationsRead)
	missing := func(want string) func(*testing.T, *apitest.Server, apitest.Reply) {
		return func(t *testing.T, _ *apitest.Server, r apitest.Reply) {
			var data sourcemap.Enriched
			r.Into(&data)
			if got := strings.Join(data.Missing, " "); got != want || len(data.Frames) != 4 {
				t.Errorf("missing %q, want %q; frames %+v", got, want, data.Frames)
			}
		}
	}
	both := "https://shop.example.com/assets/app.min.js?v=3 https://shop.example.com/assets/lost.js"
	f.Scenarios(t, "/sourcemap/stack/enrich", []apitest.Scenario{
		{Name: "in original code", Body: enrichBody("1.4.2", ""), Golden: "sourcemap_stack_enrich"},
		{Name: "any version", Key: apitest.KeyReader, Body: enrichBody("", ""), Then: missing("https://shop.example.com/assets/lost.js")},
		{Name: "again, from the cache", Body: enrichBody("1.4.2", ""), Golden: "sourcemap_stack_enrich"},
		{Name: "another version", Body: enrichBody("1.4.1", ""), Then: missing(both)},
		{Name: "another account's", Key: apitest.KeyB, Body: enrichBody("1.4.2", ""), Then: missing(both)},
		{Name: "ios", Body: strings.Replace(enrichBody("1.4.2", `,"binary_images":[]`), `"browser"`, `"ios"`, 1), Then: missing(both)},
		{Name: "no stack", Body: `{"type":"browser","service":"s","stack":"Script error."}`, Data: `{"frames":[],"missing_files":[]}`},
		{Name: "frames in place of a text", Body: `{"type":"browser","service":"shop-web","frames":[{"function":"i","file":"/assets/app.min.js","line":1,"column":273}]}`,
			Then: func(t *testing.T, _ *apitest.Server, r apitest.Reply) {
				var data sourcemap.Enriched
				if r.Into(&data); len(data.Frames) != 1 || data.Frames[0].Line != 10 {
					t.Errorf("got %+v", data)
				}
			}},
		{Name: "neither", Body: `{"type":"browser","service":"s"}`, Code: "InvalidParameter", Says: []string{"stack", "required"}},
		{Name: "both", Body: enrichBody("", `,"frames":[]`), Code: "InvalidParameter", Says: []string{"frames", "together"}},
		{Name: "near", Body: enrichBody("1.4.2", `,"near":21`), Code: "InvalidParameter", Says: []string{"near"}},
		{Name: "no service", Body: `{"type":"browser","stack":"x"}`, Code: "InvalidParameter", Says: []string{"service"}},
		{Name: "without the permission", Key: apitest.KeyNothing, Body: enrichBody("1.4.2", ""), Code: "AccessDenied", Says: []string{"Applications Read"}},
		{Name: "no key", Key: "nobody's", Body: enrichBody("1.4.2", ""), Code: "Unauthorized"},
	})
	// A map that is uploaded again is used at once; a host of its own does not keep it from being found.
	f.mustSend(apitest.KeyA, event("1.4.2", "/assets/app.min.js"), `{"version":3,"sources":["other.ts"],"mappings":"AAAA"}`)
	f.mustSend(apitest.KeyA, event("1.4.2", "https://cdn.example.com/assets/lost.js"), `{"version":3,"sources":["lost.ts"],"mappings":"AAAA"}`)
	var data sourcemap.Enriched
	f.Call(apitest.KeyA, "/sourcemap/stack/enrich", enrichBody("1.4.2", "")).Into(&data)
	if data.Frames[0].File != "other.ts" || data.Frames[2].File != "lost.ts" || len(data.Missing) != 0 {
		t.Errorf("got %+v", data)
	}
}

func TestUploadsThatAreRefused(t *testing.T) {
	t.Parallel()
	f := start(t, ratelimit.Rate{})
	ok, text := event("1", "/a.js"), theMap(t)
	_, kind := form("event", ok)
	f.Grant(auth.ApplicationsRead)
	for name, c := range map[string]struct {
		reply apitest.Reply
		code  string
		says  string
	}{
		"no key":                 {f.send("", "event", ok, "source_map", text), "Unauthorized", "DD-API-KEY"},
		"a client token":         {f.send("ce8d1be90fc6534f89ce36ebf526765e131", "event", ok, "source_map", text), "Unauthorized", "app key"},
		"without the permission": {f.send(apitest.KeyReader, "event", ok, "source_map", text), "AccessDenied", "Applications Manage"},
		"no event":               {f.send(apitest.KeyA, "source_map", text), "InvalidParameter", "event"},
		"no map":                 {f.send(apitest.KeyA, "event", ok), "InvalidParameter", "source_map"},
		"two maps":               {f.send(apitest.KeyA, "event", ok, "source_map", text, "source_map", text), "InvalidParameter", "once"},
		"event of numbers":       {f.send(apitest.KeyA, "event", `{"service":5}`, "source_map", text), "InvalidParameter", "event"},
		"no service":             {f.send(apitest.KeyA, "event", strings.Replace(ok, "shop-web", "", 1), "source_map", text), "InvalidParameter", "event.service"},
		"a line end":             {f.send(apitest.KeyA, "event", strings.Replace(ok, "shop-web", `a\nb`, 1), "source_map", text), "InvalidParameter", "event.service"},
		"android":                {f.send(apitest.KeyA, "event", strings.Replace(ok, "js_sourcemap", "jvm_mapping_file", 1), "source_map", text), "InvalidParameter", "js_sourcemap"},
		"not a map":              {f.send(apitest.KeyA, "event", ok, "source_map", "<html>"), "InvalidParameter", "source_map"},
		"mappings":               {f.send(apitest.KeyA, "event", ok, "source_map", `{"version":3,"mappings":"!"}`), "InvalidParameter", "mappings cannot be read at 0"},
		"JSON":                   {f.post(apitest.KeyA, "application/json", []byte(ok)), "InvalidContentType", "multipart/form-data"},
		"a cut form":             {f.post(apitest.KeyA, kind, []byte("--x")), "BadRequest", "form"},
		"much that is zipped":    {f.send(apitest.KeyA, "event", ok, "source_map", strings.Repeat(" ", 17<<20)), "EntityTooLarge", "16777216"},
		"many parts":             {f.send(apitest.KeyA, strings.Split(strings.Repeat("x|y|", 30)+"x|y", "|")...), "BadRequest", "20 parts"},
	} {
		if c.reply.Code != c.code || !strings.Contains(c.reply.Message, c.says) {
			t.Errorf("%s: got %s %q, want %s %q", name, c.reply.Code, c.reply.Message, c.code, c.says)
		}
	}
	var data api.CursorPage[sourcemap.Sourcemap]
	f.Call(apitest.KeyA, "/sourcemap/list", `{`+window+`}`).Into(&data)
	if data.Total != 0 {
		t.Errorf("%d maps are stored", data.Total)
	}
}

func TestUploadsAreRecordedAndLimited(t *testing.T) {
	t.Parallel()
	f := start(t, ratelimit.Rate{PerMinute: 2})
	f.mustSend(apitest.KeyA, event("1", "/a.js"), theMap(t))
	f.mustSend(apitest.KeyA, event("2", "/a.js"), theMap(t))
	if r := f.send(apitest.KeyA, "event", event("3", "/a.js"), "source_map", theMap(t)); r.Code != "RequestTooFrequently" || r.Header.Get("Retry-After") == "" {
		t.Errorf("got %s %q", r.Code, r.Message)
	}
	f.mustSend(apitest.KeyB, event("1", "/a.js"), theMap(t)) // the limit of one account is not that of another
	f.Read(func(tx *db.Tx) error {
		names, err := db.All(tx, db.Column[string], `SELECT t.object_name FROM audit_log a JOIN audit_touched t ON t.account_id = a.account_id AND t.audit_id = a.audit_id
			WHERE a.account_id = $1 AND a.operation = 'sourcemap:write:upload' ORDER BY t.object_name`, int64(apitest.AccountA))
		if got := strings.Join(names, "|"); got != "shop-web 1 /a.js|shop-web 2 /a.js" {
			t.Errorf("recorded %q", got)
		}
		return err
	})
}

// A service that stores more than it may loses its oldest maps; those of other services and accounts stay. An account
// that stores more than it may is refused.
func TestBoundsOfWhatIsStored(t *testing.T) {
	t.Parallel()
	f := start(t, ratelimit.Rate{})
	f.mustSend(apitest.KeyB, event("0", "/theirs.js"), theMap(t))
	f.mustSend(apitest.KeyA, strings.Replace(event("0", "/other.js"), "shop-web", "other", 1), theMap(t))
	for i, version := range []string{"1", "2", "3"} {
		f.Clock.Add(1e9)
		f.mustSend(apitest.KeyA, event(version, "/a.js"), theMap(t))
		f.Exec(`UPDATE source_map SET stored = $1 WHERE version = $2`, int64([]int{300, 200, 10}[i])<<20, version)
	}
	f.Clock.Add(1e9)
	f.mustSend(apitest.KeyA, event("4", "/a.js"), theMap(t))
	list := func(key string) (versions string) {
		var data api.CursorPage[sourcemap.Sourcemap]
		f.Call(key, "/sourcemap/list", `{`+window+`}`).Into(&data)
		for _, m := range data.Items {
			versions += m.Version + " "
		}
		return versions
	}
	if got := list(apitest.KeyA); got != "4 3 2 1 0 " {
		t.Errorf("kept %q", got)
	}
	f.Exec(`UPDATE source_map SET stored = $1 WHERE version = '3'`, int64(100<<20))
	f.mustSend(apitest.KeyA, event("5", "/a.js"), theMap(t))
	if got, theirs := list(apitest.KeyA), list(apitest.KeyB); got != "5 4 3 2 0 " || theirs != "0 " {
		t.Errorf("kept %q and %q", got, theirs)
	}
	f.Exec(`UPDATE source_map SET stored = $1 WHERE service = 'other'`, int64(2<<30))
	if r := f.send(apitest.KeyA, "event", event("6", "/a.js"), "source_map", theMap(t)); r.Code == "" || !strings.Contains(r.Message, "may store 2048") {
		t.Errorf("got %s %q", r.Code, r.Message)
	}
	f.mustSend(apitest.KeyB, event("1", "/theirs.js"), theMap(t))
}

// The largest map whose mappings can be read is read and used within bounds, and an account that sends such maps does not
// keep another from its stacks.
func TestLargestMap(t *testing.T) {
	t.Parallel()
	f := start(t, ratelimit.Rate{})
	head, tail := `{"version":3,"sources":["a.ts"],"mappings":"AAAA`, `"}`
	largest := head + strings.Repeat(",CAAC", (16<<20-5000)/5) + tail
	f.mustSend(apitest.KeyA, event("1.4.2", "/assets/app.min.js"), largest)
	f.mustSend(apitest.KeyB, event("1.4.2", "/assets/app.min.js"), theMap(t))
	done := make(chan apitest.Reply)
	for range 3 {
		go func() { done <- f.Call(apitest.KeyA, "/sourcemap/stack/enrich", enrichBody("1.4.2", "")) }()
	}
	var data sourcemap.Enriched
	f.Call(apitest.KeyB, "/sourcemap/stack/enrich", enrichBody("1.4.2", "")).Into(&data)
	if data.Frames[0].File != "src/cart.ts" {
		t.Errorf("got %+v", data)
	}
	for range 3 {
		r := <-done
		data = sourcemap.Enriched{}
		if r.Into(&data); data.Frames[0].File != "a.ts" || data.Frames[0].Column != 272 {
			t.Errorf("got %+v", data)
		}
	}
}
