// Package ratelimit counts requests in exact sliding windows of one second and one
// minute (the specification, 8).
//
// With a rate of 50 and 1,000, the 51st request inside any one second and the
// 1,001st inside any sixty seconds are refused, wherever those spans begin.
// Refused requests do not count, so that a client that keeps knocking gets in
// as soon as there is room. A window is open at its far end: a request counts
// until exactly one second, or one minute, after it was accepted.
//
// The package reads no clock and starts no goroutine, and it must never grow
// with anything but the keys that were active lately. A key costs about 150
// bytes, and eight bytes for every request accepted in the last minute, rounded
// up to a power of two: 8 KiB at most under a limit of 1,000 a minute, 4 KiB
// under 300.
package ratelimit

import "time"

// Rate says how many requests are accepted in each window. Zero, or less,
// means no limit in that window. A key keeps one rate: what was accepted while
// it had no limit per minute is remembered for a second only.
type Rate struct {
	PerSecond int
	PerMinute int
}

// Result answers one request. Limit, Remaining and Reset describe whichever
// window has less left, and are zero if the rate has no limit at all.
type Result struct {
	OK        bool
	Limit     int
	Remaining int       // requests that would be accepted at this moment, after this one
	Reset     time.Time // when the window frees its next place, UTC
	// RetryAfter is how long until a request can be accepted, if this one was
	// not. Round it up when sending it in whole seconds.
	RetryAfter time.Duration
}
