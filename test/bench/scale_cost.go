package main

import (
	"time"
)

// priced is what one of something uses.
type priced struct {
	engine, title string
	reading
}

// model returns the costs of PostgreSQL for the model.
func (c *scaleBed) model(each []priced) costs {
	of := func(p ...priced) (u unit) {
		for _, p := range p {
			u.node = u.node + p.node
			u.database = u.database + p.database
			u.log = u.log + float64(p.log)
			u.stored = u.stored + float64(p.size)
		}
		return u
	}
	minute := c.idle.share(float64(time.Second) / float64(time.Minute)).share(float64(c.size))
	return costs{event: of(each[0], each[2]), repeat: of(each[1]), read: of(each[3]), idle: minute.node, idleDatabase: minute.database, account: float64(c.bytes)}
}

// costLevel is the number of accounts at which the cost of one event is measured.
const costLevel = 1000

// costs measures what one event and one read use.
func (c *scaleBed) costs() (each []priced, err error) {
	const count = 1000
	c.waiting = c.sent
	for _, part := range []struct {
		title, status string
		again         bool
	}{
		{"an event that opens an incident, with its page", "Critical", false},
		{"the same event again", "Critical", true},
		{"the end of an alert and its incident", "Ok", true},
	} {
		if part.again {
			c.sent -= count
		}
		p, err := c.price(part.title, func() (int, error) {
			if _, err := c.events(8, count, 0, part.status); err != nil {
				return 0, err
			}
			return count, c.finished()
		})
		if err != nil {
			return nil, err
		}
		each = append(each, p)
	}
	p, err := c.price("who is on call", func() (int, error) {
		f, err := c.reads(clients)
		return f.calls, err
	})
	return append(each, p), err
}

// price measures what each of a number of things uses, beside what the node does anyway.
func (c *scaleBed) price(title string, run func() (count int, err error)) (priced, error) {
	before, err := c.kept()
	if err != nil {
		return priced{}, err
	}
	count, began := 0, time.Now()
	used, err := c.during(func() (err error) {
		count, err = run()
		return err
	})
	if err != nil {
		return priced{}, err
	}
	used = used.without(c.idle.share(1 / time.Since(began).Seconds()))
	after, err := c.kept()
	used.size = after - before
	return priced{c.title, title, used.share(float64(count))}, err
}

// kept returns the bytes on disk without the rows that were deleted.
func (c *scaleBed) kept() (int64, error) {
	if c.server != nil {
		if err := c.cleaned(); err != nil {
			return 0, err
		}
	}
	r, err := c.read()
	return r.size, err
}

// share divides a reading.
func (r reading) share(by float64) reading {
	d := func(n int64) int64 { return int64(float64(n) / by) }
	return reading{node: time.Duration(d(int64(r.node))), database: time.Duration(d(int64(r.database))), statements: d(r.statements), rows: d(r.rows), log: d(r.log), size: d(r.size)}
}

// without returns what remains of a reading without another; the size on disk stays, because idling takes none.
func (r reading) without(o reading) reading {
	less := func(a, b int64) int64 { return max(0, a-b) }
	return reading{node: time.Duration(less(int64(r.node), int64(o.node))), database: time.Duration(less(int64(r.database), int64(o.database))),
		statements: less(r.statements, o.statements), rows: less(r.rows, o.rows), log: less(r.log, o.log), size: r.size}
}
