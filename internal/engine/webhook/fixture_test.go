package webhook_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"tocsin/internal/api/apitest"
	"tocsin/internal/engine/webhook"
	"tocsin/internal/platform/db"
)

func start(t *testing.T) *apitest.Server {
	return apitest.Start(t, webhook.New(webhook.Config{CursorKey: []byte("a key that outlives the process")}).Ops())
}

func record(t *testing.T, s *apitest.Server, account int64, deliveries ...webhook.Delivery) {
	t.Helper()
	s.Write(func(tx *db.Tx) error { return webhook.Record(tx, account, deliveries) })
}

// rows returns the number of rows of a table.
func rows(t testing.TB, s *apitest.Server, table string) (n int64) {
	t.Helper()
	err := s.DB.Read(context.Background(), func(tx *db.Tx) (err error) {
		n, _, err = db.One(tx, db.Column[int64], "SELECT count(*) FROM "+table)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// random returns deliveries that are hard to distinguish: few integrations, types and references, at moments around the
// borders of hours and slots, many at the same nanosecond.
func random(r *rand.Rand, n int) []webhook.Delivery {
	all := make([]webhook.Delivery, n)
	for i := range all {
		all[i] = webhook.Delivery{
			IntegrationID: r.Int64N(3), EventID: fmt.Sprintf("%x-%c", r.Uint64(), 'A'+r.IntN(60)), WebhookType: "alert", EventType: oneOf(r, "a_new", "a_update", "i_new"),
			ChannelID: r.Int64N(3), RefID: oneOf(r, "", "one", "two"), Endpoint: "https://example.com/" + oneOf(r, "a", "ü"), Attempt: 1 + r.Int64N(3),
			Duration: r.Int64N(1000), Status: oneOf(r, "success", "failed"), StatusCode: r.Int64N(600), EventTime: webhook.Moment(border(r)),
		}
	}
	return all
}

// border returns a moment at or close to a border of five minutes within five hours, or of a day within the five before.
func border(r *rand.Rand) time.Time {
	near := []time.Duration{0, 1, -1, time.Millisecond, -time.Millisecond, time.Second, 2 * time.Minute}
	if r.IntN(3) == 0 {
		midnight := apitest.Now.Truncate(24 * time.Hour)
		return midnight.Add(-time.Duration(r.IntN(5))*24*time.Hour + near[r.IntN(len(near))])
	}
	return apitest.Now.Add(time.Duration(r.IntN(60))*5*time.Minute + near[r.IntN(len(near))])
}

func oneOf[T any](r *rand.Rand, values ...T) T { return values[r.IntN(len(values))] }

// request is a body of /webhook/history/list.
type request struct {
	Limit          int      `json:"limit"`
	StartTime      int64    `json:"start_time"`
	EndTime        int64    `json:"end_time"`
	SearchAfterCtx string   `json:"search_after_ctx"`
	Asc            bool     `json:"asc"`
	RefID          string   `json:"ref_id"`
	IntegrationID  int64    `json:"integration_id"`
	EventTypes     []string `json:"event_types"`
	Status         *string  `json:"status"`
}

// randomRequest returns a random request whose window begins and ends at borders.
func randomRequest(r *rand.Rand) request {
	in := request{
		Limit: 1 + r.IntN(100), Asc: r.IntN(2) == 0, RefID: oneOf(r, "", "", "", "one"), IntegrationID: oneOf[int64](r, 0, 0, 1, 2),
		EventTypes: oneOf(r, nil, nil, []string{}, []string{"a_new"}, []string{"i_new", "none", "a_update", "i_new"}),
		Status:     oneOf(r, nil, nil, new("failed"), new("success")),
	}
	for in.EndTime <= in.StartTime {
		in.StartTime, in.EndTime = border(r).UnixMilli(), border(r).UnixMilli()
	}
	return in
}

// pick is the model: the deliveries of a request, in order, by checking every delivery.
func (in request) pick(all []webhook.Delivery) []webhook.Delivery {
	picked := []webhook.Delivery{}
	for _, d := range all {
		at := time.Time(d.EventTime)
		if !at.Before(time.UnixMilli(in.StartTime)) && at.Before(time.UnixMilli(in.EndTime)) && (in.RefID == "" || d.RefID == in.RefID) &&
			(in.IntegrationID == 0 || d.IntegrationID == in.IntegrationID) && (len(in.EventTypes) == 0 || slices.Contains(in.EventTypes, d.EventType)) &&
			(in.Status == nil || d.Status == *in.Status) {
			picked = append(picked, d)
		}
	}
	slices.SortFunc(picked, func(a, b webhook.Delivery) int {
		order := cmp.Or(time.Time(a.EventTime).Compare(time.Time(b.EventTime)), cmp.Compare(a.EventID, b.EventID))
		if !in.Asc {
			order = -order
		}
		return order
	})
	return picked
}

// page is the data of a reply.
type page struct {
	Items          []json.RawMessage `json:"items"`
	SearchAfterCtx string            `json:"search_after_ctx"`
	Total          int               `json:"total"`
}

func (p page) ids(t *testing.T) []string {
	t.Helper()
	ids := []string{}
	for _, item := range p.Items {
		var d struct {
			EventID string `json:"event_id"`
		}
		if err := json.Unmarshal(item, &d); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, d.EventID)
	}
	return ids
}

func ids(deliveries []webhook.Delivery) []string {
	ids := []string{}
	for _, d := range deliveries {
		ids = append(ids, d.EventID)
	}
	return ids
}
