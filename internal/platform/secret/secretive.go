package secret

import (
	"strings"

	"tocsin/internal/platform/redact"
)

// Secretive tells whether a member of a free-form object may hold a credential: by its name, or by a URL in
// it, because whoever knows the address of a webhook can write to the chat. So does whatever looks sealed, in
// order that nothing else does once it is stored. A reference to a secret kept elsewhere never is.
func Secretive(name, text string) bool {
	if text == "" || IsReference(text) {
		return false
	}
	name = strings.ToLower(name)
	return redact.Hides(name) || strings.Contains(name, "url") || strings.Contains(name, "uri") || strings.Contains(name, "hook") ||
		strings.Contains(text, "://") || IsSealed(text)
}
