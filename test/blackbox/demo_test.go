package blackbox

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"
)

func TestEveryLineThatDemoPrintsWorks(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	s := serve(t, t.TempDir(), "demo", "--listen", "127.0.0.1:0")
	if !strings.HasPrefix(s.lines[0], "Tocsin demo") { // what happens at the start is printed after the greeting
		t.Errorf("the demo begins with %q", s.lines[0])
	}
	lines := 0
	for _, line := range s.lines {
		if !strings.HasPrefix(line, "curl ") {
			continue
		}
		lines++
		s.curl(line)
	}
	if lines != 13+len(tour) {
		t.Errorf("%d lines, want one for each of the thirteen calls and of the tour", lines)
	}
	if total := deliveriesOf(t, s); total < 30_000 {
		t.Errorf("%d deliveries, want 30000 and those of the first events", total)
	}
	if code := s.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("the demo leaves %v behind (%v)", left, err)
	}
}

// curl makes the call of a line that the demo prints. A shell parses the line.
func (s *server) curl(line string) answer {
	s.t.Helper()
	out, err := exec.Command("sh", "-c", `curl() { printf '%s\n' "$2" "$6"; }; `+line).Output()
	if err != nil {
		s.t.Fatal(err)
	}
	url, body, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	path, key, _ := strings.Cut(strings.TrimPrefix(url, s.url), "?app_key=")
	a := s.call(key, path, body)
	if a.status != 200 {
		s.t.Errorf("%s: %+v", line, a)
	}
	return a
}

func TestDemoKeepsItsFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := serve(t, dir, "demo", "--listen", "127.0.0.1:0", "--dir", "kept")
	create := `{"type_ident": "mysql", "name": "made by hand", "edge_cluster_name": "x", "address": "db:3306", "payload": {"mysql": {}}}`
	if a := s.call(printed(t, s, "key, all"), "/monit/datasource/create", create); a.status != 200 {
		t.Fatalf("%+v", a)
	}
	s.stop()
	s = serve(t, dir, "demo", "--listen", "127.0.0.1:0", "--dir", "kept")
	if a := s.call(printed(t, s, "key, read only"), "/monit/datasource/info", `{"id": 10}`); !strings.Contains(string(a.data), "made by hand") {
		t.Errorf("after the second start: %+v", a)
	}
	if a := s.call(printed(t, s, "key, read only"), "/monit/datasource/create", create); a.code != "AccessDenied" {
		t.Errorf("the read-only key writes: %+v", a)
	}
	if total := deliveriesOf(t, s); total < 30_000 || total > 31_000 {
		t.Errorf("%d deliveries after the second start, want those of the first", total)
	}
}

// printed returns the value that the demo prints after a label.
func printed(t *testing.T, s *server, label string) string {
	t.Helper()
	for _, line := range s.lines {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), label); ok {
			return strings.TrimSpace(value)
		}
	}
	t.Fatalf("the demo does not print %q: %q", label, s.lines)
	return ""
}

func deliveriesOf(t *testing.T, s *server) int {
	t.Helper()
	a := s.call(printed(t, s, "key, read only"), "/webhook/history/list", `{"limit": 1, "start_time": 1000000000000, "end_time": 9999999999999}`)
	var page struct{ Total int }
	if err := json.Unmarshal(a.data, &page); err != nil {
		t.Fatalf("%v: %+v", err, a)
	}
	return page.Total
}
