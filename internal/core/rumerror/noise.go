package rumerror

import (
	"strings"
)

// Reasons why an error is noise.
const (
	NoiseLoop      = "resize_observer_loop"
	NoiseScript    = "script_error"
	NoiseExtension = "browser_extension"
)

// Canonical messages of errors that are noise.
const (
	resizeObserverLoop = "<resize-observer-loop>"
	scriptError        = "<script-error>"
)

// mayBeNoise matches messages that may be noise, so that Normal need not read all others.
var mayBeNoise = compiled(`ResizeObserver loop |(?i:script error)`)

// Noise returns why no person needs to know of an error; empty: the error is no noise. A loop of ResizeObserver only means
// that the browser lays a page out in two frames. Browsers hide the details of an error in another origin's script, so that
// no person can act on it. An error that a browser extension throws is not the application's, even if the application's code
// called the extension.
func (e *Error) Noise() string {
	if mayBeNoise().MatchString(e.Message) {
		switch _, message := Normal(e.Type, e.Message); message {
		case resizeObserverLoop:
			return NoiseLoop
		case scriptError:
			return NoiseScript
		}
	}
	if e.thrownByExtension() {
		return NoiseExtension
	}
	return ""
}

// thrownByExtension reports whether the innermost frame of an error is of a browser extension. Frames of the browser itself
// are passed over: an extension may call forEach, which calls the extension.
func (e *Error) thrownByExtension() bool {
	for _, f := range e.Frames {
		if f.File != "" && f.File != "native" && !strings.HasPrefix(f.File, "<") && !strings.HasPrefix(f.File, "[") {
			return extension().MatchString(f.File)
		}
	}
	return false
}
