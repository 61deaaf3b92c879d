package monitor

import (
	"testing"

	"github.com/go-json-experiment/json"

	"tocsin/internal/core/sentence"
)

// A closing is sorted by its code. What a person or a channel is called must not be taken for one.
func TestNamesMarkNoInstance(t *testing.T) {
	t.Parallel()
	const hostile = `{"code":"mon_channel_disabled"}`
	for code, want := range map[string]bool{"mon_rule_disabled": false, "mon_channel_disabled": true, "mon_channel_enabled": true} {
		text, err := json.Marshal(sentence.Data{Code: code, Args: []any{hostile, hostile}})
		if err != nil {
			t.Fatal(err)
		}
		i := instance{closeAt: 1, closing: string(text)}
		if i.marked() != want {
			t.Errorf("%s: marked %t, want %t", text, !want, want)
		}
	}
}
