package blackbox

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// peak returns the most memory that the program has had, in MiB.
func (s *server) peak() int {
	s.t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		s.t.Skip("this system does not show the memory of a program: ", err)
	}
	found := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(status)
	if found == nil {
		s.t.Skip("this system does not show the peak of memory")
	}
	kilobytes, err := strconv.Atoi(string(found[1]))
	if err != nil {
		s.t.Fatal(err)
	}
	return kilobytes >> 10
}

// unread opens connections, sends a request over each, and reads no more than the start of the replies.
func (s *server) unread(connections int, request string) {
	s.t.Helper()
	for range connections {
		conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
		if err != nil {
			s.t.Fatal(err)
		}
		s.t.Cleanup(func() { conn.Close() })
		_ = conn.(*net.TCPConn).SetReadBuffer(4 << 10)
		if _, err := io.WriteString(conn, request); err != nil {
			s.t.Fatal(err)
		}
		if _, err := io.ReadFull(conn, make([]byte, 12)); err != nil {
			s.t.Fatal(err)
		}
	}
}

// TestUnreadDocumentsShareTheirMemory: hundreds of connections that ask for the reference and do not read it cost little, as
// it is or compressed.
func TestUnreadDocumentsShareTheirMemory(t *testing.T) {
	t.Parallel()
	s := serve(t, t.TempDir(), "serve", "--listen", "127.0.0.1:0")
	before := s.peak()
	for _, header := range []string{"", "Accept-Encoding: gzip\r\n", "Accept-Encoding: zstd\r\n"} {
		s.unread(150, "GET /docs HTTP/1.1\r\nHost: x\r\n"+header+"\r\n")
	}
	if grown := s.peak() - before; grown > 150 {
		t.Errorf("450 connections cost %d MiB", grown)
	}
}

// TestCompressedBodiesAreBounded: many short bodies that inflate to the limit hold what the documentation promises, with room
// for the collector.
func TestCompressedBodiesAreBounded(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(tocsin, "serve", "--listen", "127.0.0.1:0")
	cmd.Env = append(os.Environ(), "GOMEMLIMIT=300MiB") // else a busy machine leaves several times as much to its collector
	s := serveBy(t, t.TempDir(), cmd)
	made := s.call(s.lines[1], "/integration/create", `{"integration_name":"bombs","integration_type":"standard"}`)
	var integration struct {
		Key string `json:"integration_key"`
	}
	if err := json.Unmarshal(made.data, &integration); err != nil {
		t.Fatalf("%+v: %v", made, err)
	}
	var bomb bytes.Buffer
	w := gzip.NewWriter(&bomb)
	fmt.Fprintf(w, `{"a":"%s"}`, strings.Repeat("x", 50<<20))
	w.Close()
	before := s.peak()
	answers := make(chan int)
	for range 100 {
		go func() {
			r, err := http.NewRequest("POST", s.url+"/event/push/alert/standard?integration_key="+integration.Key, bytes.NewReader(bomb.Bytes()))
			if err != nil {
				answers <- 0
				return
			}
			r.Header.Set("Content-Encoding", "gzip")
			reply, err := http.DefaultTransport.RoundTrip(r)
			if err != nil {
				answers <- 0
				return
			}
			reply.Body.Close()
			answers <- reply.StatusCode
		}()
	}
	got := map[int]int{}
	for range 100 {
		got[<-answers]++
	}
	if got[413] == 0 || got[413]+got[503] != 100 {
		t.Errorf("answered %v", got)
	}
	if grown := s.peak() - before; grown > 600 {
		t.Errorf("the bodies cost %d MiB", grown)
	}
}
