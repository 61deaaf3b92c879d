package webhook

import (
	"net/http"
	"strconv"
	"time"

	"tocsin/internal/core/sentence"
	"tocsin/internal/platform/egress"
	"tocsin/internal/platform/jobs"
)

const maxAge = 24 * time.Hour // of a message; then it is given up

// backoff bounds the time between two attempts. A message waits for as long as its age, so that each delay is about twice
// the last.
var backoff = jobs.Backoff{Min: 5 * time.Second, Max: 2 * time.Hour}

// conclusion is what an attempt means for its message.
type conclusion struct {
	status string         // delivered; waiting: to be retried; failed: not to be retried
	after  time.Duration  // the shortest delay of a retry; 0: the endpoint did not set one
	why    sentence.Value // empty when delivered
	gone   bool           // the endpoint is gone for good: its webhook is disabled
}

// classify decides whether an attempt succeeded, is retried or failed for good. Only failures that may pass by themselves
// are retried: no response, 408, 429 and 5xx. An address that must not be called and any other status will be the same next
// time. 410 is about the endpoint and not only the message.
func classify(a egress.Attempt, failure *egress.Failure, now time.Time) conclusion {
	switch {
	case a.Status >= 200 && a.Status < 300: // though its body may have been cut off
		return conclusion{status: delivered}
	case a.Status == 0 && failure != nil && failure.Retry():
		return conclusion{status: waiting, why: failure.Why}
	case a.Status == 0 && failure != nil:
		return conclusion{status: failed, why: failure.Why}
	}
	v := conclusion{status: failed, why: sentence.New("answered", a.Status, http.StatusText(a.Status))}
	if a.Status == http.StatusRequestTimeout || a.Status == http.StatusTooManyRequests || a.Status >= 500 {
		v.status, v.after = waiting, retryAfter(a.Header.Get("Retry-After"), now)
	}
	v.gone = a.Status == http.StatusGone
	return v
}

// retryAfter parses the header Retry-After: seconds, or a date. Its result is between 0 and maxAge.
func retryAfter(text string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseInt(text, 10, 32); err == nil {
		return max(0, min(time.Duration(seconds)*time.Second, maxAge))
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, min(at.Sub(now), maxAge))
	}
	return 0
}

// next returns when a message is retried; ok is false when it is given up. If an endpoint demands a delay beyond the
// message's maxAge, the message is tried once more at its end.
func next(v conclusion, started, now time.Time, spread float64) (due time.Time, ok bool) {
	end := started.Add(maxAge)
	due = now.Add(max(backoff.Wait(now.Sub(started), spread), min(v.after, end.Sub(now))))
	return due, v.status == waiting && !due.After(end)
}

// An endpoint whose latest maxFailures attempts have all failed, for whatever reason, is held: it gets one attempt in
// each probe interval until one succeeds.
const (
	maxFailures    = 10
	probe          = time.Minute
	maxPerEndpoint = 16 // attempts at the same time at one endpoint that is not held
)

// endpoint is the state of an endpoint.
type endpoint struct {
	endpointKey
	failures int64 // failed attempts in a row
	held     int64 // no attempt before, Unix milliseconds
	due      int64 // when its first message is due, Unix milliseconds
}

// slots returns how many attempts may run at once.
func (e *endpoint) slots() int {
	if e.failures >= maxFailures {
		return 1
	}
	return maxPerEndpoint
}
