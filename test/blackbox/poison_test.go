package blackbox

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"tocsin/internal/sender/mailtest"
)

const (
	pageWait = 5 * time.Minute // a lost attempt is made again after two
)

// A poison is what a key of the account, or a source, may send. Everything is stored or answered, and then a page must come.
type poison struct {
	name  string
	email string                // the template of mails
	send  func(*server, string) // other calls, with an app key
	alert func(map[string]any)  // changes the event
	short bool                  // runs with the other tests; the rest are in make soak
}

func poisons() []poison {
	times := func(n int, s string) string { return strings.Repeat(s, n) }
	spaces := func(n int, by string) string { return fmt.Sprintf(`(replace " " %q (printf "%%%ds" ""))`, by, n) }
	table := `{{$t := print ` + spaces(3000, "|") + ` "\n" ` + spaces(3000, "|-") + ` "\n" ` + spaces(5000, "|\n") + `}}`
	digits := `{{$a := printf "%60000d" 1 | replace " " "1"}}`
	heavy := []string{}
	for n := range 25 {
		heavy = append(heavy, fmt.Sprintf("/(a|b|[^c-e]){3}x%d/", n))
	}
	return []poison{
		{name: "table of Markdown", email: table + `{{mdToHtml $t}}{{.Title}}`, short: true},
		{name: "many tables", email: `{{$t := print ` + spaces(300, "|") + ` "\n" ` + spaces(300, "|-") + ` "\n" ` + spaces(300, "|\n") + `}}{{range 999}}{{$b := mdToHtml $t}}{{end}}{{.Title}}`},
		{name: "digits", email: digits + `{{range 999}}{{$b := add ` + times(20, "$a ") + `}}{{end}}{{.Title}}`, short: true},
		{name: "quotes", email: `{{$t := ` + spaces(20000, ">") + `}}{{range 99}}{{mdToHtml $t}}{{end}}{{.Title}}`},
		{name: "nested lists", email: `{{$t := ` + spaces(5000, "> - ") + `}}{{range 99}}{{$b := mdToHtml $t}}{{end}}{{.Title}}`},
		{name: "links", email: `{{$t := ` + spaces(5000, "[a](") + `}}{{range 99}}{{$b := mdToHtml $t}}{{end}}{{.Title}}`},
		{name: "references", email: `{{$t := print "[a]: https://x.example/" ` + spaces(900, "y") + ` "\n\n" ` + spaces(4500, "[a]") + `}}{{range 99}}{{$b := mdToHtml $t}}{{end}}{{.Title}}`},
		{name: "loops", email: times(4, "{{range 9999}}") + "x" + times(4, "{{end}}") + `{{.Title}}`},
		{name: "lists of lists", email: `{{$a := list "x"}}` + times(40, `{{$a = list $a $a}}`) + `{{$a}}`},
		{name: "nodes", email: times(6000, "{{.Now}}")},
		{name: "comparisons", email: `{{$a := printf "%60000d" 1}}{{$b := print $a}}{{range 99999}}{{if eq $a ` + times(20, "$b ") + `}}{{end}}{{end}}`},
		{name: "styles", email: `{{$a := printf "%30000d" 1 | replace " " "x("}}{{range 9999}}<p style="color:{{$a}}">{{end}}`},
		{name: "expressions", send: func(s *server, key string) {
			body, _ := json.Marshal(map[string]any{"channel_id": 41, "rule_name": "heavy", "filters": [][]any{{map[string]any{"key": "description", "oper": "IN", "vals": heavy}}}})
			s.try(key, "/channel/unsubscribe/rule/create", string(body))
		}, alert: func(e map[string]any) { e["description"] = times(1000, "ab") }},
		{name: "source map", send: func(s *server, key string) {
			s.upload(key, `{"version":3,"sources":["`+times(499_999, `","`)+`"],"names":[],"mappings":"`+times(2_000_000, "AAAAA,")+`"}`)
			s.upload(key, `{"version":3,"sections":[`+strings.TrimSuffix(times(9_000, `{"offset":{"line":0,"column":0},"map":{"version":3,"sources":[],"mappings":""}},`), ",")+`]}`)
			s.try(key, "/sourcemap/stack/enrich", `{"type":"browser","service":"shop","version":"1","stack":"E\n  at i @ https://h/app.js:1:273"}`)
		}},
		{name: "stack", send: func(s *server, key string) {
			for _, frame := range []string{`    at f (https://h/app.js:1:2)\n`, `@`, `    at (((((((((`, `at eval (eval at f (`} {
				s.try(key, "/sourcemap/stack/enrich", `{"type":"browser","service":"shop","version":"1","stack":"`+times(60_000/len(frame), frame)+`"}`)
			}
		}},
		{name: "CSV", alert: func(e map[string]any) {
			e["description"] = times(2000, `"`)
			e["labels"] = map[string]string{"a": times(2000, `"`)}
		}, send: func(s *server, key string) {
			now := time.Now().Unix()
			for range 20 {
				s.try(key, "/incident/create", `{"title":"`+times(500, `\"`)+`","channel_id":41,"incident_severity":"Info"}`)
			}
			s.try(key, "/insight/incident/export", fmt.Sprintf(`{"start_time":%d,"end_time":%d}`, now-3600, now+60))
		}},
	}
}

