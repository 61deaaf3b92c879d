package api

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"tocsin/internal/configstore"
	"tocsin/internal/platform/cursor"
	"tocsin/internal/platform/fault"
)

// CursorRequest is embedded in the request of an operation that lists rows that are still being added. Pages are
// asked for by number, or by the cursor from the page before. With both, the cursor counts.
type CursorRequest struct {
	Page
	After
}

// Continue sets the most elements of a page, and the cursor at which it begins; empty: at the first element.
func (w *CursorRequest) Continue(limit int64, cursor string) {
	w.Limit, w.SearchAfterCtx = limit, cursor
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

	behind func(element int) string // the cursor of the page behind an element; nil: the page is whole
}

// Part returns the elements of the page, and the cursor of the next one; empty: there is none.
func (p CursorPage[T]) Part() (items []T, next string) { return p.Items, p.SearchAfterCtx }

// shorten ends the page before its elements have more than PageBytes in the reply. It reports whether it left any out.
func (p *CursorPage[T]) shorten(c *Call) (bool, error) {
	bytes := 0
	for i := range p.Items {
		b, err := json.Marshal(&p.Items[i], replyOptions)
		if err != nil {
			return false, err
		}
		if bytes += len(b); bytes <= PageBytes || i == 0 || p.behind == nil {
			continue
		}
		c.WarnShort(int64(i), int64(len(p.Items)), "")
		p.SearchAfterCtx, p.HasNextPage = p.behind(i-1), true
		p.Items = p.Items[:i]
		return true, nil
	}
	return false, nil
}

// PageOf returns a page whose elements are shown in another way.
func PageOf[Shown, T any](items []Shown, page CursorPage[T]) CursorPage[Shown] {
	return CursorPage[Shown]{items, page.Total, page.HasNextPage, page.SearchAfterCtx, page.behind}
}

// PageBytes is the most that the elements of a page have together, in bytes as they are stored and as they are in the reply. Of
// one element there is always a page.
const PageBytes = 2 << 20

// pageEnds begins the warning of WarnShort.
const pageEnds = "This page ends after "

// WarnShort adds the warning of a page with fewer elements than its limit, because more would have more than PageBytes. next
// names where the others are; empty: behind the cursor.
func (c *Call) WarnShort(elements, limit int64, next string) {
	limit = max(limit, c.asked)
	if elements < limit {
		c.asked = limit
		c.warnings = slices.DeleteFunc(c.warnings, func(w string) bool { return strings.HasPrefix(w, pageEnds) }) // of the rows
		c.Warn(fmt.Sprintf(pageEnds+"%d of %d elements, because a page has at most %d bytes. %s", elements, limit, PageBytes,
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
	reply := CursorPage[T]{
		Items: found, Total: total, behind: func(element int) string { return c.Cursor(binding, position(found[element])) },
	}
	if int64(len(found)) > limit {
		reply.Items, reply.HasNextPage = found[:limit], true
		reply.SearchAfterCtx = reply.behind(int(limit) - 1)
	}
	return reply
}

// ObjectPage returns a page of the objects of a kind that a query selects, in the order of the query.
func ObjectPage[T any](c *Call, kind configstore.Kind[T], q configstore.Query, in CursorRequest, defaultLimit int64) (
	reply CursorPage[T], err error,
) {
	binding := fmt.Sprintf("%ss %d %+v", kind.Name, c.Who.AccountID, q)
	from, err := in.From(c, binding)
	if err != nil {
		return reply, err
	}
	q.After, q.MaxBytes = configstore.Position{At: from.At, ID: from.ID}, PageBytes
	q.Limit, q.Offset = in.Window(defaultLimit)
	page, err := kind.Slice(c.Tx, c.Who.AccountID, q)
	if err != nil {
		return reply, err
	}
	c.WarnShort(page.Size, q.Limit, "")
	reply = CursorPage[T]{Items: page.Items, Total: page.Total, HasNextPage: page.More, behind: func(element int) string {
		h := kind.Head(&page.Items[element])
		at := h.CreatedAt
		if q.ByUpdate {
			at = h.UpdatedAt
		}
		return c.Cursor(binding, Position{At: at, ID: h.ID})
	}}
	if page.More {
		reply.SearchAfterCtx = c.Cursor(binding, Position{At: page.End.At, ID: page.End.ID})
	}
	return reply, nil
}
