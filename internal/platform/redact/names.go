package redact

import (
	"strings"
	"unicode"
)

// A name that contains one of these names a credential.
var words = []string{
	"password", "passwd", "passphrase", "pwd", "secret", "token", "private",
	"credential", "authorization", "cookie", "dsn",
}

// So does a name that contains one of these without the characters between
// its words: api_key, apiKey and X-Api-Key are the same.
var compounds = []string{"apikey", "appkey", "accesskey", "tlskey", "integrationkey"}

func credential(name string) bool {
	name = fold(name)
	for _, w := range words {
		if strings.Contains(name, w) {
			return true
		}
	}
	name = joined(name)
	for _, c := range compounds {
		if strings.Contains(name, c) {
			return true
		}
	}
	return false
}

// fold returns one form of all names that JSON decoders in Go treat as the
// same: they ignore case, also of the two characters outside ASCII that fold
// into an ASCII letter. SimpleFold iterates over all equivalent runes, smallest
// first.
func fold(name string) string {
	if !strings.ContainsFunc(name, func(r rune) bool { return r < '_' || r > 'z' }) {
		return name // as nearly all names are: lower case letters and underscores
	}
	return strings.Map(func(r rune) rune {
		f := unicode.SimpleFold(r)
		for ; f > r; f = unicode.SimpleFold(f) {
			r = f
		}
		return unicode.ToLower(f)
	}, name)
}

func joined(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, name)
}

// ofMember returns the view of the member called name in an object with view v.
func ofMember(v view, name string) view {
	if credential(name) {
		return nothing
	}
	if v != shown {
		return names
	}
	switch name := joined(fold(name)); {
	case strings.HasSuffix(name, "url"), strings.HasSuffix(name, "uri"), strings.HasSuffix(name, "webhook"):
		return address
	case strings.HasSuffix(name, "headers"):
		return headers
	case strings.HasSuffix(name, "params"):
		return params
	}
	return shown
}

// ofItem returns the view of the items of an array with view v.
func ofItem(v view) view {
	switch v {
	case headers:
		return header
	case params:
		return param
	case shown, address:
		return v
	}
	return names
}

// show returns the visible part of a string.
func show(s string, v view) string {
	switch {
	case s == "":
		return s
	case v == shown:
		return URL(s)
	case v == address:
		return Origin(s)
	case v == header:
		if name, _, ok := strings.Cut(s, ":"); ok {
			return URL(name) + ": " + hidden
		}
	case v == param:
		if name, _, ok := strings.Cut(s, "="); ok {
			return URL(name) + "=" + hidden
		}
	}
	return hidden
}

// Hides reports whether JSON hides the value of a member with this name, or a part of it.
func Hides(name string) bool { return ofMember(shown, name) != shown }
