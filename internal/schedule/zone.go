package schedule

import (
	"sync"
	"time"

	"tocsin/internal/platform/fault"
)

// zones holds the zones loaded so far by name. There are a few hundred, so it needs no bound: names that
// are no zone are not kept.
var zones sync.Map

// zone finds an IANA zone. Loading one reads files, which is too slow to do on every read.
func zone(field, name string) (*time.Location, error) {
	if z, ok := zones.Load(name); ok {
		return z.(*time.Location), nil
	}
	z, err := time.LoadLocation(name)
	if err != nil || name == "" || name == "Local" { // the last two mean the machine's, which is nobody's business
		return nil, fault.Invalid(field, "must be an IANA zone such as Europe/Berlin, got %q", name)
	}
	zones.Store(name, z)
	return z, nil
}
