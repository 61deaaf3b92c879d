package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// The steady load: events go out by the clock. Every second event opens an incident, which notifies a person at once, and every
// second one recovers an alert. One incident in five is acknowledged.
const (
	soakLag         = 2 * time.Second // from an alert to its recovery; the first alerts are sent before the measurement
	soakAckOf       = 5
	soakConnections = 16
	soakSlow        = 250 * time.Millisecond
	soakPatience    = time.Minute // for the last deliveries
)

// soaked holds what a steady load took.
type soaked struct {
	events, acked      int
	processor          time.Duration // of the server for an event, until the last delivery
	written, grown     float64       // KB for an event
	commits            float64       // for an event; 0: the server does not count them
	deliveries         float64       // for an event that arrived before the load ended
	missing            int64         // that arrived later
	answers            *latencies
	resident, finished float64 // MB at the beginning and at the end
	failed             []string
}

// soak measures the steady load on a new database.
func soak(binary, dir string) error {
	s, err := soakOnce(binary, filepath.Join(dir, "soak"))
	if err != nil {
		return err
	}
	commits := "-"
	if s.commits > 0 {
		commits = fmt.Sprintf("%.2f", s.commits)
	}
	fmt.Printf("| %d events a second for %s, load average %s | acknowledged | processor for one | written for one | commits | "+
		"deliveries that arrived | missing at the end | p50 | p99 | longest | over %s | resident, start | end | database for one |\n"+
		"|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n", *perSecond, *soakFor, loadAverage(), soakSlow)
	fmt.Printf("| %d | %d | %s | %.0f KB | %s | %.2f | %d | %s | %s | %s | %d | %.1f MB | %.1f MB | %.1f KB |\n\n",
		s.events, s.acked, s.processor.Round(time.Microsecond), s.written, commits, s.deliveries, s.missing,
		s.answers.part(0.5), s.answers.part(0.99), s.answers.longest.Round(latencyUnit), s.answers.over(soakSlow),
		s.resident, s.finished, s.grown)
	for _, text := range s.failed {
		fmt.Println(text)
	}
	return nil
}

// loadAverage returns the load average of the last minute; empty: this system has none.
func loadAverage() string {
	text, _ := os.ReadFile("/proc/loadavg")
	minute, _, _ := strings.Cut(string(text), " ")
	return minute
}

// soakAccount is a good account with two webhooks instead of one, which receive all that happens.
func soakAccount(sink string) map[string]any {
	type object = map[string]any
	sections := goodAccount(0, sink)
	hooks := sections["integrations"].([]object)[:1]
	for i, kind := range []string{"incident", "alert"} {
		hooks = append(hooks, object{"integration_id": goodID(0) + 5 + i, "integration_name": "Hook of each " + kind,
			"integration_type": "webhook_" + kind, "settings": object{"endpoint": sink + "/hook"}})
	}
	sections["integrations"] = hooks
	return sections
}

// freshServer starts a binary on a new database with these accounts. The binary makes the database, because another commit may have
// another schema.
func freshServer(binary, dir string, accounts []map[string]any, flags ...string) (p *process, file string, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, "", err
	}
	file = filepath.Join(dir, "tocsin.db")
	for _, sections := range accounts {
		text, err := accountText(sections)
		if err != nil {
			return nil, "", err
		}
		load := exec.Command(binary, "import", "--db", "sqlite:"+file, "-")
		load.Stdin = strings.NewReader(text)
		if out, err := load.CombinedOutput(); err != nil {
			return nil, "", fmt.Errorf("import: %w: %s", err, out)
		}
	}
	help, err := exec.Command(binary, "serve", "--help").CombinedOutput()
	if err != nil {
		return nil, "", fmt.Errorf("serve --help: %w: %s", err, help)
	}
	flags = append([]string{"serve", "--listen", "127.0.0.1:0", "--db", "sqlite:" + file, "--log-level", "error",
		"--limit-per-second", "0", "--limit-per-minute", "0"}, flags...)
	if strings.Contains(string(help), "--push-per-second") { // older ones have no such limit
		flags = append(flags, "--push-per-second", "0", "--push-per-minute", "0")
	}
	p, err = start(binary, flags...)
	return p, file, err
}

