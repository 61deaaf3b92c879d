package ratelimit

import (
	"cmp"
	"slices"
	"time"
)

const (
	oneSecond = int64(time.Second)
	oneMinute = int64(time.Minute)

	smallest = 8         // places in a new ring
	disorder = oneSecond // how far back a reading of the clock is merely late
)

// window stores when the requests of one key were accepted. The times lie
// in a ring, never decreasing, and are identified by their sequence numbers: number
// n is at n modulo the ring's size, which is a power of two. Both tails only
// move forwards, so every accepted request is stepped over twice in its life
// and the work is constant on average.
type window struct {
	times  []int64 // nanoseconds since 1970
	next   uint64  // number of the next request to be accepted
	minute uint64  // the oldest in the last minute, and the oldest kept
	second uint64  // the oldest in the last second
	latest int64   // when the last request came, accepted or not
}

// allow decides on a request at now and records it if it is accepted. The rate
// has at least one limit.
func (w *window) allow(rate Rate, now int64) Result {
	now = w.settle(now)
	w.slide(rate, now)
	ok := !full(rate.PerSecond, w.next-w.second) && !full(rate.PerMinute, w.next-w.minute)
	if ok {
		w.push(now)
	}
	v := w.tighter(rate)
	v.OK = ok
	if !ok {
		v.RetryAfter = time.Duration(v.Reset.UnixNano() - now)
	}
	return v
}

// behind describes when a request at now is accepted if so many others are accepted before it, each as soon as the rate
// allows. It changes nothing: later places depend on earlier ones, so it tries them in a copy.
func (w *window) behind(ahead int, rate Rate, now int64) Result {
	now = w.settle(now)
	w.slide(rate, now)
	later := *w
	later.times = slices.Clone(w.times)
	for range ahead {
		later.push(later.free(rate, now))
	}
	v := Result{Limit: cmp.Or(rate.PerSecond, rate.PerMinute)}
	if later.next > later.minute {
		v = later.tighter(rate)
	}
	at := later.free(rate, now)
	v.RetryAfter, v.Reset = time.Duration(at-now), time.Unix(0, at).UTC()
	return v
}

// free returns when the window accepts its next request: now, or later if it is full, or holds requests that are to come.
func (w *window) free(rate Rate, now int64) int64 {
	if full(rate.PerSecond, w.next-w.second) || full(rate.PerMinute, w.next-w.minute) {
		return w.tighter(rate).Reset.UnixNano()
	}
	if w.next > w.minute {
		now = max(now, *w.at(w.next - 1))
	}
	return now
}

// settle returns the time to use for now, which is never before that of an
// earlier request. Goroutines that read the clock and then wait for the lock
// arrive slightly out of order; they count as arriving together. A larger step
// means that the clock was set back: then the whole history moves with it, so
// that no client is locked out until the clock has caught up, nor accepted twice.
func (w *window) settle(now int64) int64 {
	if ahead := w.latest - now; ahead > disorder && w.next > 0 {
		for n := w.minute; n < w.next; n++ {
			*w.at(n) -= ahead
		}
		w.latest = now
	}
	w.latest = max(w.latest, now)
	return w.latest
}

// slide moves the tails past everything that has left its window.
func (w *window) slide(rate Rate, now int64) {
	for w.minute < w.next && now-*w.at(w.minute) >= oneMinute {
		w.minute++
	}
	w.second = max(w.second, w.minute)
	for w.second < w.next && now-*w.at(w.second) >= oneSecond {
		w.second++
	}
	if rate.PerMinute <= 0 {
		w.minute = w.second
	}
}

// push records an accepted request, doubling the ring when it is full. The
// limits bound its size, because nothing is pushed beyond them.
func (w *window) push(now int64) {
	if w.next-w.minute == uint64(len(w.times)) {
		grown := window{times: make([]int64, max(smallest, 2*len(w.times)))}
		for n := w.minute; n < w.next; n++ {
			*grown.at(n) = *w.at(n)
		}
		w.times = grown.times
	}
	*w.at(w.next) = now
	w.next++
}

// tighter describes the window that has less left. If they have equally much
// left it is the one that takes longer to accept again, so that a refused
// client learns when the next request can pass.
func (w *window) tighter(rate Rate) Result {
	if rate.PerMinute <= 0 {
		return w.describe(rate.PerSecond, w.second, oneSecond)
	}
	inMinute := w.describe(rate.PerMinute, w.minute, oneMinute)
	if rate.PerSecond <= 0 {
		return inMinute
	}
	inSecond := w.describe(rate.PerSecond, w.second, oneSecond)
	if inSecond.Remaining < inMinute.Remaining ||
		inSecond.Remaining == inMinute.Remaining && inSecond.Reset.After(inMinute.Reset) {
		return inSecond
	}
	return inMinute
}

// describe reports on one window that holds the requests from tail on. Its
// next place comes free when the oldest of them leaves or, if the limit has
// been lowered below what the window already holds, when enough have left. An
// empty window has no such moment, but then it is never the tighter one.
func (w *window) describe(limit int, tail uint64, span int64) Result {
	held := w.next - tail
	oldest := max(tail, w.next-min(w.next, uint64(limit)))
	return Result{
		Limit:     limit,
		Remaining: max(0, limit-int(held)),
		Reset:     time.Unix(0, *w.at(oldest)+span).UTC(),
	}
}

func full(limit int, held uint64) bool { return limit > 0 && held >= uint64(limit) }

func (w *window) at(n uint64) *int64 { return &w.times[n&uint64(len(w.times)-1)] }
