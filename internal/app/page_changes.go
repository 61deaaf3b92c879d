package app

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/jobs"
)

// pageChanges notifies the open pages of other nodes of what happens to alerts and incidents here. Each commit adds its
// account; a moment later the counts are stored, those of many commits together. Pages look every half second, so that a
// change reaches them within a second. A crash in between loses it for pages that are open on other nodes; they show it
// with the next change of the account.
type pageChanges struct {
	db     *db.DB
	wake   *jobs.Signal
	stored time.Time // of the job alone

	mu      sync.Mutex
	waiting map[int64]int64 // by account, not stored yet
	own     map[int64]int64 // by account, stored by this process
}

// pagesEvery is how long the changes of pages are collected at least before they are stored.
const pagesEvery = 250 * time.Millisecond

func newPageChanges(d *db.DB) *pageChanges {
	return &pageChanges{db: d, wake: jobs.NewSignal(), waiting: map[int64]int64{}, own: map[int64]int64{}}
}

// add counts a change that is committed.
func (p *pageChanges) add(account int64) {
	if !p.db.Shared() {
		return // ChangedByOthers knows
	}
	p.mu.Lock()
	p.waiting[account]++
	first := len(p.waiting) == 1 && p.waiting[account] == 1
	p.mu.Unlock()
	if first {
		p.wake.Raise()
	}
}

// others returns a number that differs when another process has changed something in an account.
func (p *pageChanges) others(ctx context.Context, account int64) (n int64, err error) {
	if !p.db.Shared() {
		return p.db.ChangedByOthers(ctx)
	}
	p.mu.Lock()
	own := p.own[account]
	p.mu.Unlock()
	err = p.db.Read(ctx, func(tx *db.Tx) error {
		n, _, err = db.One(tx, db.Column[int64], `SELECT changes FROM page_change WHERE account_id = $1`, account)
		return err
	})
	return n - own, err
}

// job returns the job that stores the counts.
func (p *pageChanges) job() jobs.Job {
	run := func(ctx context.Context, now time.Time) (time.Time, error) {
		if next := p.stored.Add(pagesEvery); now.Before(next) && now.After(p.stored) {
			return next, nil
		}
		p.stored = now
		return time.Time{}, p.store(ctx)
	}
	return jobs.Job{Name: "changes of pages", Interval: time.Minute, Signal: p.wake, Run: run}
}

// store adds what waits to the database. What cannot be stored waits for the next time.
func (p *pageChanges) store(ctx context.Context) error {
	p.mu.Lock()
	changes := p.waiting
	p.waiting = map[int64]int64{}
	p.mu.Unlock()
	if len(changes) == 0 {
		return nil
	}
	err := p.db.WriteOf(ctx, db.NoAccount, func(tx *db.Tx) error {
		for _, account := range slices.Sorted(maps.Keys(changes)) {
			_, err := tx.Try(func() error { // it fails for an account that was deleted, whose pages have ended
				return tx.Do(`INSERT INTO page_change (account_id, changes) VALUES ($1, $2)
					ON CONFLICT (account_id) DO UPDATE SET changes = page_change.changes + excluded.changes`, account, changes[account])
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	p.mu.Lock()
	defer p.mu.Unlock()
	to := p.own
	if err != nil {
		to = p.waiting
	}
	for account, n := range changes {
		to[account] += n
	}
	return err
}
