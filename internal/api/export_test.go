package api

import "time"

// Remembered sweeps the rate limits and returns the number of windows that are left.
func Remembered(f *Frame) (rates, guesses int) {
	f.Sweep()
	now := f.Clock.Now()
	return f.rates.Sweep(now), f.Guesses.sweep(now)
}

// Check checks a body against the request schema of an operation, as a call does before the operation's
// own rules.
func Check(f *Frame, path string, body []byte) error {
	document, err := parse(body)
	if err != nil {
		return err
	}
	f.prepare(f.ops[path])
	return f.ops[path].check.check(nil, document)
}

// SetBodies changes the bounds of request bodies: the bytes over all connections, the time to wait for memory, and the
// time in which a body must arrive.
func SetBodies(f *Frame, total int64, wait, arrive time.Duration) {
	f.bodies, f.bodyTime = newBodyBudget(total, wait), arrive
}

// BodyBytes returns the bytes that bodies hold now.
func BodyBytes(f *Frame) int64 { return f.bodies.held() }

// SetReplies changes the bounds of replies: the bytes over all connections, those that may wait, the time to wait, and the
// time in which a reply must be read.
func SetReplies(f *Frame, total, queue int64, wait, read time.Duration) {
	f.replies, f.replyTime = newReplyBudget(total, queue, wait), read
}

// ReplyBytes returns the bytes that replies hold now.
func ReplyBytes(f *Frame) int64 { return f.replies.held() }

// Waiting returns how many calls wait for their turn.
func Waiting(f *Frame) int { return f.queue.Places() }
