package browser

import (
	"bytes"
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"tocsin/internal/core/rumerror"
	"tocsin/internal/core/stack"
	"tocsin/internal/source"
)

// maxItems is how many items of an envelope are read.
const maxItems = 100

// Envelope is the header of an envelope of Sentry.
type Envelope struct {
	EventID string
	Key     string // the public key of the DSN, which is there if the envelope came through a tunnel
}

// Header reads the first line of an envelope; ok is false if it is none.
func Header(body []byte) (e Envelope, ok bool) {
	line, _, _ := bytes.Cut(body, []byte("\n"))
	var header struct {
		EventID source.Text `json:"event_id"`
		DSN     source.Text `json:"dsn"`
	}
	line = bytes.TrimSpace(line)
	if len(line) == 0 || line[0] != '{' || source.Read(line, &header) != nil {
		return e, false
	}
	if dsn, err := url.Parse(string(header.DSN)); err == nil && dsn.User != nil {
		e.Key = dsn.User.Username()
	}
	e.EventID = string(header.EventID)
	return e, true
}

// Sentry reads the events of an envelope that are errors. now is in Unix milliseconds.
func Sentry(body []byte, now int64) (b Batch) {
	_, rest, _ := bytes.Cut(body, []byte("\n"))
	for n := 0; len(bytes.TrimSpace(rest)) > 0 && n < maxItems; n++ {
		var line, payload []byte
		line, rest, _ = bytes.Cut(rest, []byte("\n"))
		var item struct {
			Type   source.Text `json:"type"`
			Length source.Text `json:"length"`
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if source.Read(line, &item) != nil {
			b.Malformed++
			return b // where the next item begins is not known
		}
		if length, ok := item.Length.Number(); ok && length >= 0 && length <= int64(len(rest)) {
			payload, rest = rest[:length], rest[length:]
			rest = bytes.TrimPrefix(rest, []byte("\n"))
		} else {
			payload, rest, _ = bytes.Cut(rest, []byte("\n"))
		}
		if item.Type != "event" {
			continue
		}
		var e sentryEvent
		if source.Read(payload, &e) != nil {
			b.Malformed++
		} else if r, ok := e.converted(); ok {
			b.add(r, now)
		}
	}
	return b
}

// sentryEvent is an event of Sentry's SDK; most of its members are left out.
type sentryEvent struct {
	ID          source.Text   `json:"event_id"`
	Time        source.Text   `json:"timestamp"` // Unix seconds with a fraction
	Type        source.Text   `json:"type"`      // empty for errors
	Level       source.Text   `json:"level"`
	Message     source.Text   `json:"message"`
	Release     source.Text   `json:"release"`
	Environment source.Text   `json:"environment"`
	Tags        source.Tags   `json:"tags"`
	Fingerprint []source.Text `json:"fingerprint"`
	User        struct {
		ID    source.Text `json:"id"`
		Name  source.Text `json:"username"`
		Email source.Text `json:"email"`
		IP    source.Text `json:"ip_address"`
	} `json:"user"`
	Request struct {
		URL     source.Text `json:"url"`
		Headers source.Tags `json:"headers"`
	} `json:"request"`
	Contexts struct {
		Trace struct {
			ID source.Text `json:"trace_id"`
		} `json:"trace"`
	} `json:"contexts"`
	Exception struct {
		Values []sentryException `json:"values"` // the error that was thrown is the last one, its causes are before it
	} `json:"exception"`
}

type sentryException struct {
	Type      source.Text `json:"type"`
	Value     source.Text `json:"value"`
	Mechanism struct {
		Handled source.Text `json:"handled"`
	} `json:"mechanism"`
	Stacktrace struct {
		Frames []sentryFrame `json:"frames"` // outermost first
	} `json:"stacktrace"`
}

type sentryFrame struct {
	File     source.Text `json:"filename"`
	Function source.Text `json:"function"`
	Line     source.Text `json:"lineno"`
	Column   source.Text `json:"colno"`
}

// converted returns the event as an error; ok is false if it is none.
func (e *sentryEvent) converted() (r rumerror.Error, ok bool) {
	values := e.Exception.Values
	if e.Type != "" || len(values) == 0 && e.Message == "" {
		return r, false
	}
	service, version := releaseOf(string(e.Release))
	r = rumerror.Error{
		ID: string(e.ID), Time: millis(string(e.Time)), Message: string(e.Message), Source: "custom", Handled: true,
		Service: cmp.Or(e.Tags["service"], service), Version: version, Env: string(e.Environment), URL: string(e.Request.URL),
		Session: string(cmp.Or(e.Contexts.Trace.ID, e.User.ID)),
		User:    rumerror.User{ID: string(e.User.ID), Name: string(e.User.Name), Email: string(e.User.Email)},
	}
	if ip := string(e.User.IP); ip != "{{auto}}" {
		r.IP = ip
	}
	for name, value := range e.Request.Headers {
		if strings.EqualFold(name, "User-Agent") {
			r.Browser = rumerror.BrowserOf(value)
		}
	}
	for _, part := range e.Fingerprint {
		r.Fingerprint = append(r.Fingerprint, string(part))
	}
	if len(r.Fingerprint) == 1 && strings.ReplaceAll(r.Fingerprint[0], " ", "") == "{{default}}" {
		r.Fingerprint = nil
	}
	for i, v := range slices.Backward(values) {
		frames := v.frames()
		if i == len(values)-1 {
			r.Type = string(v.Type)
			r.Message = cmp.Or(string(v.Value), r.Message)
			r.Frames = frames
			r.Stack = text(string(v.Type), string(v.Value), frames)
			if v.Mechanism.Handled == "false" {
				r.Handled, r.Source = false, "source"
			}
			continue
		}
		r.Causes = append(r.Causes, rumerror.Cause{
			Type: string(v.Type), Message: string(v.Value), Frames: frames, Stack: text(string(v.Type), string(v.Value), frames),
		})
	}
	return r, true
}

// releaseOf returns the service and the version of a release such as shop@1.4.2. A release without a service is a version.
func releaseOf(release string) (service, version string) {
	at := strings.LastIndexByte(release, '@')
	if at <= 0 {
		return "", release
	}
	return release[:at], release[at+1:]
}

// millis returns a time in Unix seconds as Unix milliseconds; 0 if it is none.
func millis(seconds string) int64 {
	f, err := strconv.ParseFloat(strings.TrimSpace(seconds), 64)
	if err != nil || !(f > 0 && f < 1e11) {
		return 0
	}
	return int64(f * 1000)
}

// frames returns the frames innermost first.
func (v *sentryException) frames() []stack.Frame {
	list := v.Stacktrace.Frames
	list = list[max(0, len(list)-rumerror.MaxFrames):]
	frames := make([]stack.Frame, 0, len(list))
	for _, f := range reversed(list) {
		frames = append(frames, stack.Frame{
			Function: string(f.Function), File: string(f.File), Line: int(whole(f.Line)), Column: int(whole(f.Column)),
		})
	}
	return frames
}

// text returns a stack as browsers write it.
func text(kind, message string, frames []stack.Frame) string {
	if len(frames) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString(strings.TrimPrefix(kind+": "+message, ": "))
	for _, f := range frames {
		fmt.Fprintf(&b, "\n    at %s (%s:%d:%d)", f.Function, f.File, f.Line, f.Column)
		if b.Len() > 4*rumerror.MaxStack {
			break
		}
	}
	return b.String()
}
