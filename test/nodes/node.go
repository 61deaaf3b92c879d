package nodes

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Node is a server, or an edge, in a process of its own. It keeps its address when it starts again.
type Node struct {
	Name string
	URL  string

	binary   string
	listen   string
	args     []string
	cmd      *exec.Cmd
	ended    chan struct{}
	log      logBuffer
	expected []string // texts of log lines that this node may have, and no other
}

// NewNode returns a process that does not run yet: a command of the binary that listens on a free port.
func NewNode(name, binary string, args ...string) *Node {
	return &Node{Name: name, binary: binary, listen: "127.0.0.1:0", args: args}
}

// Start starts the process and waits until it listens.
func (n *Node) Start() error {
	n.cmd, n.ended = exec.Command(n.binary, append(n.args, "--listen", n.listen)...), make(chan struct{})
	n.cmd.Stderr = &n.log
	out, err := n.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := n.cmd.Start(); err != nil {
		return err
	}
	ready := make(chan string, 1)
	go func(cmd *exec.Cmd, ended chan struct{}) {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if url, ok := strings.CutPrefix(lines.Text(), "listening on "); ok {
				ready <- url
			}
		}
		_, _ = io.Copy(io.Discard, out)
		_ = cmd.Wait() // how it ended is asked of the process's state
		close(ended)
	}(n.cmd, n.ended)
	select {
	case url := <-ready:
		if n.URL == "" { // it listens there after a restart too, and is called meanwhile
			n.URL, n.listen = url, strings.TrimPrefix(url, "http://")
		}
		return nil
	case <-n.ended:
		return fmt.Errorf("%s ended before it listened: %s", n.Name, n.log.String())
	case <-time.After(3 * time.Minute): // a migration is tried for two
		n.Kill()
		return fmt.Errorf("%s does not listen: %s", n.Name, n.log.String())
	}
}

// Kill ends the process as a machine that fails does. It may have ended before.
func (n *Node) Kill() {
	if n.cmd == nil {
		return
	}
	_ = n.cmd.Process.Kill() // it has ended
	<-n.ended
}

// Process returns the process as it was started last.
func (n *Node) Process() *os.Process { return n.cmd.Process }

// Freeze stops the process where it is, in the midst of transactions and requests; Thaw lets it go on.
func (n *Node) Freeze() error { return n.cmd.Process.Signal(syscall.SIGSTOP) }

// Thaw lets a frozen process go on.
func (n *Node) Thaw() error { return n.cmd.Process.Signal(syscall.SIGCONT) }

// Stop ends the process in order.
func (n *Node) Stop() error {
	if err := n.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-n.ended:
	case <-time.After(3 * time.Minute):
		return fmt.Errorf("%s does not end on SIGTERM", n.Name)
	}
	if code := n.cmd.ProcessState.ExitCode(); code != 0 {
		return fmt.Errorf("%s ended with status %d: %s", n.Name, code, n.log.String())
	}
	return nil
}

// Logged returns the log lines, each a warning or an error, that contain none of the expected texts.
func (n *Node) Logged(expected ...string) (lines []string) {
next:
	for line := range strings.Lines(n.log.String()) {
		var entry struct{ Level, Msg string }
		if json.Unmarshal([]byte(line), &entry) != nil {
			entry.Msg = line // a panic, or another text that is no log line
		}
		for _, text := range expected {
			if strings.Contains(line, text) {
				continue next
			}
		}
		lines = append(lines, n.Name+": "+strings.TrimSpace(line))
	}
	return lines
}

// logBuffer keeps what a process writes.
type logBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
