package api

import (
	"cmp"
	"fmt"
	"strconv"

	"tocsin/internal/platform/cursor"
	"tocsin/internal/platform/fault"
)

// CursorRequest is embedded in the request of an operation that lists rows that are still being added. Pages are
// asked for by number, or by the cursor from the page before. With both, the cursor counts.
type CursorRequest struct {
	Page
	After
}

// After is the part of CursorRequest beside the numbers of pages.
type After struct {
	SearchAfterCtx string `json:"search_after_ctx,omitzero" maxLength:"8192" doc:"The cursor from the reply with the page before. The next page continues there, even if rows were added or deleted meanwhile; the other members but limit must be as they were."`
}

// Position is where a page ended, in a list ordered by a number or a name and then by identifier.
type Position struct {
	At   int64  `json:"at"` // a time or a count; 0 in a list ordered by name
	ID   string `json:"id"`
	Name string `json:"name,omitzero"` // as the list is ordered by it
}

// NumberedAt returns the position of an element whose identifier is a number.
func NumberedAt(at, id int64) Position { return Position{At: at, ID: strconv.FormatInt(id, 10)} }

// Unset reports whether the position is that before all elements.
func (p Position) Unset() bool { return p == Position{} }

// Number returns the identifier of a position that NumberedAt made; 0 of one that is unset.
func (p Position) Number() int64 {
	n, _ := strconv.ParseInt(p.ID, 10, 64) // a sealed cursor has what NumberedAt wrote
	return n
}

// Window is Page.Window; behind a cursor the offset is 0.
func (w CursorRequest) Window(defaultLimit int64) (limit, offset int64) {
	limit, offset = w.Page.Window(defaultLimit)
	if w.SearchAfterCtx != "" {
		offset = 0
	}
	return limit, offset
}

// From returns the position to continue after, unset when the request names a page. binding identifies the list:
// account, window, filters and direction. A cursor of another list is rejected.
func (w After) From(c *Call, binding string) (from Position, err error) {
	if w.SearchAfterCtx == "" {
		return from, nil
	}
	from, ok := cursor.Decode[Position](c.cursorKey, binding, w.SearchAfterCtx)
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

// PageOf returns a page whose elements are shown in another way.
func PageOf[Shown, T any](items []Shown, page CursorPage[T]) CursorPage[Shown] {
	return CursorPage[Shown]{items, page.Total, page.HasNextPage, page.SearchAfterCtx}
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

// Cursor returns the cursor of the page after a position, for a request with the same binding.
func (c *Call) Cursor(binding string, end Position) string {
	return cursor.Encode(c.cursorKey, binding, end)
}

// NewCursorPage returns the reply for the elements that were found. The caller queries one element more than limit: its
// presence means that there is a next page, and it is left out. position returns an element's position.
func NewCursorPage[T any](c *Call, found []T, limit, total int64, binding string, position func(T) Position) CursorPage[T] {
	reply := CursorPage[T]{Items: found, Total: total}
	if int64(len(found)) > limit {
		reply.Items, reply.HasNextPage = found[:limit], true
		reply.SearchAfterCtx = c.Cursor(binding, position(found[limit-1]))
	}
	return reply
}
