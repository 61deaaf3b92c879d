package webhook

import (
	"fmt"

	"tocsin/internal/platform/db"
)

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

// sources returns index ranges that together hold exactly the deliveries of this type ("": any) in the window that pass the
// filter, each of them once. A list of one webhook has ranges for its event types, and a list of one event type for each
// webhook: fewer indexes are written with each delivery.
func (f filter) sources(tx *db.Tx, w window, eventType string) (all []source, err error) {
	if f.refID != "" {
		return []source{{indexRef, []any{
			f.account, f.refID, f.integration == 0, f.integration, eventType == "", eventType, f.status == "", f.status,
		}}}, nil
	}
	among := statuses
	if f.status != "" {
		among = []string{f.status}
	}
	integrations, types := []int64{f.integration}, []string{eventType}
	from, to := w.from/day, w.to/day
	switch {
	case f.integration == 0 && eventType == "":
		for _, status := range among {
			all = append(all, source{indexStatus, []any{f.account, status}})
		}
		return all, nil
	case f.integration == 0:
		integrations, err = db.All(tx, db.Column[int64], countedIntegrations, f.account, byIntegration, from, to)
	case eventType == "":
		types, err = db.All(tx, db.Column[string], countedTypes, f.account, byIntegration|byType, f.integration, from, to)
	}
	for _, integration := range integrations {
		for _, eventType := range types {
			for _, status := range among {
				all = append(all, source{indexBoth, []any{f.account, fmt.Sprintf("%d %s %s", integration, status, eventType)}})
			}
		}
	}
	return all, err
}

// kinds returns the event types to query one after the other; "" stands for any.
func (f filter) kinds() []string {
	if len(f.eventTypes) == 0 {
		return []string{""}
	}
	return f.eventTypes
}
