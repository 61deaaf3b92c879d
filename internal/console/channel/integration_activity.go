package channel

import (
	"time"

	"tocsin/internal/alert"
	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/console/page"
	"tocsin/internal/core/render"
)

// activityDays is the window in which the page of an integration looks for events.
const activityDays = 7

// activity is what an integration has sent of late.
type activity struct {
	Count int64        // of decided events in the window
	Last  *alert.Event // nil: none
	New   bool         // the integration is younger than the window, so that the first event is awaited
}

// Name returns the title of the last event, as messages call it.
func (a activity) Name() string { return render.AlertName(a.Last.Title, a.Last.Labels) }

// activityOf returns what a source of alerts has sent of late.
func activityOf(v *page.Visit, i integrationRow) (*activity, error) {
	if !i.Source() || !v.Who.May(auth.ChannelsRead) {
		return nil, nil
	}
	from := v.Now.Add(-activityDays * 24 * time.Hour).Unix()
	request := alert.EventsRequest{StartTime: from, EndTime: v.Now.Unix() + 1, IntegrationIDs: []int64{i.IntegrationID}}
	request.Limit = 1
	reply, err := page.Call[api.CursorPage[alert.Event]](v, "/alert-event/list", request)
	if err != nil {
		return nil, err
	}
	a := activity{Count: reply.Total, New: i.CreatedAt > from}
	if len(reply.Items) > 0 {
		a.Last = &reply.Items[0]
	}
	return &a, nil
}
