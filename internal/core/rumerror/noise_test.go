package rumerror_test

import (
	"testing"

	"tocsin/internal/core/rumerror"
	"tocsin/internal/core/stack"
)

func TestNoise(t *testing.T) {
	t.Parallel()
	const own, foreign = "https://shop.example.com/app.js", "chrome-extension://abc/inject.js"
	for name, c := range map[string]struct {
		kind, message string
		files         []string
		want          string
	}{
		"loop of Chrome":                    {"", "ResizeObserver loop completed with undelivered notifications.", nil, rumerror.NoiseLoop},
		"loop of old browsers":              {"Error", "ResizeObserver loop limit exceeded", []string{own}, rumerror.NoiseLoop},
		"loop as Datadog words it":          {"", `Uncaught "ResizeObserver loop completed with undelivered notifications."`, nil, rumerror.NoiseLoop},
		"loop with its type":                {"Error", "Uncaught Error: ResizeObserver loop limit exceeded", nil, rumerror.NoiseLoop},
		"script error":                      {"", "Script error.", nil, rumerror.NoiseScript},
		"script error with the page":        {"Error", "Script error", []string{"https://shop.example.com/cart"}, rumerror.NoiseScript},
		"script error as Datadog words it":  {"", `Uncaught "Script error."`, nil, rumerror.NoiseScript},
		"extension innermost":               {"TypeError", "no wallet", []string{foreign, own}, rumerror.NoiseExtension},
		"extension under the browser":       {"TypeError", "no wallet", []string{"<anonymous>", "[native code]", "native", foreign, own}, rumerror.NoiseExtension},
		"extension of Firefox":              {"TypeError", "no wallet", []string{"moz-extension://abc/inject.js"}, rumerror.NoiseExtension},
		"extension that calls the page":     {"TypeError", "no wallet", []string{own, foreign}, ""},
		"own error":                         {"TypeError", "no wallet", []string{own}, ""},
		"no stack":                          {"", "Empty reason", nil, ""},
		"own text about a loop":             {"Error", "the ResizeObserver loop is slow", nil, ""},
		"own text about a script error":     {"Error", "Script error. in the checkout", nil, ""},
		"thrown text that Datadog quotes":   {"", `Uncaught "Empty reason"`, nil, ""},
		"quoted text with another quote in": {"", `Uncaught "a" and "b"`, nil, ""},
	} {
		e := rumerror.Error{Type: c.kind, Message: c.message}
		for _, file := range c.files {
			e.Frames = append(e.Frames, stack.Frame{File: file, Line: 1})
		}
		if got := e.Noise(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// A message that Datadog's SDK quotes belongs to the issue of the unquoted message if browsers word it differently. Other
// quoted texts keep their fingerprint.
func TestNormalOfQuotedMessages(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]string{
		`Uncaught "ResizeObserver loop limit exceeded"`: "<resize-observer-loop>",
		`Uncaught "Script error."`:                      "<script-error>",
		`Uncaught "Failed to fetch"`:                    "<fetch-failed>",
		`Uncaught "two words"`:                          "<str>",
		`Uncaught "word"`:                               "'word'",
	} {
		if _, got := rumerror.Normal("", message); got != want {
			t.Errorf("%s: %q, want %q", message, got, want)
		}
	}
}
