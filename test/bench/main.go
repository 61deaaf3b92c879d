// Command bench measures Tocsin on this machine and prints a table: every operation of the public API
// beside a constant reply of the same size in the same run, because ratios survive a noisy machine where
// seconds do not; start-up, memory and size; and the engine's own benchmarks.
//
// It asserts nothing: docs/performance.md quotes its output beside the targets.
package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"tocsin/internal/demo"
)

var (
	span       = flag.Duration("span", 2*time.Second, "how long each load runs")
	rounds     = flag.Int("rounds", 3, "how often each pair is measured; medians are shown")
	clients    = flag.Int("clients", 32, "connections of the load")
	deliveries = flag.Int("deliveries", 1_000_000, "webhook deliveries for the history pages")
	channels   = flag.Int("channels", 10_000, "channels with 20 rules each for the lists of configuration")
	events     = flag.Int("events", 10_000, "events that are decided for the cost of one")
	only       = flag.String("only", "", "measure only this: operations, configuration, history, events, intake, deciding, webhook, hostile or storm")
	profile    = flag.String("profile", "", "write processor profiles of -only deciding to files that begin with this path")
	paths      = flag.String("paths", "", "of the operations measure only those whose path and title match this expression")
	against    = flag.String("against", "", "measure the operations of this binary too, in turn with the built one")
	using      = flag.String("binary", "", "measure this binary instead of building one")
	backlog    = flag.Int("backlog", 1_000_000, "webhook deliveries that wait at once")
	endpoints  = flag.Int("endpoints", 50, "webhooks that they wait for")
	engine     = flag.Bool("engine", true, "run the engine's own benchmarks as well")
)

func main() {
	if len(os.Args) > 1 && os.Args[1] == "constant" {
		exit(constant())
	}
	flag.Parse()
	exit(run())
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func run() error {
	dir, err := os.MkdirTemp("", "tocsin-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	fmt.Printf("%s, %s/%s, %d processors, %s\n\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), time.Now().UTC().Format("2006-01-02 15:04 UTC"))

	if *only == "deciding" { // within this process
		return deciding(dir)
	}
	binary, err := built(dir)
	if err != nil {
		return err
	}
	if *only == "hostile" { // it fills its own databases
		return hostile(dir)
	}
	switch *only { // these fill their own databases
	case "events":
		return fromEventToPage(binary, dir)
	case "intake":
		return intake(binary, dir)
	case "webhook":
		return webhooks(binary, dir)
	case "storm":
		return storm(dir)
	}
	key, err := footprint(binary, dir)
	if err != nil {
		return err
	}
	db := "sqlite:" + filepath.Join(dir, "demo", "tocsin.db")
	for _, part := range []struct {
		name string
		run  func() error
	}{
		{"operations", func() error { return operations(binary, db, key) }},
		{"configuration", func() error { return configuration(binary, db, key) }},
		{"history", func() error { return history(binary, db, key) }},
		{"events", func() error { return fromEventToPage(binary, dir) }},
		{"webhook", func() error { return webhooks(binary, dir) }},
	} {
		if *only != "" && *only != part.name {
			continue
		}
		if err := part.run(); err != nil {
			return fmt.Errorf("%s: %w", part.name, err)
		}
	}
	if *engine && *only == "" {
		return engines()
	}
	return nil
}

// built is the stripped binary to measure.
func built(dir string) (string, error) {
	if *using != "" {
		return filepath.Abs(*using)
	}
	binary := filepath.Join(dir, "tocsin")
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", binary, "./cmd/tocsin")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build: %w\n%s", err, out)
	}
	return binary, nil
}

// footprint reports sizes, start-up times and resident memory, and leaves a filled database behind.
func footprint(binary, dir string) (key string, err error) {
	info, err := os.Stat(binary)
	if err != nil {
		return "", err
	}
	fmt.Printf("| footprint | figure |\n|---|---|\n| stripped binary | %.1f MB |\n", float64(info.Size())/1e6)
	d, err := start(binary, "demo", "--listen", "127.0.0.1:0", "--dir", filepath.Join(dir, "demo"))
	if err != nil {
		return "", err
	}
	fmt.Printf("| `demo` until it listens | %s |\n", d.took.Round(time.Millisecond))
	key = d.key
	if err := d.stop(); err != nil {
		return "", err
	}
	starts := []time.Duration{}
	for range *rounds {
		s, err := start(binary, "serve", "--listen", "127.0.0.1:0", "--db", "sqlite:"+filepath.Join(dir, "demo", "tocsin.db"))
		if err != nil {
			return "", err
		}
		starts = append(starts, s.took)
		if len(starts) == *rounds {
			time.Sleep(2 * time.Second) // idle
			fmt.Printf("| `serve` on that database until it listens | %s |\n| resident, idle after start | %.1f MB |\n", median(starts).Round(time.Millisecond), s.resident())
		}
		if err := s.stop(); err != nil {
			return "", err
		}
	}
	fmt.Println()
	return key, nil
}

