package schedule

import "tocsin/internal/platform/fault"

// The longest windows, in seconds (the specification, 8; docs/api.md for self).
const (
	maxWindow     = 45 * 86400
	maxSelfWindow = 30 * 86400
)

// Window is the part of time that a caller asks about: both ends or neither.
type Window struct {
	Start *int64 `json:"start,omitzero" minimum:"1000000000" maximum:"9999999999" doc:"Start of the window, Unix seconds in ten digits; goes together with end."`
	End   *int64 `json:"end,omitzero" minimum:"1000000000" maximum:"9999999999" doc:"End of the window, Unix seconds in ten digits; after start, and not further from it than the operation allows."`
}

// window is a part of time, [from, to), Unix seconds.
type window struct{ from, to int64 }

// asked gives the window, nil when none was asked for, or an error when it is half given, not after
// its start or longer than span seconds.
func (w Window) asked(span int64) (*window, error) {
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
