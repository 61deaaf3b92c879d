// Package blackbox tests the program as people and scripts use it: the real binary, real files, real
// signals. It must not reach into the program.
package blackbox

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	_ "tocsin/internal/cli" // so that go test does not use cached results when the program has changed
)

// tocsin is the binary under test, built once, with the linker flags of `make build` and a version for tests.
var tocsin string

const release = "9.8.7-test"

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "tocsin-test-")
	if err != nil {
		panic(err)
	}
	tocsin = filepath.Join(dir, "tocsin")
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		panic(err)
	}
	flags := regexp.MustCompile(`(?m)^\tCGO_ENABLED=0 go build .*-ldflags "([^"]*)"`).FindSubmatch(makefile)
	if flags == nil {
		panic("the Makefile has no line that builds with -ldflags")
	}
	// The build lacks -trimpath and has cgo as the tests do, so that it shares their compiled packages. test/deploy builds
	// the released binary.
	build := exec.Command("go", "build", "-ldflags", strings.ReplaceAll(string(flags[1]), "$$(sh tools/version.sh)", release), "-o", tocsin, "tocsin/cmd/tocsin")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build: %v\n%s", err, out)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// result is the result of a command.
type result struct {
	code     int
	out, err string
}

// tool runs a command in a folder until it ends.
func tool(t *testing.T, dir string, args ...string) result {
	t.Helper()
	return toolWith(t, dir, nil, args...)
}

// toolWith is tool with more environment variables.
func toolWith(t *testing.T, dir string, env []string, args ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, tocsin, args...)
	var out, errOut bytes.Buffer
	cmd.Dir = dir
	cmd.Stdout = &out
	cmd.Stderr = &errOut
	cmd.Env = append(os.Environ(), env...)
	err := cmd.Run()
	if err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Fatal(err)
	}
	return result{cmd.ProcessState.ExitCode(), out.String(), errOut.String()}
}

// must is tool for commands that must succeed. It returns standard output without white space around it.
func must(t *testing.T, dir string, args ...string) string {
	t.Helper()
	r := tool(t, dir, args...)
	if r.code != 0 {
		t.Fatalf("tocsin %s: exit %d: %s", strings.Join(args, " "), r.code, r.err)
	}
	return strings.TrimSpace(r.out)
}

// server is a running serve or demo.
type server struct {
	url   string
	lines []string // standard output before "listening on"
	cmd   *exec.Cmd
	ended chan struct{}
	log   *bytes.Buffer // standard error; read it after stop
	t     *testing.T
}

// serve starts a command and waits until it listens. It is stopped with the test.
func serve(t *testing.T, dir string, args ...string) *server {
	t.Helper()
	return serveBy(t, dir, exec.Command(tocsin, args...))
}

// serveBy is serve with the command as it is started.
func serveBy(t *testing.T, dir string, cmd *exec.Cmd) *server {
	t.Helper()
	args := cmd.Args
	s := &server{t: t, cmd: cmd, ended: make(chan struct{}), log: &bytes.Buffer{}}
	s.cmd.Dir, s.cmd.Stderr = dir, s.log
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ready := make(chan bool, 1)
	go func() {
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if url, ok := strings.CutPrefix(lines.Text(), "listening on "); ok {
				s.url = url
				ready <- true
				break
			}
			s.lines = append(s.lines, lines.Text())
		}
		io.Copy(io.Discard, out)
		s.cmd.Wait()
		close(s.ended)
	}()
	select {
	case <-ready:
	case <-s.ended:
		t.Fatalf("tocsin %s ended before it listened: %s", strings.Join(args, " "), s.log)
	case <-time.After(time.Minute):
		s.cmd.Process.Kill()
		t.Fatalf("tocsin %s does not listen", strings.Join(args, " "))
	}
	t.Cleanup(func() { s.cmd.Process.Kill(); <-s.ended })
	return s
}

// stop ends the server as an init system does and returns its exit code.
func (s *server) stop() int {
	s.t.Helper()
	s.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-s.ended:
	case <-time.After(time.Minute):
		s.t.Fatal("the server does not end on SIGTERM")
	}
	return s.cmd.ProcessState.ExitCode()
}

// kill ends the server as a machine that fails does.
func (s *server) kill() {
	s.t.Helper()
	s.cmd.Process.Kill()
	<-s.ended
}

// answer is the reply to a call.
type answer struct {
	status int
	data   json.RawMessage
	code   string
	msg    string
}

// call posts a JSON body.
func (s *server) call(key, path, body string) answer {
	s.t.Helper()
	r, err := http.Post(s.url+path+"?app_key="+key, "application/json", strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	defer r.Body.Close()
	var reply struct {
		Data  json.RawMessage
		Error struct{ Code, Message string }
	}
	if err := json.NewDecoder(r.Body).Decode(&reply); err != nil {
		s.t.Fatalf("%s: %v", path, err)
	}
	return answer{r.StatusCode, reply.Data, reply.Error.Code, reply.Error.Message}
}

// get requests a page.
func (s *server) get(path string) (int, string) {
	s.t.Helper()
	r, err := http.Get(s.url + path)
	if err != nil {
		s.t.Fatal(err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return r.StatusCode, string(body)
}
