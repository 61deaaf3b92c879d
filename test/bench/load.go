package main

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net"
	"net/textproto"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// figures holds the measurements of one run of load.
type figures struct {
	perSecond float64
	p50, p99  time.Duration
	longest   time.Duration
	calls     int // that were answered
	bytes     int // of one reply's body
}

// load sends the same request over a number of connections for a while; see loadEach.
func load(address string, request []byte, clients int, span time.Duration) (figures, error) {
	return loadEach(address, func(int) func() []byte { return func() []byte { return request } }, clients, span)
}

// loadEach sends what requests makes for each connection, one request after the other for a while, each
// connection waiting for its reply before it asks again. Any reply but 200 is an error: a figure for failures
// means nothing.
//
// It implements only the HTTP it needs: a full client costs more than the server it measures, and both use the
// processors of the same machine.
func loadEach(address string, requests func(client int) func() []byte, clients int, span time.Duration) (figures, error) {
	type result struct {
		took  []time.Duration
		bytes int
		err   error
	}
	results := make([]result, clients)
	end := time.Now().Add(span)
	var all sync.WaitGroup
	for i := range clients {
		all.Go(func() {
			r := &results[i]
			conn, err := net.Dial("tcp", address)
			if err != nil {
				r.err = err
				return
			}
			defer conn.Close()
			in, next := bufio.NewReaderSize(conn, 64<<10), requests(i)
			for began := time.Now(); began.Before(end); {
				_, r.err = conn.Write(next())
				if r.err != nil {
					return
				}
				r.bytes, r.err = skipReply(in)
				if r.err != nil {
					return
				}
				now := time.Now()
				r.took = append(r.took, now.Sub(began))
				began = now
			}
		})
	}
	all.Wait()
	took, f := []time.Duration{}, figures{}
	for _, r := range results {
		if r.err != nil {
			return f, r.err
		}
		took, f.bytes = append(took, r.took...), r.bytes
	}
	if len(took) == 0 {
		return f, fmt.Errorf("no reply within %s", span)
	}
	sum := summed(took, span)
	sum.bytes = f.bytes
	return sum, nil
}

// summed returns the figures of single calls, at least one, within a span.
func summed(took []time.Duration, span time.Duration) figures {
	slices.Sort(took)
	return figures{calls: len(took), perSecond: float64(len(took)) / span.Seconds(), p50: took[len(took)/2], p99: took[len(took)*99/100], longest: took[len(took)-1]}
}

// middle returns the run of median throughput.
func middle(runs []figures) figures {
	slices.SortFunc(runs, func(a, b figures) int { return cmp.Compare(a.perSecond, b.perSecond) })
	return runs[len(runs)/2]
}

// skipReply reads one reply to its end and returns the length of its body in bytes.
func skipReply(in *bufio.Reader) (int, error) {
	status, err := in.ReadSlice('\n')
	if err != nil {
		return 0, err
	}
	failed := ""
	if !bytes.HasPrefix(status, []byte("HTTP/1.1 200")) {
		failed = strings.TrimSpace(string(status))
	}
	length := -1
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return 0, err
		}
		if len(line) <= 2 {
			break
		}
		if name, value, _ := bytes.Cut(line, []byte(":")); bytes.EqualFold(name, []byte("Content-Length")) {
			length, err = strconv.Atoi(string(textproto.TrimBytes(value)))
			if err != nil {
				return 0, err
			}
		}
	}
	if length < 0 {
		return 0, fmt.Errorf("a reply without Content-Length")
	}
	if failed != "" {
		body := make([]byte, length)
		io.ReadFull(in, body)
		return 0, fmt.Errorf("%s: %s", failed, body)
	}
	_, err = in.Discard(length)
	return length, err
}

// post returns a request for load.
func post(path, key, body string) []byte {
	return fmt.Appendf(nil, "POST %s?app_key=%s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", path, key, len(body), body)
}

// paced sends so many requests over some connections, each connection so long after its last one, and at least after its
// reply.
func paced(address string, clients, count int, every time.Duration, request func(n int) []byte) (figures, error) {
	took, errs := make([][]time.Duration, clients), make([]error, clients)
	var next atomic.Int64
	var all sync.WaitGroup
	start := time.Now()
	for i := range clients {
		all.Go(func() {
			conn, err := net.Dial("tcp", address)
			if err != nil {
				errs[i] = err
				return
			}
			defer conn.Close()
			in := bufio.NewReaderSize(conn, 64<<10)
			for n := int(next.Add(1)) - 1; n < count && errs[i] == nil; n = int(next.Add(1)) - 1 {
				text, began := request(n), time.Now()
				_, errs[i] = conn.Write(text)
				if errs[i] != nil {
					return
				}
				_, errs[i] = skipReply(in)
				took[i] = append(took[i], time.Since(began))
				time.Sleep(every - time.Since(began))
			}
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		return figures{}, err
	}
	return summed(slices.Concat(took...), time.Since(start)), nil
}
