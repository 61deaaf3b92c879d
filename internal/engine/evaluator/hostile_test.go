package evaluator

import (
	"context"
	"fmt"
	"testing"
	"time"

	"tocsin/internal/core/evaluate"
	"tocsin/internal/querier"
)

// crowd is a center with watches of many accounts.
type crowd struct {
	*center
	accounts int64
}

func (c crowd) Sync(ctx context.Context, r Report) (Orders, error) {
	o, err := c.center.Sync(ctx, r)
	for account := range c.accounts {
		o.Accounts[account+1] = 1
	}
	return o, err
}

func (c crowd) Watches(ctx context.Context, account int64) (own []Watch, err error) {
	all, err := c.center.Watches(ctx, account)
	for _, w := range all {
		if w.Account == account {
			own = append(own, w)
		}
	}
	return own, err
}

// Accounts whose datasources never answer take as many places as they can. Those of 100 others are evaluated in the second in
// which they are due all the same.
func TestUnansweredAccountsDelayNoOther(t *testing.T) {
	t.Parallel()
	const good, bad = 100, 8
	var watches []Watch
	add := func(account int64, source uint64, name string) {
		w := hot(t, uint64(len(watches)+1), fmt.Sprint("cpu", len(watches)))
		w.Key.Account = account
		w.Key.Datasource = source
		w.Source = Source{ID: source, Version: 1}
		w.Source.Name = name
		watches = append(watches, w)
	}
	for account := range int64(bad) {
		for n := range 60 {
			add(account+1, uint64(n%6+1), "bad")
		}
	}
	for account := range int64(good) {
		add(bad+account+1, 1, "good")
	}
	b := newBench(t, watches...)
	b.hold = make(chan struct{})
	quick := &server{values: map[string]float64{"web1": 7}}
	b.e.Center = crowd{b.center, good + bad}
	b.e.Open = func(d querier.Datasource) (querier.Querier, *evaluate.Failure) {
		if d.Name == "good" {
			return quick, nil
		}
		return b.server, nil
	}
	waits := func() (n int) {
		b.e.mu.Lock()
		defer b.e.mu.Unlock()
		for key, w := range b.e.watches {
			if key.Account > bad && w.waits {
				n++
			}
		}
		return n
	}
	ctx, end := context.WithCancel(t.Context())
	for range 31 {
		if _, err := b.e.run(ctx, b.clock.Now()); err != nil {
			t.Fatal(err)
		}
		b.waitFor(func() bool { return waits() == 0 })
		b.clock.Add(time.Second)
	}
	end()
	close(b.hold)
	b.e.running.Wait()
	if quick.asked < 3*good {
		t.Errorf("%d answers of the others in three intervals, want %d", quick.asked, 3*good)
	}
	if b.most < mostOfSource {
		t.Errorf("only %d queries hang", b.most)
	}
}
