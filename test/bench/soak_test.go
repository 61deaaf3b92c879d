package main

import (
	"testing"
	"time"
)

func TestLatenciesReportPartsAndSlowOnes(t *testing.T) {
	l := &latencies{}
	for range 98 {
		l.add(time.Millisecond)
	}
	l.add(soakSlow)
	l.add(time.Hour)
	if got := l.part(0.5); got != time.Millisecond+latencyUnit {
		t.Errorf("half took at most %s", got)
	}
	if got := l.part(0.98); got != soakSlow+latencyUnit {
		t.Errorf("99 of 100 took at most %s", got)
	}
	if l.over(soakSlow) != 2 || l.longest != time.Hour {
		t.Errorf("%d took %s or more, the longest %s", l.over(soakSlow), soakSlow, l.longest)
	}
}