// contender is a server whose operations are measured, beside others in the same run.
type contender struct {
	name string
	*process
}

// contenders starts the binaries to compare: the first on the existing database, the other on one that it fills itself,
// because the two may differ in their schema.
func contenders(binary, db, key string) ([]contender, error) {
	all := []contender{{name: filepath.Base(binary)}}
	if *against != "" {
		dir := filepath.Join(filepath.Dir(strings.TrimPrefix(db, "sqlite:")), "against")
		filled, err := start(*against, "demo", "--listen", "127.0.0.1:0", "--dir", dir)
		if err != nil {
			return nil, err
		}
		if err := filled.stop(); err != nil {
			return nil, err
		}
		all = append(all, contender{name: filepath.Base(*against), process: filled})
	}
	for i := range all {
		name, at := binary, db
		if i > 0 {
			name, at, key = *against, "sqlite:"+filepath.Join(filepath.Dir(strings.TrimPrefix(db, "sqlite:")), "against", "tocsin.db"), all[i].key
		}
		server, err := start(name, "serve", "--listen", "127.0.0.1:0", "--db", at, "--limit-per-second", "0", "--limit-per-minute", "0")
		if err != nil {
			return all[:i], err
		}
		server.key, all[i].process = key, server
	}
	return all, nil
}

