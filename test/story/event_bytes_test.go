package story

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
)

// pushLarge sends events whose labels have so many bytes each, and returns the reply.
func (w *world) pushLarge(key string, events, bytes int) reply {
	w.t.Helper()
	var batch []map[string]any
	for n := range events {
		labels := map[string]string{"service": "checkout"}
		for left := bytes; left > 0; left -= 2000 {
			labels[fmt.Sprintf("l%d", left)] = strings.Repeat("x", min(left, 2000))
		}
		batch = append(batch, map[string]any{"title_rule": "Trouble", "event_status": "Info", "alert_key": fmt.Sprintf("%s%d", key, n), "labels": labels})
	}
	body, err := json.Marshal(batch)
	w.must(err)
	return w.pushAll(string(body))
}

// TestOneKeyCannotFillDisk: beyond its bytes of a day the events of an integration are shortened, its owner is notified
// once, and beyond ten times as many they are refused; others are not affected, and a restart forgets little.
func TestOneKeyCannotFillDisk(t *testing.T) {
	t.Parallel()
	w := begin(t)
	w.do("/channel/disable", `{"channel_id": %d}`, shop)
	w.do("/integration/update", `{"integration_id": %d, "settings": {"max_bytes_per_day": 1048576}}`, sink)
	w.pushLarge("a", 12, 90_000)
	w.settle()
	w.notified()
	w.restart()
	w.want(w.pushLarge("b", 2, 90_000), "events.1.alert_key", "b1")
	w.settle()
	if why := w.why("b1"); !strings.Contains(why, "were cut to 2 KB") || strings.Contains(w.why("a0"), "were cut") {
		t.Error(why)
	}
	alert := w.explained("b1").String()
	if strings.Contains(alert, strings.Repeat("x", 2000)) {
		t.Error(alert)
	}
	if p := w.last(); !strings.Contains(p.subject, "sends more than 1 MiB a day: its events are shortened") {
		t.Error(p.subject)
	}
	w.notified(newPage("olga"))
	w.metrics(fmt.Sprintf(`tocsin_events_shortened_total{integration="%d"} 2`, sink))
	info := w.do("/integration/info", `{"integration_id": %d}`, sink)
	w.want(info, "volume.max_bytes_per_day", "1048576")
	if len(info.get("volume.bytes")) != 7 {
		t.Error(info)
	}
	for range 8 { // 8 times 700 events of 2 KB
		w.pushLarge("c", 700, 3000)
		w.settle()
	}
	r := w.pushLarge("d", 1, 10)
	if r.Status != 429 || r.Error == nil || !strings.Contains(r.Error.Message, "max_bytes_per_day") {
		t.Error(r)
	}
	w.want(w.do("/integration/info", `{"integration_id": %d}`, sink), "refused.0.reason", "too_much")
	r = w.pushAll(`[{"title_rule": "Trouble", "event_status": "Ok", "alert_key": "a0"}, {"title_rule": "Trouble", "event_status": "Info", "alert_key": "d1"}]`)
	w.want(r, "events.0.alert_key", "a0")
	w.want(r, "refused.0.index", "1")
	if len(r.get("events.1.alert_key")) > 0 || !strings.Contains(r.get("refused.0.message"), "only events that end an alert were taken") {
		t.Error(r)
	}
	w.post("/event/push/alert/standard?integration_key="+sharedKey, `{"title_rule": "cpu", "event_status": "Info", "alert_key": "cpu"}`)
	w.newPages()
	w.clock.Add(15 * time.Hour) // the next day
	w.want(w.pushLarge("e", 1, 10), "events.0.alert_key", "e0")
}
