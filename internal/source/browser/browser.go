// Package browser reads the errors of web pages as the browser SDKs of Datadog and Sentry send them. It is pure.
//
// It must never refuse a whole body because of one malformed event, nor return a text without a bound.
package browser

import (
	"slices"
	"strings"

	"tocsin/internal/core/rumerror"
	"tocsin/internal/core/stack"
	"tocsin/internal/source"
)

// MaxErrors is how many errors of a body are read.
const MaxErrors = 200

// Batch is what a body holds.
type Batch struct {
	Errors    []rumerror.Error
	Malformed int // events that could not be read
	Left      int // errors beyond MaxErrors
}

// add adds an error within its bounds, unless there are too many, or it comes from a browser extension.
func (b *Batch) add(e rumerror.Error, now int64) {
	if e.Frames == nil {
		e.Frames = stack.Parse(e.Stack)
	}
	for i := range e.Causes {
		if c := &e.Causes[i]; c.Frames == nil {
			c.Frames = stack.Parse(c.Stack)
		}
	}
	e.Bound(now)
	switch {
	case e.Foreign():
	case len(b.Errors) == MaxErrors:
		b.Left++
	default:
		b.Errors = append(b.Errors, e)
	}
}

// tags returns a list such as env:production,service:shop as a map.
func tags(list string) map[string]string {
	all := map[string]string{}
	for tag := range strings.SplitSeq(list, ",") {
		if name, value, ok := strings.Cut(tag, ":"); ok {
			all[strings.TrimSpace(name)] = strings.TrimSpace(value)
		}
	}
	return all
}

// reversed returns a list in the opposite order.
func reversed[T any](list []T) []T {
	list = slices.Clone(list)
	slices.Reverse(list)
	return list
}

// whole returns a number that some SDKs send as a text; 0 if it is none.
func whole(t source.Text) int64 {
	text, _, _ := strings.Cut(string(t), ".")
	n, _ := source.Text(text).Number()
	return n
}
