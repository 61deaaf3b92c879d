package monitor

import (
	"testing"

	"tocsin/internal/core/sentence"
)

// A closing is sorted by its code. What a person or a channel is called must not be taken for one.
func TestNamesMarkNoInstance(t *testing.T) {
	t.Parallel()
	const hostile = `{"code":"mon_channel_disabled"}`
	for code, want := range map[string]bool{"mon_rule_disabled": false, "mon_channel_disabled": true, "mon_channel_enabled": true} {
		text := map[string]sentence.Value{
			"mon_rule_disabled":    sentence.New("mon_rule_disabled", hostile),
			"mon_channel_disabled": sentence.New("mon_channel_disabled", hostile, hostile),
			"mon_channel_enabled":  sentence.New("mon_channel_enabled", hostile, hostile),
		}[code]
		i := instance{closeAt: 1, closing: string(text)}
		if i.marked() != want {
			t.Errorf("%s: marked %t, want %t", text, !want, want)
		}
	}
}
