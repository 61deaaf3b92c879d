package app_test

import (
	"encoding/binary"
	"io"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// link is a network between a program and PostgreSQL that takes time, and counts what passes.
type link struct {
	Statements atomic.Int64 // statements that were run
	Trips      atomic.Int64 // how often the program asked for the answers to what it had sent

	delay  time.Duration // each way
	server string
}

// newLink returns the DSN of a database by way of a link whose packets take delay, one way.
func newLink(t testing.TB, dsn string, delay time.Duration) (*link, string) {
	t.Helper()
	u, err := url.Parse(dsn)
	if err != nil {
		t.Fatal(err)
	}
	in, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close() })
	l := &link{delay: delay, server: u.Host}
	go l.accept(in)
	u.Host = in.Addr().String()
	query := u.Query()
	query.Set("sslmode", "disable") // what is encrypted cannot be counted
	u.RawQuery = query.Encode()
	return l, u.String()
}

func (l *link) accept(in net.Listener) {
	for {
		program, err := in.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", l.server)
		if err != nil {
			_ = program.Close()
			continue
		}
		var counted sync.WaitGroup
		counted.Add(1)
		sent, count := io.Pipe()
		go func() { defer counted.Done(); l.count(sent) }()
		go func() {
			l.carry(server, io.TeeReader(program, count))
			_ = count.Close()
			counted.Wait()
			_ = server.Close()
		}()
		go func() { l.carry(program, server); _ = program.Close() }()
	}
}

// carry copies what arrives, each part after the delay.
func (l *link) carry(to io.Writer, from io.Reader) {
	type part struct {
		bytes []byte
		due   time.Time
	}
	parts := make(chan part, 1000)
	go func() {
		defer close(parts)
		for {
			buffer := make([]byte, 64<<10)
			n, err := from.Read(buffer)
			if n > 0 {
				parts <- part{buffer[:n], time.Now().Add(l.delay)}
			}
			if err != nil {
				return
			}
		}
	}()
	for p := range parts {
		time.Sleep(time.Until(p.due))
		_, _ = to.Write(p.bytes) // a lost connection ends the reads too
	}
}

// count reads the messages of a program: one without a type, and then each with a type and its length.
func (l *link) count(sent io.Reader) {
	defer func() { _, _ = io.Copy(io.Discard, sent) }()
	header := make([]byte, 5)
	for kind := header[1:]; ; kind = header {
		if _, err := io.ReadFull(sent, kind); err != nil {
			return
		}
		size := int64(binary.BigEndian.Uint32(kind[len(kind)-4:])) - 4
		if _, err := io.CopyN(io.Discard, sent, size); err != nil {
			return
		}
		if len(kind) == 4 {
			continue
		}
		switch kind[0] {
		case 'E': // Execute
			l.Statements.Add(1)
		case 'S': // Sync
			l.Trips.Add(1)
		}
	}
}
