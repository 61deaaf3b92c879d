package webhook

import (
	"fmt"
	"slices"
	"time"

	"tocsin/internal/api"
	"tocsin/internal/platform/cursor"
	"tocsin/internal/platform/fault"
)

// HistoryListRequest asks for attempts in a window.
type HistoryListRequest struct {
	Limit          int      `json:"limit" minimum:"1" maximum:"100" doc:"Deliveries on a page."`
	StartTime      int64    `json:"start_time" minimum:"1000000000000" maximum:"9999999999999" doc:"Start of the window in Unix milliseconds, inclusive."`
	EndTime        int64    `json:"end_time" minimum:"1000000000000" maximum:"9999999999999" doc:"End of the window in Unix milliseconds, exclusive; after start_time."`
	SearchAfterCtx string   `json:"search_after_ctx,omitempty" maxLength:"4096" doc:"From the previous reply, for the next page; all other members but limit must be as they were."`
	Asc            bool     `json:"asc,omitempty" doc:"Oldest first; else newest first."`
	Orderby        string   `json:"orderby,omitempty" enum:"event_time" doc:"The field that the list is ordered by."`
	RefID          string   `json:"ref_id,omitempty" maxLength:"128" doc:"Only deliveries of this incident or alert."`
	IntegrationID  int64    `json:"integration_id,omitempty" minimum:"0" doc:"Only deliveries of this webhook; 0: of all."`
	EventTypes     []string `json:"event_types,omitempty" maxItems:"1000" maxLength:"64" doc:"Only these event types; none: all."`
	Status         string   `json:"status,omitempty" enum:"success,failed" doc:"Only deliveries with this status."`
}

// Check rejects a window that does not end after its start, and an empty event type.
func (in HistoryListRequest) Check() error {
	if in.EndTime <= in.StartTime {
		return fault.Invalid("end_time", "must be greater than start_time %d, got %d", in.StartTime, in.EndTime)
	}
	if i := slices.Index(in.EventTypes, ""); i >= 0 {
		return fault.Invalid(fmt.Sprintf("event_types[%d]", i), "must not be empty")
	}
	return nil
}

// HistoryPage is a page of attempts.
type HistoryPage struct {
	Items          []Listed `json:"items" doc:"The deliveries of this page."`
	SearchAfterCtx string   `json:"search_after_ctx" doc:"For the request of the next page; empty when there is none."`
	Total          int64    `json:"total" doc:"How many deliveries the filter matches in the window, on all pages."`
}

// Listed is an attempt as the list shows it.
type Listed struct {
	Delivery
	MessageID string `json:"message_id,omitzero" doc:"The message that it is an attempt of, for /webhook/message/info; absent: it came with an account file."`
}

// position is a rank as a cursor holds it.
type position struct {
	EventTime string `json:"event_time"`
	EventID   string `json:"event_id"`
}

// historyList is POST /webhook/history/list (the specification, 4.7). Its page needs no bound of bytes: a delivery has less
// than 3 KB, mostly its endpoint, so 100 deliveries have 300 KB.
func (r *Service) historyList(c *api.Call, in HistoryListRequest) (page HistoryPage, err error) {
	slices.Sort(in.EventTypes)
	f := filter{c.Who.AccountID, in.RefID, in.IntegrationID, slices.Compact(in.EventTypes), in.Status}
	w := window{nanosecondsOf(in.StartTime), nanosecondsOf(in.EndTime), in.Asc}
	binding := fmt.Sprintf("webhook history %d %q %d %q %q %d %d %t",
		f.account, f.refID, f.integration, f.eventTypes, f.status, in.StartTime, in.EndTime, in.Asc)

	start := w.start()
	if in.SearchAfterCtx != "" {
		start, err = r.decodeCursor(binding, in.SearchAfterCtx)
		if err != nil {
			return page, err
		}
	}
	p, err := privateTo(c)
	if err != nil {
		return page, err
	}
	if hidden, err := p.hides(c.Tx, f); err != nil || hidden {
		return HistoryPage{Items: []Listed{}}, err
	}
	var sources []source
	for _, kind := range f.kinds() {
		all, seen, err := p.total(c.Tx, f, w, kind)
		if err != nil {
			return page, err
		}
		if all > 0 {
			some, err := f.sources(c.Tx, w, kind)
			if err != nil {
				return page, err
			}
			page.Total += seen
			sources = append(sources, some...)
		}
	}
	items, err := cursor.Merge(in.Limit+1, len(sources), w.before, func(i int, after *Delivery, want int) ([]Delivery, error) {
		from := start
		if after != nil {
			from = after.rank()
		}
		return p.read(c.Tx, sources[i], w, from, want)
	})
	if err != nil {
		return page, err
	}
	if len(items) > in.Limit {
		items = items[:in.Limit]
		last := items[in.Limit-1]
		page.SearchAfterCtx = cursor.Encode(r.CursorKey, binding, position{last.EventTime.In(c.Who.Zone).exact(), last.EventID})
	}
	page.Items = make([]Listed, len(items))
	for i := range items {
		page.Items[i].Delivery = items[i]
		page.Items[i].EventTime = items[i].EventTime.In(c.Who.Zone)
		page.Items[i].MessageID, err = messageOf(c.Tx, f.account, items[i].EventID)
		if err != nil {
			return page, err
		}
	}
	return page, nil
}

// decodeCursor returns the rank of the last delivery on the page that this cursor came with.
func (r *Service) decodeCursor(binding, text string) (rank, error) {
	at, ok := cursor.Decode[position](r.CursorKey, binding, text)
	if !ok {
		return rank{}, fault.Invalid("search_after_ctx", "must be from a reply to the same request with the same window, filters and direction")
	}
	t, err := time.Parse(time.RFC3339Nano, at.EventTime)
	return rank{t.UnixNano(), at.EventID}, err
}
