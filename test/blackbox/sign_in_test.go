package blackbox

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
)

// open opens an address in a browser of its own and returns the page that it ends at.
func open(t *testing.T, address string) (status int, at, page string) {
	t.Helper()
	jar, _ := cookiejar.New(nil)
	r, err := (&http.Client{Jar: jar}).Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	body, _ := io.ReadAll(r.Body)
	return r.StatusCode, r.Request.URL.Path, string(body)
}

// The link of the first start and those of tocsin person link set a password, once.
func TestPersonLink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := serve(t, dir, "serve", "--listen", "127.0.0.1:0")
	_, path, found := strings.Cut(s.lines[3], "/link/")
	if !found {
		t.Fatalf("%q", s.lines)
	}
	links := []string{s.url + "/link/" + path, strings.TrimSpace(must(t, dir, "person", "link", "--public-url", s.url+"/"))}
	for _, link := range links {
		if status, _, page := open(t, link); status != 200 || !strings.Contains(page, "Set your password") {
			t.Fatalf("%s: %d", link, status)
		}
	}
	r, err := http.PostForm(links[1], url.Values{"new_password": {"correct horse battery"}, "again": {"correct horse battery"}})
	if err != nil || r.StatusCode != 200 {
		t.Fatalf("%v %v", r, err)
	}
	r.Body.Close()
	for _, link := range links {
		if status, _, _ := open(t, link); status != 404 {
			t.Errorf("%s is of use after a password was set: %d", link, status)
		}
	}
	if code := s.stop(); code != 0 || strings.Contains(s.log.String(), strings.TrimPrefix(links[1], s.url+"/link/")) {
		t.Errorf("exit code %d, or the log holds a link", code)
	}
}

// The demo prints one link, which opens the console as often as it is opened.
func TestDemoOpensConsole(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir(), "demo", "--listen", "127.0.0.1:0")
	link := ""
	for _, line := range s.lines {
		if name, address, _ := strings.Cut(strings.TrimSpace(line), " "); name == "console" {
			link = strings.TrimSpace(address)
		}
	}
	for range 2 {
		if status, at, page := open(t, link); status != 200 || at != "/" || !strings.Contains(page, "Sign out") {
			t.Errorf("%s leads to %s: %d", link, at, status)
		}
	}
	s.stop()
}
