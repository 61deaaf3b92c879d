package stack

import (
	"path"
	"slices"
	"strings"
)

// Parts of addresses whose code is not the application's: extensions of browsers, installed packages, and what bundlers
// add. Bundles are known by how bundlers and the libraries of monitoring services name them.
var (
	extensions = []string{
		"chrome-extension:", "moz-extension:", "safari-extension:", "safari-web-extension:", "ms-browser-extension:", "webkit-masked-url:",
	}
	installed = []string{"node_modules/", "/~/", "webpack/bootstrap", "webpack/runtime", "(webpack)"}
	bundles   = []string{"vendor", "polyfill", "runtime", "datadog-rum", "flashcat-rum", "sentry", "react-dom", "framework"}
)

// Library reports whether a frame is not of the application itself: code of the browser, of an extension or of a library,
// or evaluated text.
func (f Frame) Library() bool {
	file := strings.ToLower(f.File)
	if f.Line == 0 || strings.HasPrefix(file, "eval at ") || strings.Contains(file, " > eval") || strings.Contains(file, "<anonymous>") {
		return true
	}
	file, _, _ = strings.Cut(file, "?")
	has := func(test func(string, string) bool, text string) func(string) bool {
		return func(part string) bool { return test(text, part) }
	}
	return slices.ContainsFunc(extensions, has(strings.HasPrefix, file)) ||
		slices.ContainsFunc(installed, has(strings.Contains, file)) ||
		slices.ContainsFunc(bundles, has(strings.HasPrefix, path.Base(file)))
}
