package webhook

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"tocsin/internal/platform/egress"
	"tocsin/internal/platform/jobs"
)

const life = 24 * time.Hour // after which a message is given up

// backoff bounds the time between two attempts. A message waits for as long as it is old already, so that each pause is
// about twice the last.
var backoff = jobs.Backoff{Min: 5 * time.Second, Max: 2 * time.Hour}

// conclusion is what an attempt means for its message.
type conclusion struct {
	status string        // delivered, waiting: try again, or failed: do not
	after  time.Duration // of waiting: not before; 0: the endpoint did not say
	why    string        // empty when delivered
}

// judge weighs what came of an attempt. Only what may heal by itself is tried again: no answer, 408, 429 and
// 5xx; an address that must not be called, any other status, and 410 above all, will be the same next time.
func judge(a egress.Attempt, failure *egress.Failure, now time.Time) conclusion {
	switch {
	case a.Status >= 200 && a.Status < 300: // though its body may have been cut off
		return conclusion{status: delivered}
	case a.Status == 0 && failure != nil && failure.Retry():
		return conclusion{status: waiting, why: failure.Message}
	case a.Status == 0 && failure != nil:
		return conclusion{status: failed, why: failure.Message}
	}
	v := conclusion{status: failed, why: fmt.Sprintf("it answered %d %s", a.Status, http.StatusText(a.Status))}
	if a.Status == http.StatusRequestTimeout || a.Status == http.StatusTooManyRequests || a.Status >= 500 {
		v.status, v.after = waiting, retryAfter(a.Header.Get("Retry-After"), now)
	}
	return v
}

// retryAfter reads the header of that name: seconds, or a date.
func retryAfter(text string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseInt(text, 10, 32); err == nil {
		return max(0, min(time.Duration(seconds)*time.Second, life))
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, min(at.Sub(now), life))
	}
	return 0
}

// next is when a message is tried again; ok is false when it is to be given up. An endpoint that asks to wait for
// longer than the message lives gets it once more at its end.
func next(v conclusion, started, now time.Time, spread float64) (due time.Time, ok bool) {
	end := started.Add(life)
	due = now.Add(max(backoff.Wait(now.Sub(started), spread), min(v.after, end.Sub(now))))
	return due, v.status == waiting && !due.After(end)
}

// An endpoint whose latest patience attempts have all failed, for whatever reason, is held: it gets one
// attempt a probe until one succeeds.
const (
	attemptTimeout = 10
	probe          = time.Minute
	lanes          = 4 // attempts at the same time at one endpoint that is not held
)

// endpoint is how an endpoint stands.
type endpoint struct {
	endpointKey
	failures int64 // failed attempts in a row
	held     int64 // no attempt before, Unix milliseconds
	due      int64 // when its first message is due, Unix milliseconds
}

// slots returns how many attempts may be under way at once.
func (e *endpoint) slots() int {
	if e.failures >= attemptTimeout {
		return 1
	}
	return lanes
}
