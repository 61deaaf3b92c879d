package main

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"tocsin/internal/app"
	"tocsin/internal/engine/notify"
	"tocsin/internal/sender"
)

// paging measures the time from the reply to an event to the arrival of its page, when events arrive at a steady rate
// and each pages a person by e-mail at once.
func paging(dir string) error {
	fmt.Printf("| from the answer to an event to its page | pages | p50 | p99 | longest |\n|---|---|---|---|---|\n")
	for _, rate := range []int{10, 100, 500, 1000} {
		runs := []figures{}
		for round := range *rounds {
			dsn, err := eventDatabase(dir, fmt.Sprintf("page-%d-%d", rate, round), 20, true)
			if err != nil {
				return err
			}
			p, err := startPager(dsn)
			if err != nil {
				return err
			}
			f, err := p.paged(rate, *span)
			if stopped := p.stop(); err == nil {
				err = stopped
			}
			if err != nil {
				return err
			}
			runs = append(runs, f)
		}
		slices.SortFunc(runs, func(a, b figures) int { return int(a.p99 - b.p99) })
		m := runs[len(runs)/2]
		fmt.Printf("| %d events a second | %.0f | %s | %s | %s |\n", rate, m.perSecond*span.Seconds(), m.p50.Round(100*time.Microsecond), m.p99.Round(100*time.Microsecond), m.longest.Round(100*time.Microsecond))
	}
	fmt.Println()
	return nil
}

// receiver accepts every message and records when each arrived.
type receiver struct {
	sync.Mutex
	came        map[int]time.Time // by the number of the message's event
	all         chan struct{}     // closed when as many came as are wanted
	first, want int               // the number of the first one, and how many
}

func (r *receiver) take(_ context.Context, _ string, _ notify.Address, m sender.Message) (sender.Receipt, error) {
	now := time.Now()
	r.Lock()
	defer r.Unlock()
	text, ok := strings.CutPrefix(m.Title, "Trouble on host-")
	number, err := strconv.Atoi(text)
	if !ok || err != nil || number < r.first || number >= r.first+r.want {
		return sender.Receipt{Status: 200}, nil
	}
	if _, twice := r.came[number]; !twice {
		r.came[number] = now
		if len(r.came) == r.want {
			close(r.all)
		}
	}
	return sender.Receipt{Status: 200}, nil
}

// expect makes the receiver record the messages of the next events.
func (r *receiver) expect(n int) {
	r.Lock()
	defer r.Unlock()
	r.first += r.want
	r.want, r.came = n, map[int]time.Time{}
	r.all = make(chan struct{})
}

// pageTimeout is how long all pages may take after the last event.
const pageTimeout = 5 * time.Minute

// pager is a server whose messages a receiver takes.
type pager struct {
	receiver
	address string
	stop    func() error
}

func startPager(dsn string) (*pager, error) {
	p := &pager{}
	a, err := program(dsn, app.Senders{Deliver: p.take})
	if err != nil {
		return nil, err
	}
	server, err := a.Start()
	if err != nil {
		return nil, err
	}
	p.address, p.stop = strings.TrimPrefix(server.URL, "http://"), server.Stop
	return p, nil
}

// paged sends events at a rate per second for a while and waits for all their pages.
func (p *pager) paged(rate int, d time.Duration) (f figures, err error) {
	n := max(10, int(float64(rate)*d.Seconds()))
	p.expect(n)
	answered, err := steadily(p.address, p.first, n, rate)
	if err != nil {
		return f, err
	}
	select {
	case <-p.all:
	case <-time.After(pageTimeout):
		return f, fmt.Errorf("%d of %d pages within %s", len(p.came), n, pageTimeout)
	}
	took := make([]time.Duration, n)
	for i, at := range answered {
		took[i] = p.came[p.first+i].Sub(at)
	}
	return summed(took, d), nil
}

// steadily sends n events with numbers from first on at a rate per second, without waiting for replies, and returns the times at
// which their replies began.
func steadily(address string, first, n, rate int) ([]time.Time, error) {
	const connections = 64
	answered, errs := make([]time.Time, n), make([]error, connections)
	began := time.Now()
	var all sync.WaitGroup
	for c := range connections {
		all.Go(func() {
			conn, err := net.Dial("tcp", address)
			if err != nil {
				errs[c] = err
				return
			}
			defer conn.Close()
			in := bufio.NewReader(conn)
			for i := c; i < n && errs[c] == nil; i += connections {
				time.Sleep(time.Until(began.Add(time.Duration(i) * time.Second / time.Duration(rate))))
				body := strings.ReplaceAll(eventText, numbered, fmt.Sprintf("%0*d", len(numbered), first+i))
				_, errs[c] = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", eventPath, len(body), body)
				if errs[c] != nil {
					return
				}
				_, errs[c] = in.Peek(1)
				if errs[c] != nil {
					return
				}
				answered[i] = time.Now()
				_, errs[c] = skipReply(in)
			}
		})
	}
	all.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return answered, nil
}
