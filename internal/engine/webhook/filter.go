package webhook

import "fmt"

// filter selects the deliveries of a list. An empty member does not filter.
type filter struct {
	account     int64
	refID       string
	integration int64
	eventTypes  []string // any of these; without duplicates
	status      string
}

// window is the span of time of a list and its direction; times in Unix nanoseconds.
type window struct {
	from, to int64 // from inclusive, to exclusive
	asc      bool
}

// rank is the position of a delivery in the order of lists.
type rank struct {
	time int64 // Unix nanoseconds
	id   string
}

func (d Delivery) rank() rank { return rank{d.EventTime.nanoseconds(), d.EventID} }

// start returns the rank before the window's first delivery, in its direction. No event id is empty, so every delivery
// at the window's edge comes after it.
func (w window) start() rank {
	if w.asc {
		return rank{w.from, ""}
	}
	return rank{w.to, ""}
}

// before reports whether a comes before b in the list.
func (w window) before(a, b Delivery) bool {
	x, y := a.rank(), b.rank()
	if !w.asc {
		x, y = y, x
	}
	return x.time < y.time || x.time == y.time && x.id < y.id
}

// sources returns index ranges that together hold exactly the deliveries of this type ("": any) that pass the filter,
// each of them once.
func (f filter) sources(eventType string) []source {
	if f.refID != "" {
		return []source{{indexRef, []any{
			f.account, f.refID, f.integration == 0, f.integration, eventType == "", eventType, f.status == "", f.status,
		}}}
	}
	among := statuses
	if f.status != "" {
		among = []string{f.status}
	}
	all := make([]source, len(among))
	for i, status := range among {
		switch {
		case f.integration != 0 && eventType != "":
			all[i] = source{indexBoth, []any{f.account, fmt.Sprintf("%d %s %s", f.integration, status, eventType)}}
		case f.integration != 0:
			all[i] = source{indexIntegration, []any{f.account, f.integration, status}}
		case eventType != "":
			all[i] = source{indexType, []any{f.account, eventType, status}}
		default:
			all[i] = source{indexStatus, []any{f.account, status}}
		}
	}
	return all
}

// kinds returns the event types to query one after the other; "" stands for any.
func (f filter) kinds() []string {
	if len(f.eventTypes) == 0 {
		return []string{""}
	}
	return f.eventTypes
}
