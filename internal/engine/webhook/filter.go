package webhook

import "fmt"

// filter is what a list of deliveries is narrowed to. An empty member does not narrow.
type filter struct {
	account     int64
	refID       string
	integration int64
	eventTypes  []string // any of these; no two alike
	status      string
}

// window is the span of time of a list and its direction; times in Unix nanoseconds.
type window struct {
	from, to int64 // from inclusive, to exclusive
	asc      bool
}

// place is where a delivery stands in the order of lists.
type place struct {
	time int64 // Unix nanoseconds
	id   string
}

func (d Delivery) place() place { return place{d.EventTime.nanoseconds(), d.EventID} }

// start is the place before the window's first delivery, in its direction. No event id is empty, so that
// every delivery at the window's edge stands beyond it.
func (w window) start() place {
	if w.asc {
		return place{w.from, ""}
	}
	return place{w.to, ""}
}

// before is the order of the list.
func (w window) before(a, b Delivery) bool {
	x, y := a.place(), b.place()
	if !w.asc {
		x, y = y, x
	}
	return x.time < y.time || x.time == y.time && x.id < y.id
}

// sources are lanes that together hold exactly the deliveries of this type ("": any) that pass the filter,
// each of them once.
func (f filter) sources(eventType string) []source {
	if f.refID != "" {
		return []source{{laneRef, []any{f.account, f.refID, f.integration == 0, f.integration, eventType == "", eventType, f.status == "", f.status}}}
	}
	among := statuses
	if f.status != "" {
		among = []string{f.status}
	}
	all := make([]source, len(among))
	for i, status := range among {
		switch {
		case f.integration != 0 && eventType != "":
			all[i] = source{laneBoth, []any{f.account, fmt.Sprintf("%d %s %s", f.integration, status, eventType)}}
		case f.integration != 0:
			all[i] = source{laneIntegration, []any{f.account, f.integration, status}}
		case eventType != "":
			all[i] = source{laneType, []any{f.account, eventType, status}}
		default:
			all[i] = source{laneStatus, []any{f.account, status}}
		}
	}
	return all
}

// kinds are the event types to look for one after the other; "" stands for any.
func (f filter) kinds() []string {
	if len(f.eventTypes) == 0 {
		return []string{""}
	}
	return f.eventTypes
}
