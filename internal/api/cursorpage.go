package api

import (
	"tocsin/internal/platform/cursor"
	"tocsin/internal/platform/fault"
)

// CursorRequest is embedded in the request of an operation that lists page by page what is still growing: by page
// numbers, or from the place where the last page ended. With both, the place counts.
type CursorRequest struct {
	Page
	SearchAfterCtx string `json:"search_after_ctx,omitzero" maxLength:"2000" doc:"From the reply with the page before; it goes on there, whatever was added meanwhile."`
}

// Position is where a page ended, in a list ordered by a moment and then by an identifier.
type Position struct {
	At int64  `json:"at"`
	ID string `json:"id"`
}

// From is the place to go on from; the zero Place when the request names a page. binding says which list it
// is: account, window, filters and direction.
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

// CursorPage is the reply of such an operation.
type CursorPage[T any] struct {
	Items          []T    `json:"items" doc:"The elements of this page."`
	Total          int64  `json:"total" doc:"How many there are on all pages together, exactly."`
	HasNextPage    bool   `json:"has_next_page" doc:"Whether there is a page after this one."`
	SearchAfterCtx string `json:"search_after_ctx" doc:"Asks for the next page; empty when there is none."`
}

// NewCursorPage is the reply with the elements that were found: one more than limit when there is a next page,
// which is left out. place says where an element stands.
func NewCursorPage[T any](found []T, limit, total int64, secret []byte, binding string, place func(T) Position) CursorPage[T] {
	reply := CursorPage[T]{Items: found, Total: total}
	if int64(len(found)) > limit {
		reply.Items, reply.HasNextPage = found[:limit], true
		reply.SearchAfterCtx = cursor.Encode(secret, binding, place(found[limit-1]))
	}
	return reply
}
