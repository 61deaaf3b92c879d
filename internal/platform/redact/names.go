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

// Hides reports whether a name is that of a credential. It is for names that no type of this program has: of members that a
// sender chose, of headers of other systems, of parameters in URLs.
func Hides(name string) bool {
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
