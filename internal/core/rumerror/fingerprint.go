package rumerror

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"tocsin/internal/core/stack"
)

// Algorithms of fingerprints. A fingerprint is stored with its algorithm, so that a later one does not split the issues
// that there are.
const (
	ByDefault = "d1" // from service, environment, type, message and the topmost frame of the application
	ByChoice  = "c1" // from what the sender chose, within a service
	byText    = "t1" // from service, type and message
	collected = "o1" // of the issue of an application that collects other errors
)

// Fingerprint identifies an issue: errors of an application with the same key are one issue.
type Fingerprint struct {
	Key       string // 32 hexadecimal digits
	Algorithm string
	Text      string // TextKey of the error
}

// TextKey returns the key by which an error continues an issue that has no fingerprint, such as one of an account file: that of
// the same service, type and message. It has 32 hexadecimal digits.
func TextKey(application, service, kind, message string) string {
	kind, message = Normal(kind, message)
	return keyOf(byText, application, service, kind, message)
}

// Type and message of the issue that collects the errors of kinds beyond the bounds of an application.
const (
	OtherType    = "BeyondBounds"
	OtherMessage = "Other errors"
)

// Other returns the fingerprint of the issue that collects the errors of kinds beyond the bounds of an application.
func Other(application string) Fingerprint {
	return Fingerprint{keyOf(collected, application), collected, TextKey(application, "", OtherType, OtherMessage)}
}

// defaultPart stands for the default key in a fingerprint that the sender chose, once spaces are removed.
const defaultPart = "{{default}}"

// Of returns the fingerprint of an error of an application.
func Of(application string, e *Error) Fingerprint {
	kind, message := Normal(e.Type, e.Message)
	file, function := culprit(e.Frames)
	byDefault := keyOf(ByDefault, application, e.Service, e.Env, kind, message, file, function)
	text := keyOf(byText, application, e.Service, kind, message)
	if len(e.Fingerprint) == 0 {
		return Fingerprint{byDefault, ByDefault, text}
	}
	parts := []string{ByChoice, application, e.Service}
	for _, part := range e.Fingerprint {
		if strings.ReplaceAll(part, " ", "") == defaultPart {
			part = byDefault
		}
		parts = append(parts, part)
	}
	return Fingerprint{keyOf(parts...), ByChoice, text}
}

// keyOf returns the first 16 bytes of the SHA-256 of the parts, separated by U+001F.
func keyOf(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x1f")))
	return hex.EncodeToString(sum[:16])
}

// culprit returns the file and function of the topmost frame of the application, in a form that stays the same from one
// release to the next. If all frames are of libraries it is the topmost one.
func culprit(frames []stack.Frame) (file, function string) {
	if len(frames) == 0 {
		return "", ""
	}
	top := frames[0]
	for _, f := range frames {
		if !f.Library() {
			top = f
			break
		}
	}
	return normalFile(top.File), normalFunction(top.Function)
}

var extension = compiled(`^(?:chrome|moz|safari|safari-web|ms-browser)-extension:|^webkit-masked-url:`)

// Foreign reports whether all frames of an error are of browser extensions: it is not the application's.
func (e *Error) Foreign() bool {
	for _, f := range e.Frames {
		if !extension().MatchString(f.File) {
			return false
		}
	}
	return len(e.Frames) > 0
}

var (
	origin     = compiled(`^(?:webpack://[^/]*|[a-zA-Z][a-zA-Z0-9+.-]*://[^/]*)`)
	release    = compiled(`^(?:v?\d+(?:\.\d+)+|v\d+|\d{8}|[0-9a-fA-F]{7,}|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})$`)
	extensions = compiled(`(?:\.(?:min|bundle|chunk|js|mjs|cjs|ts|tsx|jsx|vue|svelte|html))+$`)
	hashEnd    = compiled(`^(.+)[-._]([0-9A-Za-z_]{6,})$`)
	hexText    = compiled(`^[0-9a-fA-F]+$`)
)

// normalFile returns the path of a file without its host, query and everything that a release changes: directories that
// are versions or hashes become *, and a hash at the end of the name is removed.
func normalFile(file string) string {
	file = origin().ReplaceAllString(file, "")
	file, _, _ = strings.Cut(file, "?")
	file, _, _ = strings.Cut(file, "#")
	var parts []string
	for part := range strings.SplitSeq(file, "/") {
		if part != "" && part != "." && part != ".." {
			parts = append(parts, part)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	last := len(parts) - 1
	for i, part := range parts[:last] {
		if release().MatchString(part) {
			parts[i] = "*"
		}
	}
	suffix := extensions().FindString(parts[last])
	parts[last] = withoutHash(strings.TrimSuffix(parts[last], suffix)) + suffix
	return strings.Join(parts, "/")
}

// withoutHash returns the name of a file without the hash at its end. A name that is a hash is *.
func withoutHash(name string) string {
	if len(name) >= 7 && hexText().MatchString(name) && strings.ContainsAny(name, digits) {
		return "*"
	}
	if m := hashEnd().FindStringSubmatch(name); m != nil && isHash(m[2]) {
		return m[1]
	}
	return name
}

const digits = "0123456789"

// isHash reports whether a text is what bundlers append to names: hexadecimal digits, or eight characters that no word
// has.
func isHash(s string) bool {
	digit := strings.ContainsAny(s, digits)
	if len(s) >= 6 && digit && hexText().MatchString(s) {
		return true
	}
	if len(s) != 8 {
		return false
	}
	lower, upper := s != strings.ToUpper(s), s != strings.ToLower(s)
	titled := s[0] >= 'A' && s[0] <= 'Z' && s[1:] == strings.ToLower(s[1:])
	return digit && (lower || upper) || lower && upper && !titled
}

var (
	alias   = compiled(` \[as [^\]]*\]$`)
	keyword = compiled(`^(?:async|new|get|set) `)
)

// normalFunction returns the last part of a function's name. Names of at most two characters are those of minified code,
// which change with each build, and are removed.
func normalFunction(name string) string {
	name = alias().ReplaceAllString(strings.TrimSpace(name), "")
	for before := ""; before != name; {
		before, name = name, keyword().ReplaceAllString(name, "")
	}
	name = strings.TrimRight(strings.TrimSuffix(name, "/<"), "/<")
	if i := strings.LastIndexAny(name, "./#"); i >= 0 {
		name = name[i+1:]
	}
	switch name {
	case "?", "anonymous", "<anonymous>", "eval", "undefined":
		return ""
	}
	if len([]rune(name)) <= 2 {
		return ""
	}
	return name
}
