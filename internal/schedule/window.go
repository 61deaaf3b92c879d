package schedule

import "tocsin/internal/platform/fault"

// The longest windows, in seconds (specification 8; docs/api.md for /schedule/self).
const (
	maxWindow     = 45 * 86400
	maxPaged      = 400 * 86400 // in pages
	maxSelfWindow = 30 * 86400
)

// Window is the window of time in a request: both ends or neither.
type Window struct {
	Start *int64 `json:"start,omitzero" minimum:"1000000000" maximum:"9999999999" doc:"Start of the window, Unix seconds in ten digits; goes together with end."`
	End   *int64 `json:"end,omitzero" minimum:"1000000000" maximum:"9999999999" doc:"End of the window, Unix seconds in ten digits; after start, and at most as much later as the operation allows."`
}

// window is the time [from, to), in Unix seconds.
type window struct {
	from, to      int64
	before, after bool // it is a page, and there are pages before and after it
}

// parse returns the window; nil when the request has none. It returns fault.Invalid for a window with one end only, with
// an end that is not after its start, or longer than span seconds.
func (w Window) parse(span int64) (*window, error) {
	switch {
	case w.Start == nil && w.End == nil:
		return nil, nil
	case w.End == nil:
		return nil, fault.Invalid("end", "is required together with start")
	case w.Start == nil:
		return nil, fault.Invalid("start", "is required together with end")
	case *w.End <= *w.Start:
		return nil, fault.Invalid("end", "must be after start %d, got %d", *w.Start, *w.End)
	case *w.End-*w.Start > span:
		return nil, fault.Invalid("end", "must be at most %d days after start %d, got %d", span/86400, *w.Start, *w.End)
	}
	return &window{from: *w.Start, to: *w.End}, nil
}

// Pages are the members of a request for a long window in pages.
type Pages struct {
	PageDays *int64 `json:"page_days,omitzero" minimum:"1" maximum:"45" doc:"How many days of the window the reply has, 1 to 45. With it the window may have 400 days; start and end are required."`
	After    *int64 `json:"after,omitzero" minimum:"1000000000" maximum:"9999999999" doc:"Where the page begins: next_after of the page before; absent: at start. Only with page_days."`
}

// page returns the page of a window that is asked for; nil when the request has neither. Without page_days it is the whole
// window of at most 45 days.
func (p Pages) page(w Window) (*window, error) {
	if p.PageDays == nil {
		if p.After != nil {
			return nil, fault.Invalid("page_days", "is required together with after")
		}
		return w.parse(maxWindow)
	}
	all, err := w.parse(maxPaged)
	if err != nil {
		return nil, err
	}
	if all == nil {
		return nil, fault.Invalid("start", "is required together with page_days")
	}
	if err := between("page_days", *p.PageDays, 1, maxWindow/86400); err != nil {
		return nil, err
	}
	from := all.from
	if p.After != nil {
		from = *p.After
	}
	if from < all.from || from >= all.to {
		return nil, fault.Invalid("after", "must be from start %d and before end %d, got %d", all.from, all.to, from)
	}
	to := min(all.to, from+*p.PageDays*86400)
	return &window{from: from, to: to, before: from > all.from, after: to < all.to}, nil
}

// next returns where the next page begins; nil after the last one.
func (w *window) next() *int64 {
	if !w.after {
		return nil
	}
	return &w.to
}

// seen returns the time to compute: the window, and a second of the pages beside it, so that what goes on there shows.
func (w window) seen() (from, to int64) {
	from, to = w.from, w.to
	if w.before {
		from--
	}
	if w.after {
		to++
	}
	return from, to
}

// clip cuts a period to the window. ok is false if nothing is left.
func (w window) clip(start, end int64) (c clipped, ok bool) {
	c = clipped{max(start, w.from), min(end, w.to), start < w.from, end > w.to}
	return c, c.start < c.end
}

// clipped is a period in a window, and whether it begins before and ends after it.
type clipped struct {
	start, end       int64
	cutStart, cutEnd bool
}
