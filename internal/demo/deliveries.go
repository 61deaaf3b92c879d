package demo

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"

	"tocsin/internal/engine/webhook"
)

const (
	deliveries = 30_000
	kept       = 7 * day // the age of the oldest
)

// The integrations of outbound webhooks.
const (
	chat int64 = accountID + 300_000 + iota*1000
	tickets
	statusPage
	lake
	erp
)

// subscriber is the receiver of webhooks: an integration and its events.
type subscriber struct {
	integration int64
	endpoint    string
	events      []string
	slow        time.Duration // a response takes up to twice as long
	fails       float64       // share of attempts
}

var subscribers = []subscriber{
	{chat, "https://chat." + domain + "/hooks/incidents", []string{"i_new", "i_ack", "i_rslv", "i_reopen"}, 90 * time.Millisecond, 0.01},
	{tickets, "https://tickets." + domain + "/api/v2/tocsin", []string{"i_new", "i_assign", "i_ack", "i_comm", "i_rslv"},
		240 * time.Millisecond, 0.02},
	{statusPage, "https://status." + domain + "/webhooks/incoming", []string{"i_new", "i_rslv"}, 60 * time.Millisecond, 0.005},
	{lake, "https://ingest.lake." + domain + "/v1/events", []string{"a_new", "a_update", "a_close", "i_new", "i_rslv"}, 35 * time.Millisecond,
		0.01},
	{erp, "https://erp." + domain + "/services/alarm", []string{"a_new", "a_close"}, 700 * time.Millisecond, 0.08},
}

// history builds the deliveries of the last seven days.
type history struct {
	moments
	random *rand.Rand
	list   []webhook.Delivery
}

// webhookDeliveries returns exactly the documented number: deliveries of the account's troubles, and of older ones
// that are no longer stored.
func webhookDeliveries(m moments) []webhook.Delivery {
	h := history{m, rand.New(rand.NewPCG(7, 2026)), make([]webhook.Delivery, 0, deliveries+1000)}
	n := 0
	for i, t := range troubles() {
		h.incident(object(kindIncident, i+1), t.channel, m.ago(t.began), t.lasted)
		for range t.resources {
			n++
			h.alert(object(kindAlert, n), t.channel, m.ago(t.began), t.lasted)
		}
	}
	for n = 0x1000; len(h.list) < deliveries; n++ {
		began, ch := h.dayTime(), payments+int64(h.random.IntN(12))
		lasted := time.Duration(2+h.random.ExpFloat64()*25) * time.Minute
		h.alert(object(kindAlert, n), ch, began, lasted)
		if n%3 == 0 {
			h.incident(object(kindIncident, n), ch, began, lasted)
		}
	}
	h.list = append(h.list[:deliveries-1], namedDelivery(m))
	slices.SortStableFunc(h.list, func(a, b webhook.Delivery) int { return time.Time(a.EventTime).Compare(time.Time(b.EventTime)) })
	h.name()
	return h.list
}

// name sets the event IDs of the deliveries, which rise with time: storing all of them is a third faster than with
// IDs in random order.
func (h *history) name() {
	tails := make([]string, len(h.list))
	for i := range tails {
		tails[i] = h.short()
	}
	slices.Sort(tails)
	for i := range h.list {
		d := &h.list[i]
		if d.EventID != "" {
			continue // it is named already
		}
		d.EventID = time.Time(d.EventTime).Format("20060102") + tails[i]
	}
}

// dayTime returns a moment of the last days, three times as likely in the shop's busy hours.
func (h *history) dayTime() time.Time {
	for {
		at := h.now.Add(-time.Duration(h.random.Int64N(int64(kept))))
		if clock := at.Hour(); clock >= 8 && clock < 22 || h.random.IntN(3) == 0 {
			return at
		}
	}
}

func (h *history) alert(ref string, ch int64, began time.Time, lasted time.Duration) {
	h.send("alert", "a_new", ref, ch, began)
	for range 1 + h.random.IntN(5) {
		h.send("alert", "a_update", ref, ch, began.Add(time.Duration(h.random.Int64N(int64(cmp.Or(lasted, h.now.Sub(began)))))))
	}
	if lasted != 0 {
		h.send("alert", "a_close", ref, ch, began.Add(lasted))
	}
}

func (h *history) incident(ref string, ch int64, began time.Time, lasted time.Duration) {
	h.send("incident", "i_new", ref, ch, began)
	h.send("incident", "i_assign", ref, ch, began.Add(time.Second))
	h.send("incident", "i_ack", ref, ch, began.Add(time.Duration(30+h.random.IntN(400))*time.Second))
	if lasted != 0 {
		h.send("incident", "i_comm", ref, ch, began.Add(lasted/2))
		h.send("incident", "i_rslv", ref, ch, began.Add(lasted))
	}
}

// waits are the pauses before the second, third and further attempts.
var waits = []time.Duration{10 * time.Second, time.Minute, 5 * time.Minute, 30 * time.Minute}

// send delivers an event to every subscriber of it, and retries until it arrives or no attempt is left.
func (h *history) send(kind, event, ref string, ch int64, at time.Time) {
	for _, s := range subscribers {
		if !slices.Contains(s.events, event) {
			continue
		}
		at := at
		for attempt := range len(waits) + 1 {
			at = at.Add(time.Duration(200+h.random.IntN(700_000)) * time.Microsecond).Truncate(time.Microsecond)
			if !at.Before(h.now) {
				break
			}
			d := h.attempt(s, at)
			d.WebhookType = kind
			d.EventType = event
			d.RefID = ref
			d.ChannelID = ch
			d.Attempt = int64(attempt + 1)
			if at.After(h.now.Add(-kept)) {
				h.list = append(h.list, d)
			}
			if d.Status == "success" || attempt == len(waits) {
				break
			}
			at = at.Add(waits[attempt])
		}
	}
}

// attempt returns one try. The ERP system was down for two hours, two days ago.
func (h *history) attempt(s subscriber, at time.Time) webhook.Delivery {
	d := webhook.Delivery{
		IntegrationID: s.integration, Endpoint: s.endpoint, EventTime: webhook.MomentOf(at),
		Status: "success", StatusCode: 200, Duration: (s.slow/2 + time.Duration(h.random.Int64N(int64(2*s.slow)))).Milliseconds(),
	}
	fails := s.fails
	if down := h.ago(48 * hour); s.integration == erp && at.After(down) && at.Before(down.Add(2*hour)) {
		fails = 1
	}
	if h.random.Float64() < fails {
		d.Status, d.StatusCode = "failed", []int64{500, 502, 503, 429, 0}[h.random.IntN(5)]
		if d.StatusCode == 0 {
			d.Duration = 10_000 // no response before the timeout
		}
	}
	return d
}

const letters = "23456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

// short returns 22 characters in the form of the product's identifiers, from the seeded source.
func (h *history) short() string {
	var s [22]byte
	for i := range s {
		s[i] = letters[h.random.IntN(len(letters))]
	}
	return string(s[:])
}
