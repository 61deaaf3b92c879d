package copydb

import (
	"context"
	"errors"
	"iter"

	"tocsin/internal/platform/db"
)

// batch is rows on their way, and the place of the last in the source.
type batch struct {
	rows [][]any
	last db.Key
}

// batchRows is how many rows are handed over at once, batchesTogether how many batches a transaction has that stores how far
// it is: what a copy that is interrupted has to copy again at most.
var batchRows, batchesTogether = 256, 64

// copy copies a table. One goroutine reads and sums, so that both databases work at the same time.
func (p *passage) copy(ctx context.Context, t pair, at Progress) (Result, error) {
	ctx, stop := context.WithCancel(ctx)
	d := p.before[t.to.Name]
	result := d.Result
	result.Table = t.to.Name
	p.at = at
	p.show(result.Rows)
	batches, failure := make(chan batch, 8), make(chan error, 1)
	go func() {
		defer close(batches)
		failure <- p.send(ctx, t.from, d.Last, &result, batches)
	}()
	defer func() { // the transaction of the source is used by no one when copy returns
		stop()
		for range batches { //nolint:revive // until the reader has ended
		}
	}()
	filled := d.Filled
	for b := range batches {
		if err := p.load(ctx, t.to, &filled, b, batches); err != nil {
			return Result{}, err
		}
	}
	if err := errors.Join(<-failure, ctx.Err()); err != nil {
		return Result{}, err
	}
	return result, nil
}

// load writes a batch and some of those that follow, in one transaction; all of them where there is no other.
func (p *passage) load(ctx context.Context, t db.Table, filled *db.Filled, first batch, others <-chan batch) error {
	return p.write(ctx, func(tx *db.Tx) error {
		after := *filled
		err := p.out.Load(tx, t, func(yield func([]any, error) bool) {
			n := 1
			for b := range following(first, others) {
				for _, values := range b.rows {
					if !yield(values, nil) {
						return
					}
					after.Rows++
					p.show(1)
				}
				after.Last = b.last
				if err := ctx.Err(); err != nil {
					yield(nil, err)
					return
				}
				if n++; p.out.tx == nil && n > batchesTogether {
					return
				}
			}
		})
		if err == nil && p.out.tx == nil {
			err = p.out.SaveProgress(tx, t, *filled, after)
		}
		*filled = after
		return err
	})
}

// following returns a batch and those that come after it.
func following(first batch, others <-chan batch) iter.Seq[batch] {
	return func(yield func(batch) bool) {
		for b, more := first, true; more; b, more = <-others {
			if !yield(b) {
				return
			}
		}
	}
}

// send sends the rows of a table after a place, and adds them to the result.
func (p *passage) send(ctx context.Context, t db.Table, after db.Key, result *Result, to chan<- batch) error {
	var b batch
	send := func() error {
		select {
		case to <- b:
			b = batch{}
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	err := p.in.Records(p.in.tx, t, db.Span{Account: p.account, After: after}, func(r db.Record) error {
		result.add(r)
		b.rows, b.last = append(b.rows, r.Values), r.Key
		if len(b.rows) < batchRows {
			return nil
		}
		return send()
	})
	if err != nil || len(b.rows) == 0 {
		return err
	}
	return send()
}
