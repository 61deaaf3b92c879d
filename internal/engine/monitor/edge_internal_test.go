package monitor

import (
	"testing"
	"time"

	"tocsin/internal/core/evaluate"
	"tocsin/internal/engine/evaluator/remote"
)

// The bodies of members are input from outside: whatever they hold, checking and describing them ends.
func FuzzBatches(f *testing.F) {
	f.Add([]byte(`{"edge_id":"a","run":"1","seq":1,"rule":1,"ds":2,"Epoch":1,"AsOf":"2026-04-13T04:00:00Z","Transitions":[
		{"Check":"threshold","Key":"0","To":"begin","Severity":"Critical","Value":"NaN","Why":[{"code":"mon_asked","args":["p",{"code":"x"}]}]}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		var in remote.SendRequest
		if remote.Unmarshal(body, &in) != nil || checkBatch(&in) != nil {
			return
		}
		now := time.Unix(1776052800, 0)
		for _, one := range in.Transitions {
			if within(one.At, now).After(now) || one.To.Ends() && len(one.Why) == 0 || one.Key != evaluate.Key(one.Labels) {
				t.Errorf("accepted %+v", one)
			}
			for _, why := range one.Why {
				_ = why.English()
			}
		}
	})
}

// Calls and the job look at about the same time, in any order.
func TestEarlierLookIsNoBreak(t *testing.T) {
	t.Parallel()
	var a absences
	start := time.Unix(1_000_000, 0)
	a.look(start)
	a.look(start.Add(5 * time.Second))
	if begun := a.look(start.Add(5*time.Second - time.Millisecond)); !begun.Equal(start) {
		t.Errorf("in reach since %s, want %s", begun, start)
	}
	if late := start.Add(time.Minute); !a.look(late).Equal(late) {
		t.Error("a minute without a look is no break")
	}
}
