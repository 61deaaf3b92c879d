package api

import (
	"cmp"
	"fmt"

	"tocsin/internal/platform/cursor"
	"tocsin/internal/platform/fault"
)

// CursorRequest is embedded in the request of an operation that lists rows that are still being added. Pages are
// asked for by number, or by the cursor from the page before. With both, the cursor counts.
type CursorRequest struct {
	Page
	SearchAfterCtx string `json:"search_after_ctx,omitzero" maxLength:"2000" doc:"The cursor from the reply with the page before. The next page continues there, even if rows were added meanwhile."`
}

// Position is where a page ended, in a list ordered by time and then by identifier.
type Position struct {
	At int64  `json:"at"`
	ID string `json:"id"`
}

// From returns the position to continue after, or the zero Position when the request names a page. binding identifies
// the list: account, window, filters and direction. A cursor of another list is rejected.
func (w CursorRequest) From(secret []byte, binding string) (from Position, err error) {
	if w.SearchAfterCtx == "" {
		return from, nil
	}
	from, ok := cursor.Decode[Position](secret, binding, w.SearchAfterCtx)
	if !ok {
		return from, fault.Invalid("search_after_ctx", "must be from a reply to the same request with the same window and filters")
	}
	return from, nil
}

// CursorPage is the reply of an operation whose request embeds CursorRequest.
type CursorPage[T any] struct {
	Items          []T    `json:"items" doc:"The elements of this page."`
	Total          int64  `json:"total" doc:"How many there are on all pages together, exactly."`
	HasNextPage    bool   `json:"has_next_page" doc:"Whether there is a page after this one."`
	SearchAfterCtx string `json:"search_after_ctx" doc:"The cursor of the next page; empty when there is none."`
}

// PageBytes is the most that the elements of a page have together, in bytes as they are stored. Of one element there is
// always a page.
const PageBytes = 2 << 20

// WarnShort adds the warning of a page with fewer elements than its limit, because more would have more than PageBytes. next
// names where the others are; empty: behind the cursor.
func (c *Call) WarnShort(elements, limit int64, next string) {
	if elements < limit {
		c.Warn(fmt.Sprintf("This page ends after %d of %d elements, because a page has at most %d bytes. %s", elements, limit, PageBytes,
			cmp.Or(next, "Continue with search_after_ctx, not with p.")))
	}
}

// NewCursorPage returns the reply for the elements that were found. The caller queries one element more than limit: its
// presence means that there is a next page, and it is left out. position returns an element's position.
func NewCursorPage[T any](found []T, limit, total int64, secret []byte, binding string, position func(T) Position) CursorPage[T] {
	reply := CursorPage[T]{Items: found, Total: total}
	if int64(len(found)) > limit {
		reply.Items, reply.HasNextPage = found[:limit], true
		reply.SearchAfterCtx = cursor.Encode(secret, binding, position(found[limit-1]))
	}
	return reply
}
