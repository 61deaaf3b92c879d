package gate_test

import (
	"testing"
	"time"

	"tocsin/internal/platform/gate"
)

func TestCompany(t *testing.T) {
	var c gate.Company
	at := time.Unix(1776052800, 0)
	for i, v := range []struct {
		account int64
		after   time.Duration
		alone   bool
	}{
		{1, 0, true}, {1, time.Millisecond, true}, {2, time.Millisecond, false}, {1, time.Second, false}, {1, time.Millisecond, true},
		{2, time.Minute, true}, {3, 500 * time.Millisecond, false}, {2, 499 * time.Millisecond, false}, {2, 502 * time.Millisecond, true},
	} {
		at = at.Add(v.after)
		if got := c.Alone(v.account, at); got != v.alone {
			t.Errorf("visit %d, of account %d: alone %t", i, v.account, got)
		}
	}
}
