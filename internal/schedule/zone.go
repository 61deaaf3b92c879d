package schedule

import (
	"sync"
	"time"

	"tocsin/internal/platform/fault"
)

// zones holds the zones loaded so far by name. There are a few hundred of them, so
// it needs no bound: unknown names are not stored.
var zones sync.Map

// zone returns an IANA zone, or fault.Invalid. Loading a zone reads files, which is too slow for every request.
func zone(field, name string) (*time.Location, error) {
	if z, ok := zones.Load(name); ok {
		return z.(*time.Location), nil
	}
	z, err := time.LoadLocation(name)
	if err != nil || name == "" || name == "Local" { // the last two mean the machine's zone, which must not matter
		return nil, fault.Invalid(field, "must be an IANA zone such as Europe/Berlin, got %q", name)
	}
	zones.Store(name, z)
	return z, nil
}
