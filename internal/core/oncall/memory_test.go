package oncall

import (
	"fmt"
	"runtime"
	"testing"
	"unsafe"
)

// TestManyLayersAreNotCopied: the memory for a timeline of many layers is that of its pieces' sources and not a multiple.
func TestManyLayersAreNotCopied(t *testing.T) {
	s := &Schedule{Zone: location(t, "UTC")}
	for i := range 50 {
		s.Layers = append(s.Layers, Layer{Name: fmt.Sprint(i), Start: benchFrom - 365*day + int64(i)*60, Unit: Hour, Value: 1, Groups: groups("AB")})
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r := s.Window(benchFrom, benchFrom+14*day)
	runtime.ReadMemStats(&after)
	var needed uint64
	for _, p := range r.Final {
		needed += uint64(len(p.Sources)) * uint64(unsafe.Sizeof(Source{}))
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 3*needed {
		t.Errorf("%d bytes were allocated for %d bytes of sources", took, needed)
	}
}
