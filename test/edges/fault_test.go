package edges

import (
	"time"
)

// fault is what happens to an edge, or to the server, and how it ends.
type fault struct {
	name       string
	begin, end func(*world, *edge) error
}

// faults are those that rounds pair.
var faults = []fault{
	{
		"kill", func(_ *world, e *edge) error { e.Kill(); return nil },
		func(_ *world, e *edge) error { return e.Start() },
	},
	{
		"freeze", func(_ *world, e *edge) error { return e.Freeze() },
		func(_ *world, e *edge) error { return e.Thaw() },
	},
	{
		"cut", func(w *world, e *edge) error { e.link.Silence(); return nil },
		func(_ *world, e *edge) error { e.link.Repair(); return nil },
	},
	{
		"server", func(w *world, _ *edge) error { w.server.Kill(); return nil },
		func(w *world, _ *edge) error { return w.server.Start() },
	},
	{
		"disk", func(_ *world, e *edge) error { return e.disk.fill(e.Process()) },
		func(_ *world, e *edge) error { return e.disk.free(e.Process()) },
	},
}

// lasting is how long faults go on: longer than the lease.
const lasting = 25 * time.Second
