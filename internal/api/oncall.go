package api

import "tocsin/internal/configstore"

// Oncall reads the schedules that depend on objects, before a write of these objects. It returns what reads them after it; nil:
// no schedule depends on them.
type Oncall func(c *Call, objects []configstore.Target) (OncallAfter, error)

// OncallAfter reads the same schedules after the write, and returns what compares both.
type OncallAfter func(c *Call) (OncallChange, error)

// OncallChange returns warnings that name each schedule in which other persons are on call now than before the write.
type OncallChange func(c *Call) ([]string, error)

// Objects returns what a request writes, for Op.Moves. What another call writes at the same moment may be part of the warning.
type Objects func(c *Call, in any) ([]configstore.Target, error)

// ObjectsOf returns the Objects of requests of one type.
func ObjectsOf[In any](objects func(*Call, In) ([]configstore.Target, error)) Objects {
	return func(c *Call, in any) ([]configstore.Target, error) { return objects(c, *in.(*In)) }
}

// oncallBefore reads the schedules that depend on what the call writes.
func (f *Frame) oncallBefore(x *exchange, in any) error {
	x.after, x.moved = nil, nil
	if x.op.Moves == nil || f.Oncall == nil {
		return nil
	}
	c := x.call
	c.read = f.DB.Snapshot
	return c.Read(func() error {
		objects, err := x.op.Moves(&c, in)
		if err == nil && len(objects) > 0 {
			x.after, err = f.Oncall(&c, objects)
		}
		return err
	})
}

// completionOf returns what completes the reply of a write after its transaction; nil: it is complete.
func (x *exchange) completionOf(data any) func(*Call) error {
	var own func(*Call) error
	if reply, ok := data.(completer); ok {
		own = reply.Completion()
	}
	if x.after == nil {
		return own
	}
	return func(c *Call) error {
		if own != nil {
			if err := own(c); err != nil {
				return err
			}
		}
		return x.warnMoved(c)
	}
}

// warnMoved warns if who is on call now has changed. The schedules of a dry run have been read in its transaction.
func (x *exchange) warnMoved(c *Call) error {
	if x.moved == nil {
		err := c.Read(func() (err error) {
			x.moved, err = x.after(c)
			return err
		})
		if err != nil {
			return err
		}
	}
	list, err := x.moved(c)
	c.Warn(list...)
	return err
}
