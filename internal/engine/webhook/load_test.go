package webhook_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"tocsin/internal/api/apitest"
	"tocsin/internal/engine/webhook"
	"tocsin/internal/platform/db"
)

// TestDumpIsWhatWasLoaded loads random records and reads them back: the same text, when the times are
// written with the account's offset.
func TestDumpIsWhatWasLoaded(t *testing.T) {
	t.Parallel()
	s, undo := apitest.Start(t), errors.New("undo")
	zone := time.FixedZone("", 8*3600)
	for seed := range uint64(apitest.Setting(t, "TOCSIN_WEBHOOK_SEEDS", 3)) {
		r := rand.New(rand.NewPCG(seed, 4))
		records := random(r, r.IntN(30))
		for i := range records {
			records[i].EventTime = records[i].EventTime.In(zone)
		}
		slices.SortFunc(records, func(a, b webhook.Delivery) int { return strings.Compare(a.EventID, b.EventID) })
		err := s.DB.Write(context.Background(), func(tx *db.Tx) error {
			if err := webhook.Load(tx, apitest.AccountA, records); err != nil {
				return err
			}
			got, err := webhook.Dump(tx, apitest.AccountA)
			if err != nil || text(t, got) != text(t, records) {
				t.Fatalf("seed %d: %v; got\n%s\nwant\n%s", seed, err, text(t, got), text(t, records))
			}
			if others, err := webhook.Dump(tx, apitest.AccountB); err != nil || len(others) != 0 {
				t.Fatalf("seed %d: %v, %v", seed, err, others)
			}
			var read []webhook.Delivery
			if err := json.Unmarshal([]byte(text(t, got)), &read); err != nil || text(t, read) != text(t, got) {
				t.Fatalf("seed %d: the text does not read as itself: %v", seed, err)
			}
			return undo
		})
		if !errors.Is(err, undo) {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

func text(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestLoadRefuses(t *testing.T) {
	t.Parallel()
	s := apitest.Start(t)
	for says, spoil := range map[string]func(d *webhook.Delivery){
		"webhook_deliveries[1].event_id: first is given twice":                                                      func(d *webhook.Delivery) { d.EventID = "first" },
		"webhook_deliveries[1].event_id: must have 1 to 128 characters, got 0":                                      func(d *webhook.Delivery) { d.EventID = "" },
		"webhook_deliveries[1].event_id: must have 1 to 128 characters, got 129":                                    func(d *webhook.Delivery) { d.EventID = strings.Repeat("é", 129) },
		"webhook_deliveries[1].webhook_type: must have 1 to 64 characters, got 0":                                   func(d *webhook.Delivery) { d.WebhookType = "" },
		"webhook_deliveries[1].event_type: must have 1 to 64 characters, got 0":                                     func(d *webhook.Delivery) { d.EventType = "" },
		"webhook_deliveries[1].ref_id: must have 0 to 128 characters, got 129":                                      func(d *webhook.Delivery) { d.RefID = strings.Repeat("x", 129) },
		"webhook_deliveries[1].endpoint: must have 0 to 2048 characters, got 2049":                                  func(d *webhook.Delivery) { d.Endpoint = strings.Repeat("x", 2049) },
		"webhook_deliveries[1].integration_id: must be at least 0, got -1":                                          func(d *webhook.Delivery) { d.IntegrationID = -1 },
		"webhook_deliveries[1].channel_id: must be at least 0, got -1":                                              func(d *webhook.Delivery) { d.ChannelID = -1 },
		"webhook_deliveries[1].attempt: must be at least 0, got -1":                                                 func(d *webhook.Delivery) { d.Attempt = -1 },
		"webhook_deliveries[1].duration: must be at least 0, got -1":                                                func(d *webhook.Delivery) { d.Duration = -1 },
		"webhook_deliveries[1].status_code: must be at least 0, got -1":                                             func(d *webhook.Delivery) { d.StatusCode = -1 },
		`webhook_deliveries[1].status: must be one of failed, success, got "ok"`:                                    func(d *webhook.Delivery) { d.Status = "ok" },
		"webhook_deliveries[1].event_time: must be in the years 2002 to 2261, got 2001-12-31T23:59:59.999999+00:00": func(d *webhook.Delivery) { d.EventTime = at("2001-12-31T23:59:59.999999999Z") },
		"webhook_deliveries[1].event_time: must be in the years 2002 to 2261, got 2262-01-01T00:00:00.000000+00:00": func(d *webhook.Delivery) { d.EventTime = at("2262-01-01T00:00:00Z") },
		"webhook_deliveries[1].event_time: must be in the years 2002 to 2261, got 0001-01-01T00:00:00.000000+00:00": func(d *webhook.Delivery) { d.EventTime = webhook.Moment{} },
	} {
		d := delivery("second", 0)
		spoil(&d)
		err := s.DB.Write(context.Background(), func(tx *db.Tx) error {
			return webhook.Load(tx, apitest.AccountA, []webhook.Delivery{delivery("first", 0), d})
		})
		if err == nil || err.Error() != says {
			t.Errorf("%v, want %q", err, says)
		}
	}
	if n := rows(t, s, "webhook_delivery") + rows(t, s, "webhook_count") + rows(t, s, "webhook_count_day"); n != 0 {
		t.Errorf("%d rows are left of refused files", n)
	}
}

// TestFirstAndLastMomentAreListed loads what is just accepted and finds it in the widest window.
func TestFirstAndLastMomentAreListed(t *testing.T) {
	t.Parallel()
	s := start(t)
	first, last := delivery("first", 0), delivery("last", 0)
	first.EventTime, last.EventTime = at("2002-01-01T00:00:00Z"), at("2261-12-31T23:59:59.999999999Z")
	most := delivery("most", 0)
	most.IntegrationID = math.MaxInt64
	most.ChannelID = math.MaxInt64
	most.Duration = math.MaxInt64
	s.Write(func(tx *db.Tx) error {
		return webhook.Load(tx, apitest.AccountA, []webhook.Delivery{first, last, most})
	})
	var p page
	s.Call(apitest.KeyA, list, `{"limit":10,"start_time":1000000000000,"end_time":9999999999999}`).Into(&p)
	if got := strings.Join(p.ids(t), " "); got != "last most first" || p.Total != 3 {
		t.Errorf("%s of %d", got, p.Total)
	}
}

// TestRecordRefusesIDTwice keeps the counts right when recording fails: nothing of the call is kept.
func TestRecordRefusesIDTwice(t *testing.T) {
	t.Parallel()
	s := start(t)
	record(t, s, apitest.AccountA, delivery("first", 0))
	err := s.DB.Write(context.Background(), func(tx *db.Tx) error {
		return webhook.Record(tx, apitest.AccountA, []webhook.Delivery{delivery("second", 0), delivery("first", 0)})
	})
	if err == nil || !strings.Contains(err.Error(), "INSERT INTO webhook_delivery") {
		t.Errorf("%v", err)
	}
	var p page
	s.Call(apitest.KeyA, list, `{"limit":10,`+window+`}`).Into(&p)
	if p.Total != 1 || len(p.Items) != 1 {
		t.Errorf("%d of %d", len(p.Items), p.Total)
	}
}

func at(text string) (m webhook.Moment) {
	if err := m.UnmarshalText([]byte(text)); err != nil {
		panic(err)
	}
	return m
}
