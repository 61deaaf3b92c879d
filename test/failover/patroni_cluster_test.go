package failover

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"tocsin/test/pgserver"
)

// cluster is a Patroni cluster of its own: one etcd, members that each run a PostgreSQL server, and HAProxy before them.
type cluster struct {
	t       *testing.T
	as      *syscall.SysProcAttr // the user of all processes; nil: the current user
	dir     string
	etcd    *daemon
	proxy   int // the port of HAProxy; 0: it does not run
	members []*patroni

	timeline atomic.Int64 // the highest that a leader had
	promoted atomic.Int64 // when that was seen first, Unix milliseconds
}

// patroni is a member of a cluster.
type patroni struct {
	*daemon
	name       string
	rest, port int
	data       string
}

// daemon is a process that a cluster starts, and starts again.
type daemon struct {
	c    *cluster
	args []string
	log  string
	cmd  *exec.Cmd
}

func (c *cluster) daemon(name string, args ...string) *daemon {
	c.t.Helper()
	d := &daemon{c: c, args: args, log: filepath.Join(c.dir, name+".log")}
	must(c.t, d.start())
	c.t.Cleanup(d.kill)
	return d
}

func (d *daemon) start() error {
	f, err := os.OpenFile(d.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	d.cmd = exec.Command(d.args[0], d.args[1:]...)
	d.cmd.Dir, d.cmd.SysProcAttr = d.c.dir, d.c.as
	d.cmd.Stdout, d.cmd.Stderr = f, f
	d.cmd.Env = append(os.Environ(), "HOME="+d.c.dir)
	return d.cmd.Start()
}

func (d *daemon) signal(s syscall.Signal) error { return d.cmd.Process.Signal(s) }

// kill ends the process, also one that is frozen.
func (d *daemon) kill() {
	_ = d.signal(syscall.SIGKILL) // it may have ended
	_ = d.cmd.Wait()
}

// file writes a file of the cluster.
func (c *cluster) file(name, text string) string {
	c.t.Helper()
	path := filepath.Join(c.dir, name)
	must(c.t, os.WriteFile(path, []byte(text), 0o644))
	return path
}

// The times of Patroni: a leader that is gone is replaced after ttl seconds at most.
const patroniTTL, patroniLoop, patroniRetry = 20, 2, 5

// startCluster starts a cluster and waits until it has a leader and its standbys follow. The test is skipped where the programs
// are missing.
func startCluster(t *testing.T, members int, synchronous, proxied bool) *cluster {
	t.Helper()
	needs := []string{"patroni", "etcd"}
	if proxied {
		needs = append(needs, "haproxy")
	}
	for _, name := range needs {
		if installed(name) == "" {
			t.Skipf("%s is missing (apt-get install patroni etcd-server haproxy)", name)
		}
	}
	bin, err := pgserver.Binaries()
	if errors.Is(err, pgserver.ErrMissing) {
		t.Skip(err)
	}
	must(t, err)
	c := &cluster{t: t}
	c.as, err = pgserver.Unprivileged()
	must(t, err)
	c.dir, err = pgserver.Directory(true, c.as)
	must(t, err)
	t.Cleanup(func() { // a server that was killed may end while its files are removed
		c.wait(10*time.Second, "the directory is removed", func() bool { return os.RemoveAll(c.dir) == nil })
	})
	client, peer := pgserver.PortOf(c.t), pgserver.PortOf(c.t)
	at, peers := fmt.Sprintf("http://127.0.0.1:%d", client), fmt.Sprintf("http://127.0.0.1:%d", peer)
	c.etcd = c.daemon("etcd", installed("etcd"), "--data-dir", filepath.Join(c.dir, "etcd"), "--listen-client-urls", at,
		"--advertise-client-urls", at, "--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers, "--initial-cluster", "default="+peers)
	for n := range members {
		m := &patroni{name: fmt.Sprint("n", n+1), rest: pgserver.PortOf(c.t), port: pgserver.PortOf(c.t)}
		m.data = filepath.Join(c.dir, m.name)
		c.members = append(c.members, m)
		config := c.file(m.name+".yml", c.config(m, client, bin, synchronous))
		m.daemon = c.daemon(m.name, installed("patroni"), config)
		t.Cleanup(func() { c.signalServer(m, syscall.SIGKILL) })
		if n == 0 { // the first makes the database
			c.wait(3*time.Minute, "the first member leads", func() bool { return c.leader() != nil })
		}
	}
	if proxied {
		c.proxy = pgserver.PortOf(c.t)
		c.daemon("haproxy", installed("haproxy"), "-db", "-f", c.file("haproxy.cfg", c.haproxy()))
	}
	c.wait(3*time.Minute, "all standbys stream from the leader", func() bool { return c.following(synchronous) == members-1 })
	go c.follow()
	return c
}

// installed returns the path of an installed program; empty: it is not installed.
func installed(name string) string {
	for _, path := range []string{name, "/usr/sbin/" + name} {
		if found, err := exec.LookPath(path); err == nil {
			return found
		}
	}
	return ""
}

// config returns the configuration of a member as JSON, which is YAML.
func (c *cluster) config(m *patroni, etcd int, bin string, synchronous bool) string {
	type object = map[string]any
	local := func(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }
	text, err := json.Marshal(object{
		"scope": "tocsin", "name": m.name,
		"restapi": object{"listen": local(m.rest), "connect_address": local(m.rest)},
		"etcd3":   object{"host": local(etcd)},
		"bootstrap": object{
			"dcs": object{"ttl": patroniTTL, "loop_wait": patroniLoop, "retry_timeout": patroniRetry, "synchronous_mode": synchronous,
				"postgresql": object{"use_pg_rewind": true, "parameters": object{"max_connections": 100, "wal_log_hints": "on"}}},
			"initdb": []any{object{"encoding": "UTF8"}, object{"locale": "C"}, "no-sync"},
			"pg_hba": []string{"local all all trust", "host all all 127.0.0.1/32 trust", "host replication all 127.0.0.1/32 trust"},
		},
		"postgresql": object{"listen": local(m.port), "connect_address": local(m.port), "data_dir": m.data, "bin_dir": bin,
			"pgpass":         filepath.Join(c.dir, m.name+".pgpass"),
			"authentication": object{"superuser": object{"username": "postgres"}, "replication": object{"username": "replicator"}},
			"basebackup":     []any{object{"checkpoint": "fast"}, "no-sync"},
			"parameters":     object{"unix_socket_directories": c.dir, "fsync": "off", "shared_buffers": "32MB"}},
	})
	must(c.t, err)
	return string(text)
}

func (c *cluster) haproxy() string {
	text := fmt.Sprintf(`defaults
  mode tcp
  timeout connect 3s
  timeout client 30m
  timeout server 30m
  timeout check 2s
listen primary
  bind 127.0.0.1:%d
  option httpchk GET /primary
  http-check expect status 200
  default-server inter 1s fall 2 rise 1 on-marked-down shutdown-sessions
`, c.proxy)
	for _, m := range c.members {
		text += fmt.Sprintf("  server %s 127.0.0.1:%d check port %d\n", m.name, m.port, m.rest)
	}
	return text
}

// dsn returns the address of a database: all members, or HAProxy.
func (c *cluster) dsn(database string) string {
	hosts := []string{fmt.Sprint("127.0.0.1:", c.proxy)}
	if c.proxy == 0 {
		hosts = nil
		for _, m := range c.members {
			hosts = append(hosts, fmt.Sprint("127.0.0.1:", m.port))
		}
	}
	return "postgres://postgres@" + strings.Join(hosts, ",") + "/" + database + "?sslmode=disable"
}

func (c *cluster) wait(limit time.Duration, what string, is func() bool) {
	c.t.Helper()
	for end := time.Now().Add(limit); !is(); time.Sleep(200 * time.Millisecond) {
		if time.Now().After(end) {
			c.t.Fatalf("not within %s: %s\n%s", limit, what, c.logs())
		}
	}
}

// logs returns the ends of the logs of all processes.
func (c *cluster) logs() (all string) {
	files, _ := filepath.Glob(filepath.Join(c.dir, "*.log"))
	for _, path := range files {
		text, _ := os.ReadFile(path) // it only helps to find the cause
		lines := strings.Split(string(text), "\n")
		all += path + "\n" + strings.Join(lines[max(0, len(lines)-12):], "\n") + "\n"
	}
	return all
}

var restClient = &http.Client{Timeout: time.Second}

// ask asks a member over its REST interface. Of a member that does not answer the status is 0.
func (m *patroni) ask(method, path string, body, reply any) (status int) {
	text, err := json.Marshal(body)
	if err != nil {
		return 0
	}
	r, err := http.NewRequestWithContext(context.Background(), method, fmt.Sprintf("http://127.0.0.1:%d%s", m.rest, path), bytes.NewReader(text))
	if err != nil {
		return 0
	}
	client := *restClient
	if method == http.MethodPost {
		client.Timeout = time.Minute
	}
	answer, err := client.Do(r)
	if err != nil {
		return 0
	}
	defer answer.Body.Close()
	if reply != nil && json.NewDecoder(answer.Body).Decode(reply) != nil {
		return 0
	}
	return answer.StatusCode
}

// leader returns the member that leads; nil: none that answers.
func (c *cluster) leader() *patroni {
	for _, m := range c.members {
		if m.ask(http.MethodGet, "/primary", nil, nil) == http.StatusOK {
			return m
		}
	}
	return nil
}

// following returns how many standbys run and stream from the leader, one of them as the synchronous standby if that is asked for;
// -1: none is. A standby that does not stream yet is too far behind to be promoted.
func (c *cluster) following(synchronous bool) (n int) {
	l := c.leader()
	if l == nil {
		return -1
	}
	var members struct {
		Members []struct{ Name, State string }
	}
	l.ask(http.MethodGet, "/cluster", nil, &members)
	running := map[string]bool{}
	for _, m := range members.Members {
		running[m.Name] = m.State == "running" || m.State == "streaming"
	}
	// Asked afterwards: the copy that a standby starts from streams under its name too, until the standby runs.
	var leader struct {
		Replication []struct {
			Name  string `json:"application_name"`
			State string
			Sync  string `json:"sync_state"`
		}
	}
	l.ask(http.MethodGet, "/patroni", nil, &leader)
	confirmed := !synchronous
	for _, r := range leader.Replication {
		confirmed = confirmed || r.Sync == "sync"
		if running[r.Name] && r.State == "streaming" {
			n++
		}
	}
	if !confirmed {
		return -1
	}
	return n
}

// follow notes when a leader has a higher timeline, until the test ends.
func (c *cluster) follow() {
	for c.t.Context().Err() == nil {
		for _, m := range c.members {
			var is struct {
				Role     string
				Timeline int64
			}
			m.ask(http.MethodGet, "/patroni", nil, &is)
			if (is.Role == "master" || is.Role == "primary") && is.Timeline > c.timeline.Load() {
				c.timeline.Store(is.Timeline)
				c.promoted.Store(time.Now().UnixMilli())
			}
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// signalServer sends a signal to all processes of the PostgreSQL server of a member.
func (c *cluster) signalServer(m *patroni, s syscall.Signal) {
	text, err := os.ReadFile(filepath.Join(m.data, "postmaster.pid"))
	if err != nil {
		return // it has none
	}
	first, _, _ := strings.Cut(string(text), "\n")
	server, err := strconv.Atoi(first)
	if err != nil {
		return
	}
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range files {
		stat, _ := os.ReadFile(path) // of a process that may have ended
		_, rest, _ := strings.Cut(string(stat), ") ")
		fields := strings.Fields(rest)
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if pid == server || len(fields) > 1 && fields[1] == first {
			_ = syscall.Kill(pid, s)
		}
	}
}
