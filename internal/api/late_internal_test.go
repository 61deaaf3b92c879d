package api

import (
	"testing"
	"time"
)

// TestLateRefusalsAreBounded: the first refusals of a caller in a minute are prompt, the others wait, and so many at most.
func TestLateRefusalsAreBounded(t *testing.T) {
	t.Parallel()
	l, now := newLateRefusals(), time.Unix(1776052800, 0)
	caller := func(n int64) refusedCaller { return refusedCaller{account: n} }
	for n := range promptRefusals.PerMinute {
		if wait, full := l.join(caller(-1), now); wait || full {
			t.Fatalf("refusal %d: %v %v", n, wait, full)
		}
	}
	waits := 0
	for who := range int64(2 * lateInAll / latePerCaller) {
		for range promptRefusals.PerMinute {
			l.join(caller(who), now)
		}
		for range 2 * latePerCaller {
			if wait, full := l.join(caller(who), now); wait == full {
				t.Fatalf("of caller %d: %v %v", who, wait, full)
			} else if wait {
				waits++
			}
		}
		if l.each[caller(who)] > latePerCaller {
			t.Fatalf("%d of one caller wait", l.each[caller(who)])
		}
	}
	if waits != lateInAll || l.all != lateInAll {
		t.Errorf("%d wait, want %d", waits, lateInAll)
	}
	l.leave(caller(1))
	if wait, _ := l.join(caller(1), now); !wait {
		t.Error("a place that became free stays empty")
	}
	for who, n := range l.each {
		for range n {
			l.leave(who)
		}
	}
	if l.all != 0 || len(l.each) != 0 {
		t.Errorf("%d refusals and %d callers are left behind", l.all, len(l.each))
	}
	if wait, full := l.join(caller(-1), now.Add(time.Minute)); wait || full {
		t.Error("a refusal after a minute is late")
	}
}
