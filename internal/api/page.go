package api

import (
	"fmt"
	"slices"

	"tocsin/internal/core/sentence"
	"tocsin/internal/platform/fault"
)

// Page is embedded in the request of an operation that lists page by page.
type Page struct {
	P     int64 `json:"p,omitzero" minimum:"1" maximum:"1000000" doc:"Page, from 1; absent: 1."`
	Limit int64 `json:"limit,omitzero" minimum:"1" maximum:"100" doc:"Elements on a page, 1 to 100; absent: the default of the operation."`
}

// maxDepth is the last row of a list that page numbers reach. Deep pages cost as much as all before them; the caller
// narrows the filters instead.
const maxDepth = 10_000

// Check rejects pages beyond maxDepth. A request that embeds Page and has its own Check must call it.
func (p Page) Check() error {
	if p.P > 1 && p.P > maxDepth/max(p.Limit, 1) {
		return fault.Invalid("p", "p times limit must be at most %d, got %d times %d", maxDepth, p.P, max(p.Limit, 1))
	}
	return nil
}

// Window returns the part of the list that the page shows: limit elements after the first offset ones.
func (p Page) Window(defaultLimit int64) (limit, offset int64) {
	limit = p.Limit
	if limit == 0 {
		limit = defaultLimit
	}
	return limit, (max(p.P, 1) - 1) * limit
}

// Paged is the reply of an operation that lists page by page.
type Paged[T any] struct {
	Items       []T   `json:"items" doc:"The elements of this page."`
	Total       int64 `json:"total" doc:"How many there are on all pages together, exactly."`
	HasNextPage bool  `json:"has_next_page" doc:"Whether there is a page after this one."`
}

// NewPaged returns the reply with the items that begin at offset of a list of total elements.
func NewPaged[T any](items []T, offset, total int64) Paged[T] {
	return Paged[T]{items, total, offset+int64(len(items)) < total}
}

// Warnings is embedded in the reply of an operation that is done although it looks like a mistake.
type Warnings struct {
	Warnings []sentence.Words `json:"warnings,omitzero" maxItems:"51" doc:"What was accepted but is probably a mistake, one sentence each; absent without warnings. At most 50, then how many more there are."`
}

// maxWarnings is the number of warnings that a reply lists one by one.
const maxWarnings = 50

// Warn returns the warnings of a reply: the first maxWarnings, then the number of the others.
func Warn[T ~string](list []T) Warnings { return warn(sentence.ToWords(list), 0) }

// warn is Warn with the number of further warnings that are not in the list.
func warn(list []sentence.Words, more int) Warnings {
	if beyond := len(list) - maxWarnings; beyond > 0 {
		list, more = list[:maxWarnings:maxWarnings], more+beyond
	}
	if more > 0 {
		list = append(list[:len(list):len(list)], sentence.Words(fmt.Sprintf("and %d more", more)))
	}
	return Warnings{list}
}

// warned is a reply that embeds Warnings.
type warned interface {
	add(list []string, more int) (remove func())
}

// add adds the warnings of the frame to those of the operation, until remove is called.
func (w *Warnings) add(list []string, more int) (remove func()) {
	own := *w
	*w = warn(slices.Concat(own.Warnings, sentence.ToWords(list)), more)
	return func() { *w = own }
}
