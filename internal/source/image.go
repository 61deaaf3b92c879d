package source

import (
	"net/url"
	"strings"
	"unicode/utf8"

	"tocsin/internal/core/event"
)

// Bounds of images: their number in an event, and the characters of a URL and of an alternative text.
const (
	MaxImages = 20
	MaxURL    = 256
	MaxAlt    = 128
)

// IsURL reports whether a text is a URL that may be shown as a link: http or https, and no scheme that a browser
// would run.
func IsURL(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && utf8.ValidString(s)
}

// Images returns images within their bounds, because leaving one out is better than losing the alert. Images
// without a valid URL are left out; invalid links and repeated alternative texts are cleared.
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
		i.Alt = event.Cut(strings.TrimSpace(Clean(i.Alt)), MaxAlt)
		if seen[i.Alt] {
			i.Alt = ""
		}
		seen[i.Alt] = true
		kept = append(kept, i)
	}
	return kept
}
