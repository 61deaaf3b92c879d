package nodes

import (
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Link is the network between two processes, such as a node and the database: a TCP proxy that can be cut.
type Link struct {
	Address string
	Came    atomic.Int64 // bytes that came from the other side

	listener net.Listener
	to       string
	silent   atomic.Bool // nothing passes, and connections stay open
	closed   atomic.Bool // connections are refused
	delay    atomic.Int64
	mu       sync.Mutex
	open     map[net.Conn]bool
}

// NewLink listens on a port of its own and connects to an address.
func NewLink(to string) (*Link, error) {
	l := &Link{to: to, open: map[net.Conn]bool{}}
	var err error
	l.listener, err = net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	l.Address = l.listener.Addr().String()
	go func() {
		for {
			c, err := l.listener.Accept()
			if err != nil {
				return
			}
			go l.pass(c)
		}
	}()
	return l, nil
}

func (l *Link) pass(near net.Conn) {
	l.keep(near)
	defer l.drop(near)
	if l.closed.Load() {
		return
	}
	far, err := net.Dial("tcp", l.to)
	if err != nil {
		return
	}
	l.keep(far)
	defer l.drop(far)
	go func() {
		l.copy(far, near, nil)
		far.Close()
	}()
	l.copy(near, far, &l.Came)
}

// copy copies until an end is closed, and counts the bytes unless count is nil. While the link is silent it keeps what it has read.
func (l *Link) copy(to, from net.Conn, count *atomic.Int64) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		for l.silent.Load() {
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(time.Duration(l.delay.Load()))
		if n > 0 {
			if count != nil {
				count.Add(int64(n))
			}
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (l *Link) keep(c net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open[c] = true
}

func (l *Link) drop(c net.Conn) {
	c.Close()
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, c)
}

// Silence lets nothing pass any more, as a network that loses everything does.
func (l *Link) Silence() { l.silent.Store(true) }

// Delay lets everything pass later by so much.
func (l *Link) Delay(d time.Duration) { l.delay.Store(int64(d)) }

// Reset resets all connections and refuses new ones.
func (l *Link) Reset() {
	l.closed.Store(true)
	l.silent.Store(false)
	l.Break()
}

// Break resets all connections.
func (l *Link) Break() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.open {
		if tcp, ok := c.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0) // it was closed already
		}
		c.Close()
	}
}

// Repair lets everything pass again.
func (l *Link) Repair() {
	l.silent.Store(false)
	l.closed.Store(false)
	l.Delay(0)
}

// Close ends the link.
func (l *Link) Close() {
	l.Reset()
	l.listener.Close()
}
