package sender

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"tocsin/internal/core/render"
	"tocsin/internal/platform/egress"
)

// Of reads what came of a request to a service that says with HTTP's status whether it took the message. The
// texts hold nothing of the address but its host.
func Of(a egress.Attempt, err error) (Receipt, error) {
	var failure *egress.Failure
	if errors.As(err, &failure) {
		return Receipt{}, &Error{Retry: failure.Retry(), Message: failure.Message}
	}
	if err != nil {
		return Receipt{}, &Error{Retry: true, Message: err.Error()}
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

func answered(a egress.Attempt) string {
	text := Cut(strings.Join(strings.Fields(string(a.Body)), " "), 200)
	if text != "" {
		text = ": " + text
	}
	return fmt.Sprintf("it answered %d %s%s", a.Status, http.StatusText(a.Status), text)
}

// after reads Retry-After: seconds, or a moment, which is seen from the answer's own Date. It is at most an
// hour, and 0 for what cannot be read.
func after(h http.Header) time.Duration {
	asked := h.Get("Retry-After")
	if seconds, err := strconv.ParseInt(asked, 10, 64); err == nil {
		return time.Duration(min(max(seconds, 0), 3600)) * time.Second
	}
	moment, err := http.ParseTime(asked)
	date, noDate := http.ParseTime(h.Get("Date"))
	if err != nil || noDate != nil {
		return 0
	}
	return min(max(moment.Sub(date), 0), time.Hour)
}

// Cut shortens a text to so many characters, the last of them an ellipsis, and takes out of it what is not
// UTF-8.
func Cut(s string, n int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}

// Line is a text as one line, of at most so many characters: a subject, or the name of a group.
func Line(s string, n int) string { return Cut(render.OneLine(s), n) }

// Address is where a chat is: its URL, the token when that is one, or else the service's own address with the
// token behind it.
func (c Chat) Address(base string) string {
	switch {
	case c.URL != "":
		return c.URL
	case strings.Contains(c.Token, "://"):
		return c.Token
	}
	return base + c.Token
}
