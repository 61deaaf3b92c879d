package webhook_test

import (
	"strings"
	"testing"
	"time"

	"tocsin/internal/engine/webhook"
)

func TestMomentsAsText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"2026-04-12T13:31:11.357472+08:00":  "2026-04-12T13:31:11.357472+08:00",
		"2026-04-12T13:31:11+08:00":         "2026-04-12T13:31:11.000000+08:00",
		"2026-04-12T13:31:11.3574720+08:00": "2026-04-12T13:31:11.357472+08:00",
		"2026-04-12T05:31:11.357472999Z":    "2026-04-12T05:31:11.357472+00:00",
		"2026-04-12T05:31:11.1-03:30":       "2026-04-12T05:31:11.100000-03:30",
	} {
		var m webhook.Moment
		if err := m.UnmarshalText([]byte(text)); err != nil || m.String() != want {
			t.Errorf("%s: %v, %v, want %s", text, m, err, want)
		}
	}
	for _, text := range []string{"", "2026-04-12", "2026-04-12 13:31:11Z", "2026-04-12T13:31:11", "2026-02-30T00:00:00Z", "1776052800"} {
		var m webhook.Moment
		if err := m.UnmarshalText([]byte(text)); err == nil || !strings.Contains(err.Error(), `"`+text+`"`) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// FuzzMoment reads anything; what is read writes as itself, and is the same instant as the time it is
// made of.
func FuzzMoment(f *testing.F) {
	f.Add("2026-04-12T13:31:11.357472+08:00")
	f.Add("2026-04-12T13:31:11.357472001Z")
	f.Add("2261-12-31T23:59:59.999999999-23:59")
	f.Fuzz(func(t *testing.T, text string) {
		var m, again webhook.Moment
		if m.UnmarshalText([]byte(text)) != nil {
			return
		}
		if err := again.UnmarshalText([]byte(m.String())); err != nil || !time.Time(again).Equal(time.Time(m)) || again.String() != m.String() {
			t.Errorf("%q is written as %v and read as %v, %v", text, m, again, err)
		}
	})
}
