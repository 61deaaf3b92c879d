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
	"strconv"
	"strings"
	"time"
)

// peer is another program that evaluates the same rules.
type peer struct {
	cmd     *exec.Cmd
	address string
}

func (p *peer) kill() {
	_ = p.cmd.Process.Kill() // it may have ended
	_ = p.cmd.Wait()
}

// errNoPeer is the error of a peer that is not there: it is measured where it is.
var errNoPeer = errors.New("is not installed")

// peerRules writes the rules as a file with one group of so many at a time; 0: the program decides. It returns the file's path.
func peerRules(dir, every string, atOnce int) (string, error) {
	var text strings.Builder
	fmt.Fprintf(&text, "groups:\n- name: all\n  interval: %s\n", every)
	if atOnce > 0 {
		fmt.Fprintf(&text, "  concurrency: %d\n", atOnce)
	}
	text.WriteString("  rules:\n")
	for n := range ruleCount {
		fmt.Fprintf(&text, "  - {alert: R%d, expr: '%s'}\n", n, ruleQuery(n))
	}
	path := filepath.Join(dir, fmt.Sprintf("rules-%s-%d.yml", every, atOnce))
	return path, os.WriteFile(path, []byte(text.String()), 0o600)
}

// startPeer starts a program whose arguments end with its address, and waits until it has metrics.
func startPeer(program string, args ...string) (*peer, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &peer{address: listener.Addr().String()}
	_ = listener.Close() // its port is free now
	args[len(args)-1] += p.address
	p.cmd = exec.Command(program, args...)
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	for range 240 {
		r, err := http.Get("http://" + p.address + "/metrics")
		if err == nil {
			_ = r.Body.Close()
			return p, nil
		}
		time.Sleep(250 * time.Millisecond)
	}
	p.kill()
	return nil, fmt.Errorf("%s did not start", program)
}

// startVMAlert starts vmalert with one group of all rules, which it asks eight at a time. errNoPeer: it is not installed, and no Go
// module of the tests has it.
func startVMAlert(dir, address, every string) (*peer, error) {
	program, err := exec.LookPath("vmalert")
	if err != nil {
		built, err := exec.Command("go", "-C", "test/datasource", "tool", "-n", "vmalert").Output()
		if err != nil {
			return nil, errNoPeer
		}
		program = strings.TrimSpace(string(built))
	}
	path, err := peerRules(dir, every, askedAtOnce)
	if err != nil {
		return nil, err
	}
	return startPeer(program, "-rule="+path, "-datasource.url="+address, "-notifier.blackhole", "-datasource.maxIdleConnections=8", "-httpListenAddr=")
}

// startPrometheus starts a Prometheus of its own with all rules in one group and no series. errNoPeer: it is not installed.
func startPrometheus(dir, every string) (*peer, error) {
	if _, err := exec.LookPath("prometheus"); err != nil {
		return nil, errNoPeer
	}
	path, err := peerRules(dir, every, 0)
	if err != nil {
		return nil, err
	}
	config := filepath.Join(dir, "rules-of-prometheus.yml")
	if err := os.WriteFile(config, []byte("rule_files: ["+path+"]\n"), 0o600); err != nil {
		return nil, err
	}
	return startPeer("prometheus", "--config.file="+config, "--storage.tsdb.path="+filepath.Join(dir, "prometheus-rules"), "--web.listen-address=")
}

// metric returns the sum of a metric's samples whose labels contain all texts.
func (p *peer) metric(name string, labels ...string) (sum float64, err error) {
	r, err := http.Get("http://" + p.address + "/metrics")
	if err != nil {
		return 0, err
	}
	defer r.Body.Close()
	found := false
lines:
	for in := bufio.NewScanner(r.Body); in.Scan(); {
		rest, is := strings.CutPrefix(in.Text(), name)
		if !is || !strings.HasPrefix(rest, "{") && !strings.HasPrefix(rest, " ") {
			continue
		}
		for _, label := range labels {
			if !strings.Contains(rest, label) {
				continue lines
			}
		}
		value, err := strconv.ParseFloat(rest[strings.LastIndexByte(rest, ' ')+1:], 64)
		if err != nil {
			return 0, err
		}
		sum += value
		found = true
	}
	_, _ = io.Copy(io.Discard, r.Body)
	if !found {
		return 0, errors.New(name + " is no metric of " + p.address)
	}
	return sum, nil
}

// peersOnSchedule lets the peers evaluate the same rules every 30 seconds.
func (b ruleBed) peersOnSchedule() error {
	for _, one := range []struct {
		name, sum, count string
		start            func() (*peer, error)
	}{
		{"vmalert", "vmalert_iteration_duration_seconds_sum", "vmalert_iteration_duration_seconds_count",
			func() (*peer, error) { return startVMAlert(b.dir, b.address, "30s") }},
		{"Prometheus, beside its own series", "prometheus_rule_group_duration_seconds_sum", "prometheus_rule_group_duration_seconds_count",
			func() (*peer, error) { return startPrometheus(b.dir, "30s") }},
	} {
		p, err := one.start()
		if errors.Is(err, errNoPeer) {
			fmt.Printf("| the same of %s | | it %s |\n", one.name, err)
			continue
		}
		if err != nil {
			return err
		}
		err = p.onSchedule(one.name, one.sum, one.count)
		p.kill()
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *peer) onSchedule(name, sum, count string) error {
	const begin, d = 5 * time.Second, 65 * time.Second
	time.Sleep(begin)
	before := processorOf(p.cmd.Process.Pid)
	time.Sleep(d)
	used := processorOf(p.cmd.Process.Pid) - before
	seconds, err := p.metric(sum)
	if err != nil {
		return err
	}
	rounds, err := p.metric(count)
	fmt.Printf("| the same of %s: processor, memory, a round of all rules | | %.2f, %.0f MB, %s |\n", name, used.Seconds()/d.Seconds(),
		residentOf(p.cmd.Process.Pid), time.Duration(seconds/max(rounds, 1)*1e9).Round(time.Millisecond))
	return err
}
