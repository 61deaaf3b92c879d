// Package rumerror holds the errors that browsers report, in one form for all SDKs, and what is computed from them: the
// fingerprint by which errors are one issue, the suspected cause and the severity. It is pure.
//
// It must never let a text of a sender through without a bound, nor put a line number into a fingerprint.
package rumerror

import (
	"strings"
	"unicode"

	"tocsin/internal/core/event"
	"tocsin/internal/core/stack"
)

// Error is one error of a browser. All its texts come from outside.
type Error struct {
	ID          string        // as the SDK names it; may be empty
	Time        int64         // Unix milliseconds by the browser's clock
	Type        string        // such as TypeError; may be empty
	Message     string        // may have several lines
	Stack       string        // as the SDK sends it
	Frames      []stack.Frame // innermost first
	Source      string        // source, custom, console or report
	Handled     bool          // the page caught it
	Crash       bool          // it ended the application
	Service     string
	Version     string
	Env         string
	URL         string // of the page
	Browser     Browser
	User        User
	Session     string
	IP          string // of the user; empty if it is not kept
	Causes      []Cause
	Fingerprint []string // what the sender chose; empty: the default
	Request     Request  // that failed, if the error is about one
}

// User is the user of the page.
type User struct{ ID, Name, Email string }

// Cause is an error that led to another one.
type Cause struct {
	Type    string
	Message string
	Stack   string
	Frames  []stack.Frame
}

// Request is an HTTP request of the page.
type Request struct {
	Method string
	URL    string
	Status int64
}

// Bounds of an error, in characters; frames and causes in elements.
const (
	MaxMessage    = 4000
	MaxStack      = 12_000
	MaxFrames     = 50
	MaxCauses     = 5
	maxCauseText  = 1000
	maxCauseStack = 3000
	maxURL        = 1000
	maxName       = 200
	maxParts      = 10 // of a fingerprint
)

// Bound cuts all texts and lists of an error, and removes control characters. An error from a clock that is wrong by
// more than a day has the time of its arrival (Unix milliseconds).
func (e *Error) Bound(now int64) {
	const day = 24 * 60 * 60 * 1000
	if e.Time < now-day || e.Time > now {
		e.Time = now
	}
	for _, name := range []*string{
		&e.ID, &e.Type, &e.Source, &e.Service, &e.Version, &e.Env, &e.User.ID, &e.User.Name, &e.User.Email, &e.Session, &e.IP,
		&e.Browser.Name, &e.Browser.Version, &e.Request.Method,
	} {
		*name = strings.TrimSpace(clean(*name, maxName))
	}
	e.Message, e.Stack = clean(e.Message, MaxMessage), clean(e.Stack, MaxStack)
	e.URL, e.Request.URL = clean(e.URL, maxURL), clean(e.Request.URL, maxURL)
	e.Frames = boundFrames(e.Frames, MaxFrames)
	e.Causes = e.Causes[:min(len(e.Causes), MaxCauses)]
	for i := range e.Causes {
		c := &e.Causes[i]
		c.Type = clean(c.Type, maxName)
		c.Message = clean(c.Message, maxCauseText)
		c.Stack = clean(c.Stack, maxCauseStack)
		c.Frames = boundFrames(c.Frames, MaxFrames/5)
	}
	e.Fingerprint = e.Fingerprint[:min(len(e.Fingerprint), maxParts)]
	for i := range e.Fingerprint {
		e.Fingerprint[i] = clean(e.Fingerprint[i], maxName)
	}
}

func boundFrames(frames []stack.Frame, most int) []stack.Frame {
	frames = frames[:min(len(frames), most)]
	for i := range frames {
		f := &frames[i]
		f.Function, f.File = clean(f.Function, maxName), clean(f.File, maxURL)
	}
	return frames
}

// clean returns a text of at most n characters without control characters, except for line breaks and tabs.
func clean(s string, n int) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, s)
	return event.Cut(strings.ToValidUTF8(s, "\uFFFD"), n)
}

// Title returns the error's type and the first line of its message.
func (e *Error) Title() string {
	line := firstLine(e.Message)
	if e.Type == "" || strings.HasPrefix(line, e.Type+":") {
		return line
	}
	if line == "" {
		return e.Type
	}
	return e.Type + ": " + line
}

// firstLine returns the first line that is not empty, without the spaces around it.
func firstLine(text string) string {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line != "" {
			return line
		}
	}
	return ""
}
