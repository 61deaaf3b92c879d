package secret

import (
	"slices"
	"strings"

	"tocsin/internal/platform/redact"
)

// secretive are parts of names under which chats have addresses, and requests what signs them in.
var secretive = []string{"url", "uri", "hook", "header", "param"}

// Secretive reports whether a member of a free-form object may hold a credential. It goes by the name, or by a URL in
// the text, because knowing the address of a webhook is enough to post to the chat. Text that looks sealed counts as
// well: once stored, no text but a sealed one may look so. A reference to a secret stored elsewhere never counts.
func Secretive(name, text string) bool {
	if text == "" || IsReference(text) {
		return false
	}
	name = strings.ToLower(name)
	return redact.Hides(name) || slices.ContainsFunc(secretive, func(part string) bool { return strings.Contains(name, part) }) ||
		strings.Contains(text, "://") || IsSealed(text)
}
