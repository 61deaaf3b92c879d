package integration

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"tocsin/internal/configstore"
)

// maxHeader is how long a header may be, name and value, in bytes.
const maxHeader = 8192

// reserved lists the headers that a webhook must not have, in their canonical form: those of the connection (RFC 9110,
// 7.6.1, and RFC 2616, 13.5.1), those of the message's target and length, and those that Tocsin sets for receivers.
var reserved = []string{
	"Connection", "Keep-Alive", "Proxy-Connection", "Proxy-Authenticate", "Proxy-Authorization", "Te", "Trailer", "Transfer-Encoding",
	"Upgrade",
	"Host", "Content-Length", "Expect",
	"Webhook-Id", "Webhook-Number", "Webhook-Origin", "Webhook-Timestamp", "Webhook-Signature",
}

// checkHeaders returns fault.Invalid for a header that a webhook must not have. Values are secrets, so the error does not
// contain them.
func checkHeaders(at configstore.RecordPath, headers map[string]string) error {
	seen := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(headers)) {
		canonical := http.CanonicalHeaderKey(name)
		switch {
		case name == "" || strings.ContainsFunc(name, func(r rune) bool { return !isToken(r) }):
			return at.Invalid("headers", "must have names of letters, digits and !#$%%&'*+-.^_`|~, got %.60q", name)
		case slices.Contains(reserved, canonical):
			return at.Invalid("headers", "must not have %q, which is set by Tocsin or belongs to the connection", name)
		case seen[canonical]:
			return at.Invalid("headers", "has %q twice, in different cases", name)
		case strings.ContainsFunc(headers[name], func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }):
			return at.Invalid("headers", "must have values without line breaks and control characters, the one of %.60q has", name)
		case len(name)+len(headers[name]) > maxHeader:
			return at.Invalid("headers", "must be at most %d bytes each, %.60q has %d", maxHeader, name, len(name)+len(headers[name]))
		}
		seen[canonical] = true
	}
	return nil
}

// isToken reports whether r is allowed in the name of a header (RFC 9110, 5.6.2).
func isToken(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("!#$%&'*+-.^_`|~", r)
}
