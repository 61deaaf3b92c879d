// Package pgserver starts temporary PostgreSQL servers from the installed binaries, for tests and benchmarks: on a free
// port, in a directory that is removed with them, without the rights of root. It must never touch a server that it has
// not started.
package pgserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// ErrMissing is the error of Start on a machine without PostgreSQL.
var ErrMissing = errors.New("PostgreSQL is not installed (apt-get install postgresql)")

// Options are how a server runs.
type Options struct {
	Durable  bool              // a commit waits for the disk, as in production; otherwise it does not, and tests are faster
	Settings map[string]string // further lines of postgresql.conf
}

// Server is a running server. Its superuser is "postgres", without a password, on 127.0.0.1 alone.
type Server struct {
	Port int

	reserved Port
	dir      string // holds data and log
	bin      string
	as       *syscall.SysProcAttr // the user that the server runs as; nil: the current user
	opts     Options
	uid      int
	gid      int
}

// Start makes a new database cluster and starts its server.
func Start(o Options) (*Server, error) {
	s, err := prepare(o)
	if err != nil {
		return nil, err
	}
	err = s.command("initdb", "-D", s.data(), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
	if err == nil {
		err = s.configure()
	}
	if err == nil {
		err = s.Run()
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// prepare makes the directory of a server.
func prepare(o Options) (s *Server, err error) {
	s = &Server{opts: o, uid: -1, gid: -1}
	s.bin, err = Binaries()
	if err != nil {
		return nil, err
	}
	s.as, err = Unprivileged()
	if err != nil {
		return nil, err
	}
	if s.as != nil {
		s.uid, s.gid = int(s.as.Credential.Uid), int(s.as.Credential.Gid)
	}
	s.reserved, err = ReservePort()
	if err != nil {
		return nil, err
	}
	s.Port = s.reserved.Number
	s.dir, err = Directory(!o.Durable, s.as)
	return s, err
}

// Directory makes a directory of a user for the files of servers, in memory if that is asked for and the system has it.
func Directory(memory bool, as *syscall.SysProcAttr) (dir string, err error) {
	under := "" // the directory for temporary files
	if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() && memory {
		under = "/dev/shm"
	}
	dir, err = os.MkdirTemp(under, "tocsin-postgres")
	if err != nil || as == nil {
		return dir, err
	}
	return dir, os.Chown(dir, int(as.Credential.Uid), int(as.Credential.Gid))
}

// Binaries returns the directory of the newest PostgreSQL, which Debian keeps out of PATH.
func Binaries() (string, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil {
		return "", err
	}
	if len(found) > 0 {
		version := func(path string) int {
			n, _ := strconv.Atoi(strings.Split(path, "/")[4]) // 0 for what is no version
			return n
		}
		return filepath.Dir(slices.MaxFunc(found, func(a, b string) int { return version(a) - version(b) })), nil
	}
	path, err := exec.LookPath("initdb")
	if err != nil {
		return "", ErrMissing
	}
	return filepath.Dir(path), nil
}

// Unprivileged returns the user that servers run as where the current one is root, which PostgreSQL refuses; nil: the current user.
func Unprivileged() (*syscall.SysProcAttr, error) {
	if os.Getuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		u, err = user.Lookup("nobody")
		if err != nil {
			return nil, err
		}
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return nil, err
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}, nil
}

// Port is a port of 127.0.0.1 that no other caller of ReservePort has, in any process, until Close. No other caller has the
// port while its server is stopped, or before its server listens.
type Port struct {
	Number int
	sign   net.Listener // on the same port of another address of this machine
}

// Close releases the port.
func (p Port) Close() error { return p.sign.Close() }

// ReservePort returns a port that no process listens on. The port is below the ports that systems lend to connections (from
// 32768 on Linux). A connection of another test could have such a port as soon as the server stops. The server could not
// start again then.
func ReservePort() (p Port, err error) {
	for range 100 {
		p.Number = 10_000 + rand.IntN(22_000) //nolint:gosec // callers must rarely choose the same port; no attacker guesses it
		p.sign, err = net.Listen("tcp", fmt.Sprintf("127.0.0.2:%d", p.Number))
		if err != nil {
			continue
		}
		var l net.Listener
		l, err = net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", p.Number))
		if err == nil {
			return p, l.Close()
		}
		p.sign.Close()
	}
	return p, err
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }
func (s *Server) log() string  { return filepath.Join(s.dir, "log") }

// configure adds the settings of a server to its configuration.
func (s *Server) configure() error {
	settings := map[string]string{
		"listen_addresses": "'127.0.0.1'", "port": strconv.Itoa(s.Port), "unix_socket_directories": "'" + s.dir + "'",
		"max_connections": "1000", "shared_buffers": "128MB", "wal_level": "replica", "max_wal_senders": "10",
		"log_min_messages": "warning", "max_wal_size": "512MB",
	}
	if !s.opts.Durable {
		settings["fsync"] = "off"
		settings["synchronous_commit"] = "off"
		settings["full_page_writes"] = "off"
	}
	for name, value := range s.opts.Settings {
		settings[name] = value
	}
	var text bytes.Buffer
	for name, value := range settings {
		fmt.Fprintf(&text, "%s = %s\n", name, value)
	}
	f, err := os.OpenFile(filepath.Join(s.data(), "postgresql.auto.conf"), os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text.Bytes())
	return errors.Join(err, f.Close())
}

// Run starts a server that is stopped, and waits until it takes connections.
func (s *Server) Run() error {
	return s.command("pg_ctl", "-D", s.data(), "-l", s.log(), "-w", "-t", "60", "start")
}

// Stop ends the server in order; its data stays.
func (s *Server) Stop() error { return s.command("pg_ctl", "-D", s.data(), "-m", "fast", "-w", "stop") }

// Kill ends the server as a crash does: connections break, nothing is written any more.
func (s *Server) Kill() error {
	return s.command("pg_ctl", "-D", s.data(), "-m", "immediate", "-w", "stop")
}

// Promote makes a standby the primary.
func (s *Server) Promote() error { return s.command("pg_ctl", "-D", s.data(), "-w", "promote") }

// Standby starts a server that follows this one. Settings are its own, as in Options. The primary waits for it at each
// commit once its synchronous_standby_names is set to 'standby'.
func (s *Server) Standby() (*Server, error) {
	b, err := prepare(s.opts)
	if err != nil {
		return nil, err
	}
	err = b.command("pg_basebackup", "-D", b.data(), "-R", "-X", "stream", "-c", "fast", "--no-sync",
		"-d", s.DSN("postgres")+"?application_name=standby")
	if err == nil {
		err = b.configure()
	}
	if err == nil {
		err = b.Run()
	}
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

// DSN returns the address of a database.
func (s *Server) DSN(database string) string {
	return fmt.Sprintf("postgres://postgres@127.0.0.1:%d/%s", s.Port, database)
}

// SQL sends statements to a database.
func (s *Server) SQL(database, text string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c, err := pgconn.Connect(ctx, s.DSN(database))
	if err != nil {
		return err
	}
	_, err = c.Exec(ctx, text).ReadAll()
	return errors.Join(err, c.Close(ctx))
}

// Log returns what the server has logged.
func (s *Server) Log() (string, error) {
	text, err := os.ReadFile(s.log())
	return string(text), err
}

// Close ends the server, if it runs, and removes its data.
func (s *Server) Close() error {
	var err error
	if _, missing := os.Stat(filepath.Join(s.data(), "postmaster.pid")); !errors.Is(missing, fs.ErrNotExist) {
		err = s.Kill()
	}
	return errors.Join(err, s.reserved.Close(), os.RemoveAll(s.dir))
}

// command runs one of PostgreSQL's programs.
func (s *Server) command(name string, args ...string) error {
	c := exec.Command(filepath.Join(s.bin, name), args...)
	c.Dir, c.SysProcAttr = s.dir, s.as
	var out bytes.Buffer
	// A file, not a pipe: the server keeps the output of the program that starts it, and a pipe would not end.
	f, err := os.CreateTemp("", "pgserver")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	c.Stdout, c.Stderr = f, f
	if err := c.Run(); err != nil {
		if text, readErr := os.ReadFile(f.Name()); readErr == nil {
			out.Write(text)
		}
		if text, readErr := s.Log(); readErr == nil {
			out.WriteString(text)
		}
		return fmt.Errorf("%s: %w\n%s", name, err, out.String())
	}
	return nil
}
