package schedule

import "tocsin/internal/platform/fault"

// The longest windows, in seconds (specification 8; docs/api.md for /schedule/self).
const (
	maxWindow     = 45 * 86400
	maxSelfWindow = 30 * 86400
)

// Window is the window of time in a request: both ends or neither.
type Window struct {
	Start *int64 `json:"start,omitzero" minimum:"1000000000" maximum:"9999999999" doc:"Start of the window, Unix seconds in ten digits; goes together with end."`
	End   *int64 `json:"end,omitzero" minimum:"1000000000" maximum:"9999999999" doc:"End of the window, Unix seconds in ten digits; after start, and at most as much later as the operation allows."`
}

// window is the time [from, to), in Unix seconds.
type window struct{ from, to int64 }

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
	return &window{*w.Start, *w.End}, nil
}
