package source_test

import (
	"fmt"
	"strings"
	"testing"

	"tocsin/internal/source"
	"tocsin/internal/source/grafana"
	"tocsin/internal/source/prometheus"
	"tocsin/internal/source/sourcetest"
	"tocsin/internal/source/standard"
)

// batches are the sources whose requests hold several alerts, with how n of them are written.
var batches = map[string]struct {
	parse source.Parser
	body  func(n int) string
}{
	"prometheus": {prometheus.Parse, func(n int) string { return `{"version": "4", "alerts": [` + alerts(n) + `], "groupKey": "g"}` }},
	"grafana":    {grafana.Parse, func(n int) string { return `{"alerts": [` + alerts(n) + `], "groupKey": "g"}` }},
	"standard": {standard.Parse, func(n int) string {
		list := make([]string, n)
		for i := range list {
			list[i] = fmt.Sprintf(`{"title_rule": "t", "event_status": "Critical", "alert_key": "k%d", "group_key": "g"}`, i)
		}
		return "[" + strings.Join(list, ",") + "]"
	}},
}

func alerts(n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf(`{"status": "firing", "fingerprint": "k%d", "labels": {"alertname": "A"}}`, i)
	}
	return strings.Join(list, ",")
}

// Beyond the limit what fits is taken, and the rest is named in one entry.
func TestAlertsBeyondLimitAreNamed(t *testing.T) {
	for name, s := range batches {
		for _, n := range []int{1, 9, 10, 11, 30} {
			b, err := s.parse(source.Request{Body: []byte(s.body(n)), At: sourcetest.Came, MaxAlerts: 10})
			if err != nil || len(b.Events) != min(n, 10) || !b.List {
				t.Fatalf("%s of %d: %d events, %v", name, n, len(b.Events), err)
			}
			for i, e := range b.Events {
				if e.AlertKey != fmt.Sprint("k", i) || e.GroupKey != "g" && name != "grafana" {
					t.Errorf("%s: event %d is %+v", name, i, e)
				}
			}
			if n <= 10 {
				if len(b.Refused) > 0 {
					t.Errorf("%s of %d: refused %+v", name, n, b.Refused)
				}
				continue
			}
			if len(b.Refused) != 1 || b.Refused[0].Index != 10 || b.Refused[0].Count != n-10 || b.Refused[0].Reason != source.TooMany ||
				!strings.HasSuffix(b.Refused[0].Field, "[10]") || !strings.Contains(b.Refused[0].Message, "may hold 10 alerts") {
				t.Errorf("%s of %d: refused %+v", name, n, b.Refused)
			}
		}
	}
}

// A body that is cut at any byte holds the alerts before the cut, and never another one.
func TestCutBodyHoldsAlertsBeforeCut(t *testing.T) {
	for name, s := range batches {
		whole := s.body(7)
		before := 0
		for end := range len(whole) {
			b, err := s.parse(source.Request{Body: []byte(whole[:end]), Cut: true, At: sourcetest.Came, MaxAlerts: 100})
			want := strings.Count(whole[:end], "}") // an alert of prometheus ends with two
			if name != "standard" {
				want = strings.Count(whole[:end], "}}")
			}
			if got := len(b.Events); got != min(want, 7) || (err == nil) != (got > 0) {
				t.Fatalf("%s cut at %d: %d events, %v, want %d", name, end, got, err, want)
			}
			if got := len(b.Events); got < before {
				t.Fatalf("%s cut at %d: %d events, %d before", name, end, got, before)
			}
			before = len(b.Events)
			if complete := strings.Contains(whole[:end], "]"); err == nil && complete != (len(b.Refused) == 0) {
				t.Errorf("%s cut at %d: refused %+v", name, end, b.Refused)
			}
		}
	}
}

// A body of tiny alerts costs the memory of those that are taken.
func TestManyTinyAlertsAreCountedOnly(t *testing.T) {
	body := []byte(`{"alerts": [` + strings.Repeat("{},", 1<<20) + `{}]}`)
	r := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := prometheus.Parse(source.Request{Body: body, At: sourcetest.Came, MaxAlerts: 10}); err != nil {
				b.Fatal(err)
			}
		}
	})
	if n := r.AllocedBytesPerOp(); n > 1<<20 {
		t.Errorf("%d bytes for a body of %d", n, len(body))
	}
}

// What the sender left out of the request is counted.
func TestTruncatedAlertsAreCounted(t *testing.T) {
	for _, truncated := range []string{`1500`, `"1500"`} {
		b, err := prometheus.Parse(source.Request{Body: []byte(`{"alerts": [` + alerts(2) + `], "truncatedAlerts": ` + truncated + `}`), At: sourcetest.Came, MaxAlerts: 10})
		if err != nil || b.Truncated != 1500 || len(b.Events) != 2 {
			t.Errorf("%s: %d left out, %v", truncated, b.Truncated, err)
		}
	}
	for _, odd := range []string{`-1`, `null`, `"x"`, `{}`, `[]`, `1e9`} {
		b, err := prometheus.Parse(source.Request{Body: []byte(`{"alerts": [` + alerts(2) + `], "truncatedAlerts": ` + odd + `}`), At: sourcetest.Came, MaxAlerts: 10})
		if err != nil || b.Truncated != 0 || len(b.Events) != 2 {
			t.Errorf("%s: %d left out, %v", odd, b.Truncated, err)
		}
	}
}
