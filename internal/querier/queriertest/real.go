package queriertest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"strings"
	"testing"
	"time"

	"tocsin/internal/core/evaluate"
	"tocsin/internal/querier"
)

// Real is a real server that runs until its test ends.
type Real struct {
	t    *testing.T
	Addr string // host:port
}

// Tool returns the path of a program that is a tool of the module in whose directory the test runs, as go tool is given it.
func Tool(t *testing.T, of ...string) string {
	t.Helper()
	built, err := exec.Command("go", append([]string{"tool", "-n"}, of...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(built))
}

// Start starts a server and waits until it takes connections at the port.
func Start(t *testing.T, port int, program string, args ...string) Real {
	t.Helper()
	var said bytes.Buffer
	cmd := exec.Command(program, args...)
	cmd.Dir = t.TempDir()
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
		if t.Failed() {
			t.Log(said.String())
		}
	})
	s := Real{t, fmt.Sprint("127.0.0.1:", port)}
	s.Await("the server takes connections", func() bool {
		conn, err := net.Dial("tcp", s.Addr)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
	return s
}

// Await waits until something is so.
func (s Real) Await(what string, is func() bool) {
	s.t.Helper()
	for end := time.Now().Add(time.Minute); !is(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatalf("not within a minute: %s", what)
		}
	}
}

// Store sends data to a path of the server, which must take it.
func (s Real) Store(path, kind, data string) {
	s.t.Helper()
	r, err := http.Post("http://"+s.Addr+path, kind, strings.NewReader(data))
	if err != nil {
		s.t.Fatal(err)
	}
	defer r.Body.Close()
	if text, _ := io.ReadAll(r.Body); r.StatusCode/100 != 2 {
		s.t.Fatalf("%s: %d %s", path, r.StatusCode, text)
	}
}

// Answers reports whether the server answers 200 at a path.
func (s Real) Answers(path string) bool {
	r, err := http.Get("http://" + s.Addr + path)
	if err != nil {
		return false
	}
	r.Body.Close()
	return r.StatusCode == http.StatusOK
}

// Connect returns the querier of the server, whose test must find nothing.
func (s Real) Connect(kind string, open querier.Opener) querier.Querier {
	s.t.Helper()
	q, failed := open(querier.Datasource{Type: kind, Address: "http://" + s.Addr, Payload: []byte(`{}`)}, Out())
	if failed != nil {
		s.t.Fatal(failed)
	}
	s.t.Cleanup(func() { _ = q.Close() })
	for _, p := range q.Test(context.Background()) {
		if !p.OK {
			s.t.Errorf("the test of the datasource: %+v", p)
		}
	}
	return q
}

// Rows returns an answer as text: labels, values and the newest line of each row.
func Rows(q querier.Querier, a querier.Ask) (string, *evaluate.Failure) {
	all, failed := q.Query(context.Background(), a)
	text := ""
	for _, row := range all {
		text += fmt.Sprintf("%v%v%s;", row.Labels, row.Values, row.Fields["__log__"])
	}
	return text, failed
}

// Asked is a query with the answer that a server must give: rows as Rows returns them.
type Asked struct {
	Expr, Want string
	Args       map[string]string
	Kind       evaluate.Kind // of the failure; empty: none
}

// Ask asks about a moment.
func (s Real) Ask(q querier.Querier, at time.Time, all []Asked) {
	s.t.Helper()
	for _, c := range all {
		got, failed := Rows(q, querier.Ask{Expr: c.Expr, AsOf: at, Args: c.Args})
		if got != c.Want || (failed == nil) != (c.Kind == "") || failed != nil && failed.Kind != c.Kind {
			s.t.Errorf("%s %v: %s %v\nwant %s %s", c.Expr, c.Args, got, failed, c.Want, c.Kind)
		}
	}
}

// AskMany asks about three moments in steps of a minute. The answer about the last must be that of the single moment, if the
// answer has a row for it.
func (s Real) AskMany(q querier.Querier, expr string, to time.Time) {
	s.t.Helper()
	series, failed := q.(querier.Ranger).Range(context.Background(), querier.Ask{Expr: expr}, to.Add(-2*time.Minute), to, time.Minute)
	many := map[string]float64{}
	for _, line := range series {
		if p := line.Points[len(line.Points)-1]; p.At.Equal(to) {
			many[fmt.Sprint(line.Labels)] = p.Value
		}
	}
	rows, alone := q.Query(context.Background(), querier.Ask{Expr: expr, AsOf: to})
	single := map[string]float64{}
	for _, row := range rows {
		single[fmt.Sprint(row.Labels)], _ = row.Values.Get("")
	}
	if got, want := fmt.Sprint(many, failed), fmt.Sprint(single, alone); got != want || len(single) == 0 {
		s.t.Errorf("%s at %s, of many moments: %s, alone: %s; all: %v", expr, to, got, want, series)
	}
}
