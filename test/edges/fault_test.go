package edges

import "time"

// fault is what happens to an edge, or to the server, and how it ends.
type fault struct {
	name       string
	process    bool // the edge is no more, or stands still
	begin, end func(*world, *edge) error
}

// Faults that rounds pair.
var (
	kill = fault{
		"kill", true, func(_ *world, e *edge) error { e.Kill(); return nil },
		func(_ *world, e *edge) error { return e.Start() },
	}
	freeze = fault{
		"freeze", true, func(_ *world, e *edge) error { return e.Freeze() },
		func(_ *world, e *edge) error { return e.Thaw() },
	}
	cut = fault{
		"cut", false, func(w *world, e *edge) error { e.cut(w.random.IntN(3)); return nil },
		func(_ *world, e *edge) error { e.mend(); e.Link.Repair(); return nil },
	}
	wrongClock = fault{
		"clock", true, func(w *world, e *edge) (err error) {
			off := 2 * time.Minute
			if w.random.IntN(2) == 0 {
				off = -off
			}
			if err := e.Stop(); err != nil {
				return err
			}
			e.stop, err = w.runWith(e, off)
			return err
		},
		func(_ *world, e *edge) error { e.stop(); return e.Start() },
	}
	full = fault{
		"disk", false, func(_ *world, e *edge) error { return e.disk.fill(e.Process()) },
		func(_ *world, e *edge) error { return e.disk.free(e.Process()) },
	}
	server = fault{
		"server", false, func(w *world, _ *edge) error { w.Server.Kill(); return nil },
		func(w *world, _ *edge) error { return w.Server.Start() },
	}
)

// pairs are all pairs of faults. The first two need no more than the others, and are what ./test.sh has time for.
var pairs = [][2]fault{
	{kill, cut}, {server, freeze}, {full, wrongClock}, {full, kill}, {server, wrongClock}, {cut, freeze}, {server, kill}, {full, freeze},
	{cut, wrongClock}, {server, full}, {kill, freeze}, {server, cut}, {full, cut}, {kill, wrongClock}, {freeze, wrongClock},
}

// cut cuts the link of an edge: nothing passes, or connections are refused, or everything is late and connections are reset
// again and again.
func (e *edge) cut(how int) {
	e.mend = func() {}
	switch how {
	case 0:
		e.Link.Silence()
	case 1:
		e.Link.Reset()
	default:
		e.Link.Delay(200 * time.Millisecond)
		stop := make(chan struct{})
		go func() {
			for {
				select {
				case <-stop:
					return
				case <-time.After(1500 * time.Millisecond):
					e.Link.Break()
				}
			}
		}()
		e.mend = func() { close(stop) }
	}
}

// victims returns the edges that two faults happen to: the same one if it can have both.
func (w *world) victims(pair [2]fault) (*edge, *edge) {
	order := w.random.Perm(len(w.edges))
	one, other := w.edges[order[0]], w.edges[order[1]]
	if !(pair[0].process && pair[1].process) && one.disk.small && w.random.IntN(2) == 0 {
		other = one
	}
	return one, other
}
