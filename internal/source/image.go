package source

import (
	"net/url"
	"strings"
	"unicode/utf8"

	"tocsin/internal/core/event"
)

// Bounds of pictures; the latter two in characters.
const (
	MaxImages = 20
	MaxURL    = 256
	MaxAlt    = 128
)

// IsURL tells whether a text is an address that may be shown as a link: http or https, and nothing that a
// browser would run.
func IsURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && utf8.ValidString(s)
}

// Images holds pictures to their bounds, where leaving one out is better than losing the alert: those without
// an address are left out, links that are none and words that were there before are taken away.
func Images(images []event.Image) (kept []event.Image) {
	seen := map[string]bool{"": true}
	for _, i := range images {
		if len(kept) == MaxImages {
			break
		}
		if !IsURL(i.Src) || utf8.RuneCountInString(i.Src) > MaxURL {
			continue
		}
		if !IsURL(i.Href) || utf8.RuneCountInString(i.Href) > MaxURL {
			i.Href = ""
		}
		if i.Alt = event.Cut(strings.TrimSpace(Clean(i.Alt)), MaxAlt); seen[i.Alt] {
			i.Alt = ""
		}
		seen[i.Alt] = true
		kept = append(kept, i)
	}
	return kept
}