// soakOnce measures one binary.
func soakOnce(binary, dir string) (s soaked, err error) {
	l := &soakLoad{idle: make(chan *soakConnection, 100*soakConnections), problems: map[string]int{}}
	listener, url, err := listen()
	if err != nil {
		return s, err
	}
	defer listener.Close()
	go http.Serve(listener, l)
	server, file, err := freshServer(binary, dir, []map[string]any{soakAccount(url)},
		"--gateway", url+"/gateway", "--outbound-allow", "127.0.0.0/8")
	if err != nil {
		return s, err
	}
	l.address = server.address
	empty := sizeOf(file)
	s, err = l.measure(server)
	if stopped := server.stop(); err == nil {
		err = stopped // which also writes the log into the database
	}
	s.grown = float64(sizeOf(file)-empty) / 1000 / float64(l.sent.Load())
	return s, err
}

// sizeOf returns the size of a database with what is not yet copied into it.
func sizeOf(file string) (n int64) {
	for _, end := range []string{"", "-wal"} {
		if info, err := os.Stat(file + end); err == nil {
			n += info.Size()
		}
	}
	return n
}

// soakLoad sends the steady load, and receives what the server sends.
type soakLoad struct {
	address string
	idle    chan *soakConnection
	sent    atomic.Int64 // events, also those of before the measurement
	hooks   atomic.Int64
	acked   atomic.Int64 // incidents

	mu       sync.Mutex
	problems map[string]int
}

// ServeHTTP receives webhooks and text messages.
func (l *soakLoad) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body) // a server that has gone needs no reply
	w.WriteHeader(http.StatusNoContent)
	if r.URL.Path == "/hook" {
		l.hooks.Add(1)
	}
}

func (l *soakLoad) fail(why string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.problems[why]++
}

// measure sends the load, and measures it until the last delivery.
func (l *soakLoad) measure(server *process) (s soaked, err error) {
	for range soakConnections {
		c, err := dialSoak(l.address)
		if err != nil {
			return s, err
		}
		l.idle <- c
	}
	defer func() {
		for len(l.idle) > 0 {
			(<-l.idle).Close()
		}
	}()
	every := time.Second / time.Duration(*perSecond)
	lag := int(soakLag/every) / 2 * 2
	l.send(0, lag, lag, every, &latencies{})
	hooks := l.quiet()
	s.resident = server.resident()
	commits := commitsOf(server.address)
	before := reading{node: server.processor(), log: written(server.cmd.Process.Pid)}

	over := make(chan struct{})
	var acks sync.WaitGroup
	acks.Go(func() { l.acknowledge(over) })
	s.answers = &latencies{}
	l.send(lag, lag+int(*soakFor/every), lag, every, s.answers)
	arrived := l.hooks.Load()
	close(over)
	acks.Wait()
	if s.answers.count == 0 {
		return s, fmt.Errorf("no event was accepted: %v", l.problems)
	}
	s.missing = l.quiet() - arrived
	used := reading{node: server.processor(), log: written(server.cmd.Process.Pid)}.since(before)
	s.finished = server.resident()

	s.events, s.acked = int(s.answers.count), int(l.acked.Load())
	n := float64(s.events)
	s.processor = used.node / time.Duration(s.events)
	s.written = float64(used.log) / 1000 / n
	s.commits = (commitsOf(server.address) - commits) / n
	s.deliveries = float64(arrived-hooks) / n
	l.mu.Lock()
	defer l.mu.Unlock()
	for why, n := range l.problems {
		s.failed = append(s.failed, fmt.Sprintf("%d times %s", n, why))
	}
	return s, nil
}

// quiet waits until no delivery has arrived for a second, and returns how many there are.
func (l *soakLoad) quiet() int64 {
	have := l.hooks.Load()
	for end := time.Now().Add(soakPatience); time.Now().Before(end); {
		time.Sleep(time.Second)
		if l.hooks.Load() == have {
			break
		}
		have = l.hooks.Load()
	}
	return have
}

