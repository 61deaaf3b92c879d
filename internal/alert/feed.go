package alert

import (
	"fmt"

	"tocsin/internal/activity"
	"tocsin/internal/api"
)

// FeedRequest is the part that all requests for feeds have.
type FeedRequest struct {
	Asc   bool     `json:"asc,omitzero" doc:"Oldest first."`
	Types []string `json:"types,omitzero" maxItems:"50" maxLength:"255" doc:"Only entries of these types, such as i_ack."`
	api.CursorRequest
}

// Entry is one element of the feed of an incident or an alert.
type Entry struct {
	RefID     string         `json:"ref_id" doc:"The incident or alert it happened to."`
	FeedID    int64          `json:"feed_id" doc:"Counts what happened to it, from 1."`
	Type      string         `json:"type" doc:"What happened, such as i_ack."`
	Detail    map[string]any `json:"detail" doc:"Further members, by type."`
	AccountID int64          `json:"account_id" doc:"Owning account."`
	CreatorID int64          `json:"creator_id" doc:"Who did it; 0: Tocsin itself."`
	CreatedAt int64          `json:"created_at" doc:"When, Unix milliseconds."`
	UpdatedAt int64          `json:"updated_at" doc:"The same."`
}

// Feed returns a page of what happened to an incident or an alert. The caller checks who may read it.
func Feed(c *api.Call, ref string, in FeedRequest) (reply api.CursorPage[Entry], err error) {
	binding := fmt.Sprint("feed", c.Who.AccountID, ref, in.Types, in.Asc)
	from, err := in.From(c, binding)
	if err != nil {
		return reply, err
	}
	limit, offset := in.Window(20)
	found, total, err := activity.Feed(c.Tx, activity.Query{
		Account:     c.Who.AccountID,
		Ref:         ref,
		Types:       in.Types,
		OldestFirst: in.Asc,
		After:       from.Number(),
		Limit:       limit + 1,
		Offset:      offset,
	})
	items := make([]Entry, len(found))
	for i, e := range found {
		items[i] = Entry{ref, e.ID, e.Type, e.Detail, c.Who.AccountID, e.Person, e.CreatedAt, e.CreatedAt}
	}
	return api.NewCursorPage(c, items, limit, total, binding, func(e Entry) api.Position { return api.NumberedAt(0, e.FeedID) }), err
}

// OneFeedRequest asks for what happened to an alert.
type OneFeedRequest struct {
	OneRequest
	FeedRequest
}

// Check holds the page against its bounds.
func (in OneFeedRequest) Check() error { return in.Page.Check() }

func feed(c *api.Call, in OneFeedRequest) (api.CursorPage[Entry], error) {
	a, err := info(c, in.OneRequest)
	if err != nil {
		return api.CursorPage[Entry]{}, err
	}
	return Feed(c, a.AlertID, in.FeedRequest)
}
