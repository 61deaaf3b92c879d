package event

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// MaxShortened is what labels, images and description of a shortened event may have together, in bytes.
const MaxShortened = 2048

// maxShortDescription is the part of the description, in bytes: what is left is for the labels, which decide about an event.
const maxShortDescription = 512

// Size returns how many bytes the texts of an event have.
func (e *Event) Size() int64 {
	n := len(e.AlertKey) + len(e.TitleRule) + len(e.Title) + len(e.Identifying) + len(e.GroupKey) + len(e.GroupTitle) + len(e.GroupText)
	return int64(n + e.large())
}

// large returns how many bytes its labels, images and description have.
func (e *Event) large() int {
	n := len(e.Description)
	for name, value := range e.Labels {
		n += len(name) + len(value)
	}
	for _, i := range e.Images {
		n += len(i.Src) + len(i.Href) + len(i.Alt)
	}
	return n
}

// Shorten cuts labels, images and description to MaxShortened together, and reports whether anything was cut. Images go
// first. Of the labels the short ones stay whole, because rules match them; one is cut, and the longest are left out.
func (e *Event) Shorten() bool {
	if e.large() <= MaxShortened {
		return false
	}
	e.Images, e.Shortened = nil, true
	e.Description = cutBytes(e.Description, maxShortDescription)
	left := MaxShortened - len(e.Description)
	names := slices.SortedFunc(maps.Keys(e.Labels), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(a)+len(e.Labels[a]), len(b)+len(e.Labels[b])), strings.Compare(a, b))
	})
	kept := make(map[string]string, len(names))
	for _, name := range names {
		if left -= len(name); left <= 0 {
			break
		}
		kept[name] = cutBytes(e.Labels[name], left)
		left -= len(kept[name])
	}
	e.Labels = kept
	if e.Identifying != "" {
		have := strings.Split(e.Identifying, ",")
		e.Identifying = strings.Join(slices.DeleteFunc(have, func(name string) bool { return kept[name] == "" }), ",")
	}
	return true
}

// cutBytes returns a text of at most n bytes, whole characters.
func cutBytes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