// acknowledge acknowledges the newest incidents, one in soakAckOf, until the load is over.
func (l *soakLoad) acknowledge(over chan struct{}) {
	for second := time.NewTicker(time.Second); ; {
		select {
		case <-over:
			second.Stop()
			return
		case <-second.C:
		}
		now, n := time.Now().Unix(), *perSecond/2/soakAckOf
		list, err := l.call("/incident/list", fmt.Sprintf(
			`{"limit": %d, "progress": "Triggered", "start_time": %d, "end_time": %d}`, n, now-60, now+60))
		if err != nil {
			continue
		}
		for _, found := range incidentID.FindAllStringSubmatch(list, -1) {
			if _, err := l.call("/incident/ack", fmt.Sprintf(`{"incident_ids": [%q]}`, found[1])); err == nil {
				l.acked.Add(1)
			}
		}
	}
}

var (
	replyProblem = regexp.MustCompile(`"message":"([^"]*)"`)
	anyID        = regexp.MustCompile(`[0-9a-f]{24}`)
)

// call makes a call, and counts it as failed unless it succeeds.
func (l *soakLoad) call(path, body string) (string, error) {
	reply, err := ask(l.address, goodKey(0), path, body)
	if found := replyProblem.FindStringSubmatch(reply); err == nil && strings.Contains(reply, `"error":{`) && found != nil {
		err = errors.New(anyID.ReplaceAllString(found[1], "ID"))
	}
	if err != nil {
		l.fail(path + ": " + err.Error())
	}
	return reply, err
}

// send sends each event at its time, whether or not those before it were answered, and waits for all answers. An answer is measured
// from the time at which its event is due. An even event opens an alert, and an odd one recovers the alert of lag events before; so
// there is none of the first odd ones.
func (l *soakLoad) send(from, to, lag int, every time.Duration, into *latencies) {
	var answers sync.WaitGroup
	first := time.Now()
	for n := from; n < to; n++ {
		number, status := n, "Info"
		if n%2 == 1 && n < lag {
			continue
		}
		if n%2 == 1 {
			number, status = (n-lag)/2*2, "Ok"
		}
		due := first.Add(time.Duration(n-from) * every)
		time.Sleep(time.Until(due))
		l.sent.Add(1)
		body := strings.Replace(strings.ReplaceAll(eventText, numbered, fmt.Sprintf("%0*d", len(numbered), number)), "Info", status, 1)
		answers.Go(func() {
			if err := l.event(body); err != nil {
				l.fail("an event: " + err.Error())
				return
			}
			into.add(time.Since(due))
		})
	}
	answers.Wait()
}

// soakConnection is a connection that waits for its next event.
type soakConnection struct {
	net.Conn
	in *bufio.Reader
}

func dialSoak(address string) (*soakConnection, error) {
	c, err := net.DialTimeout("tcp", address, 10*time.Second)
	if err != nil {
		return nil, err
	}
	return &soakConnection{c, bufio.NewReader(c)}, nil
}

// event sends one event over a connection that is free, or over a new one.
func (l *soakLoad) event(body string) (err error) {
	var c *soakConnection
	select {
	case c = <-l.idle:
	default:
		c, err = dialSoak(l.address)
		if err != nil {
			return err
		}
	}
	_, err = c.Write(pushRequest(goodSource(0), body))
	if err == nil {
		_, err = skipReply(c.in)
	}
	if err != nil {
		c.Close()
		return err
	}
	select {
	case l.idle <- c:
	default:
		c.Close()
	}
	return nil
}

// pushRequest returns the request that sends events to an integration.
func pushRequest(key, body string) []byte {
	return fmt.Appendf(nil, "POST /event/push/alert/standard?integration_key=%s HTTP/1.1\r\nHost: localhost\r\n"+
		"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", key, len(body), body)
}

// commitsOf returns how many transactions a server has committed; 0: it does not count them.
func commitsOf(address string) (n float64) {
	r, err := http.Get("http://" + address + "/metrics")
	if err != nil {
		return 0
	}
	defer r.Body.Close()
	for lines := bufio.NewScanner(r.Body); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "tocsin_commit_seconds_count") {
			value, _ := strconv.ParseFloat(lines.Text()[strings.LastIndexByte(lines.Text(), ' ')+1:], 64)
			n = max(n, value) // each part of a commit has a series, and each counts all commits
		}
	}
	return n
}
