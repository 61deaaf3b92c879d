package blackbox

import (
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

func TestEveryLineThatTheDemoPrintsWorks(t *testing.T) {
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

// The demo plays its scenes by itself. What it prints of each is still in the reply to the call that it prints when all
// scenes are over.
func TestTheDemoPlaysItsScenes(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir(), "demo", "--listen", "127.0.0.1:0")
	scenes := map[string][]string{"rise": nil, "join": nil, "storm": nil, "untold": nil}
	end, scene, left := time.After(2*time.Minute), "", len(scenes)
	for left > 0 {
		var line string
		select {
		case line = <-s.later:
		case <-end:
			t.Fatalf("after two minutes the demo has printed %q", scenes)
		}
		if _, head, isHead := strings.Cut(line, "  "); isHead && !strings.HasPrefix(line, " ") {
			scene, _, _ = strings.Cut(head, " ")
			continue
		}
		if lines, known := scenes[scene]; known {
			line = strings.TrimSpace(line)
			scenes[scene] = append(lines, line)
			if strings.HasPrefix(line, "curl ") {
				left--
			}
		}
	}
	for scene, lines := range scenes {
		reply := s.curl(lines[len(lines)-1])
		var explained struct{ Words []string }
		if err := json.Unmarshal(reply.data, &explained); err != nil {
			t.Fatal(err)
		}
		all := strings.Join(explained.Words, "\n")
		for _, sentence := range lines[:len(lines)-1] {
			sentence, _, _ = strings.Cut(sentence, ": waiting until") // what waited as the demo printed it may be sent by now,
			sentence = strings.TrimSuffix(sentence, ": sending.")     // and so may what was being sent
			if !strings.Contains(all, sentence) {
				t.Errorf("%s: %q is not in\n%s", scene, sentence, all)
			}
		}
		if len(lines) < 2 {
			t.Errorf("%s: no sentence is printed", scene)
		}
	}
}

func TestTheDemoKeepsItsFolder(t *testing.T) {
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
