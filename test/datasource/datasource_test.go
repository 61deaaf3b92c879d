// Package datasource asks datasources whose servers are Go modules, as rules ask them. It is a module of its own, so that the
// product depends on none of them.
package datasource

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os/exec"
	"strings"
	"testing"
	"time"

	"tocsin/internal/core/evaluate"
	"tocsin/internal/platform/egress"
	"tocsin/internal/querier"
	"tocsin/internal/querier/prometheus"
	"tocsin/internal/querier/victorialogs"
	"tocsin/test/pgserver"
)

// server is a server that runs until its test ends.
type server struct {
	t    *testing.T
	addr string // host:port
}

// start starts a program of this module, whose last argument is its address, and waits until it takes connections.
func start(t *testing.T, program string, args ...string) server {
	t.Helper()
	t.Parallel()
	built, err := exec.Command("go", "tool", "-n", program).Output() // the path of the program in the build cache
	if err != nil {
		t.Fatal(err)
	}
	port, err := pgserver.ReservePort()
	if err != nil {
		t.Fatal(err)
	}
	s := server{t, fmt.Sprint("127.0.0.1:", port.Number)}
	var said bytes.Buffer
	args[len(args)-1] += s.addr
	cmd := exec.Command(strings.TrimSpace(string(built)), args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = t.TempDir(), &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
		port.Close()
		if t.Failed() {
			t.Log(said.String())
		}
	})
	s.await("the server takes connections", func() bool {
		conn, err := net.Dial("tcp", s.addr)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
	return s
}

func (s server) await(what string, is func() bool) {
	s.t.Helper()
	for end := time.Now().Add(time.Minute); !is(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatalf("not within a minute: %s", what)
		}
	}
}

// store sends data in the form that the path takes.
func (s server) store(path, kind, data string) {
	s.t.Helper()
	r, err := http.Post("http://"+s.addr+path, kind, strings.NewReader(data))
	if err != nil {
		s.t.Fatal(err)
	}
	defer r.Body.Close()
	if text, _ := io.ReadAll(r.Body); r.StatusCode/100 != 2 {
		s.t.Fatalf("%s: %d %s", path, r.StatusCode, text)
	}
}

// open returns the querier of the server.
func (s server) open(kind string, open querier.Opener) querier.Querier {
	s.t.Helper()
	out := egress.New(egress.Policy{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}})
	q, failed := open(querier.Datasource{Type: kind, Address: "http://" + s.addr, Payload: []byte(`{}`)}, out)
	if failed != nil {
		s.t.Fatal(failed)
	}
	s.t.Cleanup(func() { q.Close() })
	for _, p := range q.Test(context.Background()) {
		if !p.OK {
			s.t.Errorf("the test of the datasource: %+v", p)
		}
	}
	return q
}

// rows returns an answer as text: labels, values and the newest line of each row.
func rows(q querier.Querier, a querier.Ask) (string, *evaluate.Failure) {
	all, failed := q.Query(context.Background(), a)
	text := ""
	for _, row := range all {
		text += fmt.Sprintf("%v%v%s;", row.Labels, row.Values, row.Fields["__log__"])
	}
	return text, failed
}

// asked is a question with the answer that a server must give.
type asked struct {
	expr, want string
	args       map[string]string
	kind       evaluate.Kind // of the failure; empty: none
}

func (s server) ask(q querier.Querier, at time.Time, all []asked) {
	s.t.Helper()
	for _, c := range all {
		got, failed := rows(q, querier.Ask{Expr: c.expr, AsOf: at, Args: c.args})
		if got != c.want || (failed == nil) != (c.kind == "") || failed != nil && failed.Kind != c.kind {
			s.t.Errorf("%s %v: %s %v\nwant %s %s", c.expr, c.args, got, failed, c.want, c.kind)
		}
	}
}