// try posts a body, which the server need not survive, and returns the status; 0: no answer.
func (s *server) try(key, path, body string) int {
	r, err := http.Post(s.url+path+"?app_key="+key+"&integration_key=00112233445566778899aabbccddeeff131", "application/json", strings.NewReader(body))
	if err != nil {
		return 0
	}
	defer r.Body.Close()
	_, err = io.Copy(io.Discard, r.Body)
	if err != nil || r.StatusCode >= http.StatusBadRequest {
		s.t.Logf("%s: %d, %v", path, r.StatusCode, err)
	}
	return r.StatusCode
}

// upload sends a source map.
func (s *server) upload(key, text string) {
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	form.WriteField("event", `{"type":"js_sourcemap","service":"shop","version":"1","minified_url":"https://h/app.js"}`)
	form.WriteField("source_map", text)
	form.Close()
	r, err := http.NewRequest(http.MethodPost, s.url+"/sourcemap/upload", &b)
	if err != nil {
		s.t.Fatal(err)
	}
	r.Header.Set("DD-API-KEY", key)
	r.Header.Set("Content-Type", form.FormDataContentType())
	if answer, err := http.DefaultClient.Do(r); err == nil {
		answer.Body.Close()
	}
}

// newPeak returns the greatest memory of the server since the last call, in MiB; 0: not known.
func (s *server) newPeak() (mib int) {
	file := fmt.Sprintf("/proc/%d/", s.cmd.Process.Pid)
	text, _ := os.ReadFile(file + "status")
	if m := regexp.MustCompile(`VmHWM:\s*(\d+)`).FindSubmatch(text); m != nil {
		fmt.Sscan(string(m[1]), &mib)
	}
	os.WriteFile(file+"clear_refs", []byte("5"), 0o600)
	return mib >> 10
}

// A server with 1 GiB of memory gets every poison and is started again whenever it ends, until the page has come. None may
// end it more often than the attempt that is then made with the preset's text. TOCSIN_POISONS=all runs all of them.
func TestPageComesDespitePoison(t *testing.T) {
	t.Parallel()
	all := os.Getenv("TOCSIN_POISONS") == "all"
	mails := mailtest.New(t, mailtest.Options{User: "tocsin:secret"})
	dir, key, flags := withMail(t, "sqlite:poison.db", mails)
	start := func() *server {
		args := append([]string{"-c", `ulimit -d 1048576; exec "$0" "$@"`, tocsin, "serve", "--db", "sqlite:poison.db", "--listen", "127.0.0.1:0",
			"--limit-per-second", "0", "--limit-per-minute", "0", "--mails-per-minute", "100", "--log-level", "error"}, flags...)
		cmd := exec.Command("sh", args...)
		s := serveBy(t, dir, cmd)
		return s
	}
	s := start()
	made := s.call(key, "/template/create", `{"template_name":"Poison"}`)
	var template struct {
		ID string `json:"template_id"`
	}
	if err := json.Unmarshal(made.data, &template); err != nil || made.status != 200 {
		t.Fatalf("%+v", made)
	}
	rule := `{"rule_id":"5e5e5e5e5e5e5e5e5e5e5e01","channel_id":41,"rule_name":"Olga","template_id":"` + template.ID +
		`","layers":[{"target":{"person_ids":[11],"by":{"critical":["email"],"warning":["email"],"info":["email"]}}}]}`
	if a := s.call(key, "/channel/escalate/rule/update", rule); a.status != 200 {
		t.Fatalf("%+v", a)
	}
	for n, p := range poisons() {
		if !all && !p.short {
			continue
		}
		began := time.Now()
		deaths, most := 0, 0
		settle := func(wait time.Duration) {
			most = max(most, s.newPeak())
			select {
			case <-s.ended:
				deaths++
				t.Logf("%s: the server ended: %.200s", p.name, s.log)
				s = start()
			case <-time.After(wait):
			}
		}
		s.newPeak()
		email, _ := json.Marshal(p.email)
		s.try(key, "/template/update", `{"template_id":"`+template.ID+`","template_name":"Poison","email":`+string(email)+`}`)
		settle(0)
		stored := time.Since(began)
		if p.send != nil {
			p.send(s, key)
			settle(0)
		}
		title := fmt.Sprintf("Poisoned page %d", n)
		event := map[string]any{"title_rule": title, "event_status": "Critical", "alert_key": title}
		if p.alert != nil {
			p.alert(event)
		}
		body, _ := json.Marshal(event)
		for sent := false; !arrived(mails, title); settle(20 * time.Millisecond) {
			if time.Since(began) > pageWait {
				t.Fatalf("%s: no page after %s and %d ends of the server", p.name, pageWait, deaths)
			}
			if !sent {
				sent = s.try("", "/event/push/alert/standard", string(body)) == http.StatusOK
			}
		}
		most = max(most, s.newPeak())
		if deaths > 0 || most > 512 {
			t.Errorf("%s: the server ended %d times and took %d MiB, want at most 512", p.name, deaths, most)
		}
		t.Logf("%-20s stored after %5d ms, paged after %5d ms, %4d MiB, %d ends", p.name, stored.Milliseconds(), time.Since(began).Milliseconds(), most, deaths)
	}
}

func arrived(mails *mailtest.Mailbox, title string) bool {
	for _, m := range mails.Mails() {
		if strings.Contains(m.Data, title) {
			return true
		}
	}
	return false
}
