package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
)

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
	f, err = run()
	if err != nil {
		return f, 0, err
	}
	return f, (p.processor() - before) / time.Duration(f.calls), nil
}

// processor returns the processor time of the process.
func (p *process) processor() time.Duration { return processorOf(p.cmd.Process.Pid) }

// processorOf returns the processor time of a process, which the kernel counts in hundredths of a second.
func processorOf(pid int) time.Duration {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
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

// settle waits until the process has finished what it does by itself, as escalations after a storm, a minute at most.
func (p *process) settle() {
	for range 60 {
		before := p.processor()
		time.Sleep(time.Second)
		if p.processor()-before < 50*time.Millisecond {
			return
		}
	}
}

// resident returns the resident memory of the process in megabytes, as the kernel counts it.
func (p *process) resident() float64 { return residentOf(p.cmd.Process.Pid) }

func residentOf(pid int) float64 {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
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

func listen() (net.Listener, string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, "", err
	}
	return l, "http://" + l.Addr().String(), nil
}