func TestVictoriaLogsIsAsked(t *testing.T) {
	s := start(t, "victoria-logs", "-storageDataPath=data", "-httpListenAddr=")
	now := time.Now().Truncate(time.Minute)
	data := ""
	for n, line := range []struct{ level, message string }{{"error", "disk"}, {"error", "newest disk"}, {"warn", "slow"}} {
		data += fmt.Sprintf(`{"_time":%q,"_msg":%q,"level":%q,"app":"shop"}`+"\n", now.Add(time.Duration(n-10)*time.Second).Format(time.RFC3339Nano), line.message, line.level)
	}
	s.store("/insert/jsonline?_stream_fields=app", "application/stream+json", data)
	q := s.open("victorialogs", victorialogs.Open)
	s.await("the lines are found", func() bool {
		got, _ := rows(q, querier.Ask{Expr: "_time:5m | stats count() n", AsOf: now})
		return got == "map[]map[:3 n:3];"
	})
	raw := func(more ...string) map[string]string {
		args := map[string]string{"victorialogs.type": "raw", "victorialogs.timespan.value": "5"}
		for n := 0; n < len(more); n += 2 {
			args["victorialogs."+more[n]] = more[n+1]
		}
		return args
	}
	s.ask(q, now, []asked{
		{expr: "_time:5m level:error | stats by (level) count() n", want: "map[level:error]map[:2 n:2];"},
		{expr: "_time:5m | stats by (app) count() n, count_uniq(level) levels", want: "map[app:shop]map[levels:2 n:3];"},
		{expr: "_time:5m level:fatal | stats by (level) count() n"},
		{expr: "_time:5m level:fatal | stats count() n", want: "map[]map[:0 n:0];"},
		{expr: "_time:5m level:error", kind: evaluate.BadQuery}, // no figures
		{expr: "_time:5m | stats by (", kind: evaluate.BadQuery},
		{expr: "level:error", args: raw(), want: `map[_stream:{app="shop"} app:shop level:error]map[]newest disk;`},
		{expr: "level:error", args: raw("limit", "2"), want: `map[_stream:{app="shop"} app:shop level:error]map[]newest disk;`, kind: evaluate.TooMuch},
		{expr: "level:fatal", args: raw()},
		{expr: "(", args: raw(), kind: evaluate.BadQuery},
	})
	// The last of many moments has the answer about that moment, at whatever second of a minute it is.
	const figures = "_time:1m | stats by (level) count() n"
	for _, to := range []time.Time{now, now.Add(-9 * time.Second), now.Add(25 * time.Second)} {
		series, failed := q.(querier.Ranger).Range(context.Background(), querier.Ask{Expr: figures}, to.Add(-2*time.Minute), to, time.Minute)
		many := ""
		for _, line := range series {
			if p := line.Points[len(line.Points)-1]; p.At.Equal(to) {
				many += fmt.Sprintf("%vmap[:%v n:%[2]v];", line.Labels, p.Value)
			}
		}
		if single, _ := rows(q, querier.Ask{Expr: figures + " | sort by (level)", AsOf: to}); failed != nil || many != single {
			t.Errorf("at %s of many moments: %s %v, alone: %s", to, many, failed, single)
		}
	}
}

func TestVictoriaMetricsIsAsked(t *testing.T) {
	s := start(t, "victoria-metrics", "-storageDataPath=data", "-search.latencyOffset=0s", "-search.disableCache", "-httpListenAddr=")
	now := time.Now().Truncate(time.Second)
	at := now.Add(-10 * time.Second).UnixMilli()
	s.store("/api/v1/import/prometheus", "text/plain", fmt.Sprintf("load{host=\"a\"} 7 %d\nload{host=\"b\"} 8.5 %[1]d\n", at))
	q := s.open("prometheus", prometheus.Open)
	s.await("the series are found", func() bool {
		got, _ := rows(q, querier.Ask{Expr: "count(load)", AsOf: now})
		return got == "map[]map[:2];"
	})
	s.ask(q, now, []asked{
		{expr: "sort(load)", want: "map[host:a]map[:7];map[host:b]map[:8.5];"},
		{expr: "load > 8", want: "map[host:b]map[:8.5];"},
		{expr: "load offset 1d"},
		{expr: "sum(", kind: evaluate.BadQuery},
		{expr: "vector(1) / 0", want: "map[]map[:+Inf];"},
	})
	series, failed := q.(querier.Ranger).Range(context.Background(), querier.Ask{Expr: "load > 8"}, now, now.Add(30*time.Second), 15*time.Second)
	if got, want := fmt.Sprint(len(series), failed), "1 <nil>"; got != want {
		t.Fatalf("range: %s, want %s", got, want)
	}
	if p := series[0].Points[0]; !p.At.Equal(now) || p.Value != 8.5 {
		t.Errorf("the first step is %v", p)
	}
}
