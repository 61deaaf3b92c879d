// Package ratelimit counts requests in exact sliding windows of one second and one
// minute (the specification, 8).
//
// With a rate of 50 and 1,000, the 51st request inside any one second and the
// 1,001st inside any sixty seconds are refused, wherever those spans begin.
// Refused requests do not count, so that a client that keeps retrying is accepted
// as soon as the window allows it. A window is open at its far end: a request counts
// until exactly one second, or one minute, after it was accepted.
//
// The package reads no clock and starts no goroutine, and it must never grow
// with anything but the number of recently active keys. A key costs about 150
// bytes, and eight bytes for every request accepted in the last minute, rounded
// up to a power of two: 8 KiB at most under a limit of 1,000 a minute, 4 KiB
// under 300.
package ratelimit

import (
	"net/netip"
	"time"
)

// Rate is the number of requests accepted in each window. Zero, or less, means
// no limit in that window. A key must keep one rate: requests accepted while it
// had no limit per minute are stored for a second only.
type Rate struct {
	PerSecond int
	PerMinute int
}

// Result is the decision about one request. Limit, Remaining and Reset describe
// the window that has less left, and are zero if the rate has no limit at all.
type Result struct {
	OK        bool
	Limit     int
	Remaining int       // requests that would be accepted at this moment, after this one
	Reset     time.Time // when the window accepts its next request, UTC
	// RetryAfter is how long until a request can be accepted, if this one was
	// not. Round it up when sending it in whole seconds.
	RetryAfter time.Duration
}

// Network returns the key under which requests from a client address are
// counted: the address itself for IPv4, also when written as IPv6, and the /64
// for IPv6, since a subscriber commonly has a whole /64 to pick addresses
// from. All invalid addresses share one key.
func Network(addr netip.Addr) netip.Prefix {
	addr = addr.Unmap().WithZone("")
	length := 32
	if addr.Is6() {
		length = 64
	}
	network, err := addr.Prefix(length)
	if err != nil {
		return netip.Prefix{}
	}
	return network
}