// operations measures each call of the demo beside a constant reply of its size.
func operations(binary, db, key string) error {
	servers, err := contenders(binary, db, key)
	defer func() {
		for _, s := range servers {
			s.stop()
		}
	}()
	if err != nil {
		return err
	}
	var calls []demo.Call
	for _, s := range servers { // which makes the schedule that is measured, with the same content and another id
		own, err := measured(s.process, s.key)
		if err != nil {
			return err
		}
		calls = append(calls, own...)
	}
	each := len(calls) / len(servers)
	sizes := []string{"constant"}
	for i, c := range calls {
		f, err := load(servers[i/each].address, post(c.Path, servers[i/each].key, c.Body), 1, 50*time.Millisecond)
		if err != nil {
			return fmt.Errorf("%s: %w", c.Path, err)
		}
		sizes = append(sizes, strconv.Itoa(f.bytes))
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	yardstick, err := start(self, sizes...)
	if err != nil {
		return err
	}
	defer yardstick.stop()

	fmt.Printf("| operation (%d connections) | reply bytes | calls/s | p50 | p99 | constant reply/s | ratio | processor, constant |\n|---|---|---|---|---|---|---|---|\n", *clients)
	for i := range each {
		var same []demo.Call // of each server
		for j := range servers {
			same = append(same, calls[j*each+i])
		}
		if err := compare(yardstick, servers, same, sizes[i+1]); err != nil {
			return err
		}
	}
	for _, s := range servers {
		fmt.Printf("\nresident after that load: %.1f MB (%s)\n", s.resident(), s.name)
	}
	fmt.Println()
	return nil
}

// compare measures a call of each server in turn with the constant reply, and prints a row for each server. The
// ratio is the median of the ratios of single rounds.
func compare(yardstick *process, servers []contender, calls []demo.Call, size string) error {
	if matched, err := regexp.MatchString(*paths, calls[0].Path+" "+calls[0].Title); err != nil || !matched {
		return err
	}
	constant, bare := []float64{}, []time.Duration{}
	own, ratios, costs := make([][]figures, len(servers)), make([][]float64, len(servers)), make([][]time.Duration, len(servers))
	for range *rounds {
		base, cost, err := yardstick.cost(func() (figures, error) {
			return load(yardstick.address, post("/"+size, servers[0].key, calls[0].Body), *clients, *span)
		})
		if err != nil {
			return err
		}
		constant, bare = append(constant, base.perSecond), append(bare, cost)
		for i, s := range servers {
			f, cost, err := s.cost(func() (figures, error) {
				return load(s.address, post(calls[i].Path, s.key, calls[i].Body), *clients, *span)
			})
			if err != nil {
				return fmt.Errorf("%s: %w", calls[i].Path, err)
			}
			own[i], ratios[i], costs[i] = append(own[i], f), append(ratios[i], f.perSecond/base.perSecond), append(costs[i], cost)
		}
	}
	for i, s := range servers {
		m, title := middle(own[i]), calls[i].Title
		if len(servers) > 1 {
			title = s.name + ": " + title
		}
		fmt.Printf("| `%s` %s | %d | %.0f | %s | %s | %.0f | %.2f | %s, %s |\n", calls[i].Path, title, m.bytes, m.perSecond, m.p50.Round(10*time.Microsecond), m.p99.Round(10*time.Microsecond),
			median(constant), median(ratios[i]), median(costs[i]).Round(100*time.Nanosecond), median(bare).Round(100*time.Nanosecond))
	}
	return nil
}

// measured returns the calls to measure: those of the demo, and the schedules over 45 days that have a target.
func measured(server *process, key string) ([]demo.Call, error) {
	start := time.Now().Unix() / 3600 * 3600
	window := fmt.Sprintf(`"start": %d, "end": %d}`, start, start+45*86400)
	body := fmt.Sprintf(`{"schedule_name": "Daily", "layers": [{"layer_name": "Day", "layer_start": %d, "rotation_unit": "day", "rotation_value": 1, "groups": [`+
		`{"group_name": "A", "members": [{"role_id": 0, "person_ids": [1]}]}, {"group_name": "B", "members": [{"role_id": 0, "person_ids": [2]}]}, {"group_name": "C", "members": [{"role_id": 0, "person_ids": [3]}]}]}]}`, start-365*86400)
	reply, err := ask(server.address, key, "/schedule/create", body)
	if err != nil {
		return nil, err
	}
	daily := regexp.MustCompile(`"schedule_id":(\d+)`).FindStringSubmatch(reply)
	if daily == nil {
		return nil, fmt.Errorf("no schedule in %s", reply)
	}
	calls := demo.Calls()
	hard := strings.TrimSuffix(calls[0].Body, "}")
	return append(calls,
		demo.Call{Title: "45 days of a daily rotation", Path: "/schedule/info", Body: fmt.Sprintf(`{"schedule_id": %s, `, daily[1]) + window},
		demo.Call{Title: "45 days of day, night and weekend layers", Path: "/schedule/info", Body: hard + ", " + window},
	), nil
}

// ask makes one call.
func ask(address, key, path, body string) (string, error) {
	r, err := http.Post("http://"+address+path+"?app_key="+key, "application/json", strings.NewReader(body))
	if err != nil {
		return "", err
	}
	defer r.Body.Close()
	reply, err := io.ReadAll(r.Body)
	return string(reply), err
}

// engines runs the benchmarks that need no server.
func engines() error {
	for _, dir := range []string{"./internal/timeline", "./internal/limit", "./internal/filter"} {
		cmd := exec.Command("go", "test", "-run", "^$", "-bench", ".", "-benchmem", dir)
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		if err := cmd.Run(); err != nil {
			return err
		}
	}
	return nil
}

// process is a server under measurement.
type process struct {
	cmd     *exec.Cmd
	address string
	key     string // the first app key it printed
	took    time.Duration
}

var secret = regexp.MustCompile(`\btk_[0-9A-Za-z]+\b`)

// start starts a command and waits until it listens.
func start(name string, args ...string) (*process, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	p := &process{cmd: exec.Command(name, args...)}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	began := time.Now()
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	ready := make(chan error, 1)
	go func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if p.key == "" {
				p.key = secret.FindString(lines.Text())
			}
			if url, ok := strings.CutPrefix(lines.Text(), "listening on http://"); ok {
				p.address, p.took = url, time.Since(began)
				ready <- nil
			}
		}
		ready <- fmt.Errorf("%s %s ended before it listened", name, strings.Join(args, " "))
	}()
	select {
	case err = <-ready:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		p.stop()
		return nil, err
	}
	return p, nil
}

// cost measures a run and the processor time of the process for each call. On a shared machine it is more reliable than
// throughput.
func (p *process) cost(run func() (figures, error)) (f figures, each time.Duration, err error) {
	before := p.processor()
	if f, err = run(); err != nil {
		return f, 0, err
	}
	return f, (p.processor() - before) / time.Duration(f.calls), nil
}

// processor returns the processor time of the process, which the kernel counts in hundredths of a second.
func (p *process) processor() time.Duration {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(stat), ") ") // the name before it may hold spaces
	fields, ticks := strings.Fields(rest), 0
	for _, i := range []int{11, 12} { // utime, stime
		if i < len(fields) {
			n, _ := strconv.Atoi(fields[i])
			ticks += n
		}
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

// resident returns the resident memory of the process in megabytes, as the kernel counts it.
func (p *process) resident() float64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		if kb, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			n, _ := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(kb), " kB"), 64)
			return n / 1000
		}
	}
	return 0
}

func (p *process) stop() error {
	p.cmd.Process.Signal(syscall.SIGTERM)
	err := p.cmd.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == -1 {
		return nil // the constant server ends with the signal
	}
	return err
}

func median[T cmp.Ordered](d []T) T {
	slices.Sort(d)
	return d[len(d)/2]
}

func listen() (net.Listener, string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, "", err
	}
	return l, "http://" + l.Addr().String(), nil
}
