package sender

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"tocsin/internal/core/render"
	"tocsin/internal/core/sentence"
	"tocsin/internal/platform/egress"
)

// Of returns the result of a request to a service that reports by the HTTP status whether it took the message. A
// status of 408, 429 or 5xx may be retried. Texts hold nothing of the address but its host, because paths and
// queries hold secrets.
func Of(a egress.Attempt, err error) (Receipt, error) {
	var failure *egress.Failure
	if errors.As(err, &failure) {
		return Receipt{}, &Error{Retry: failure.Retry(), Message: failure.Why}
	}
	if err != nil {
		return Receipt{}, &Error{Retry: true, Message: sentence.Raw(err.Error())}
	}
	receipt := Receipt{Status: a.Status, Reply: Cut(string(a.Body), 1000)}
	switch {
	case a.Status >= 200 && a.Status < 300:
		return receipt, nil
	case a.Status == http.StatusTooManyRequests || a.Status == http.StatusRequestTimeout || a.Status >= 500:
		return receipt, &Error{Retry: true, After: after(a.Header), Message: answered(a)}
	}
	return receipt, &Error{Message: answered(a)}
}

// answered returns the status and the beginning of the body, at most 200 characters, as one line.
func answered(a egress.Attempt) sentence.Value {
	text := Cut(strings.Join(strings.Fields(string(a.Body)), " "), 200)
	if text != "" {
		text = ": " + text
	}
	return sentence.New("answered", a.Status, http.StatusText(a.Status)+text)
}

// after returns the pause that Retry-After asks for: seconds, or a date. A date is taken relative to the reply's
// own Date, because the clocks may differ. The pause is at most an hour, and 0 if it cannot be read.
func after(h http.Header) time.Duration {
	value := h.Get("Retry-After")
	if seconds, err := strconv.ParseInt(value, 10, 64); err == nil {
		return time.Duration(min(max(seconds, 0), 3600)) * time.Second
	}
	moment, err := http.ParseTime(value)
	date, noDate := http.ParseTime(h.Get("Date"))
	if err != nil || noDate != nil {
		return 0
	}
	return min(max(moment.Sub(date), 0), time.Hour)
}

// Cut returns a text of at most n characters, the last of them an ellipsis if it was longer. Bytes that are not
// UTF-8 become U+FFFD.
func Cut(s string, n int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}

// Line returns a text as one line of at most n characters: a subject, or the name of a group.
func Line(s string, n int) string { return Cut(render.OneLine(s), n) }

// Address returns the address of a chat: its URL, the token if that is a URL, or else base followed by the token.
func (c Chat) Address(base string) string {
	switch {
	case c.URL != "":
		return c.URL
	case strings.Contains(c.Token, "://"):
		return c.Token
	}
	return base + c.Token
}
