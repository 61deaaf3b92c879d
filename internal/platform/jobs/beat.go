package jobs

import (
	"context"
	"time"
)

// beat is how often work of an account that goes on without a pause is done. What comes between two beats is done at the
// second: a transaction of the embedded engine writes each page that it changes once, however many rows of the page it
// changes, and one event at a time changed the same hundred pages for each. All accounts and all kinds of work have the same
// beats, so that their writes share transactions. Work that comes after a pause waits for no beat.
const beat = 50 * time.Millisecond

// UntilBeat returns how long work waits for the next beat that goes on after some that has just ended. Jobs that Settle runs
// do not wait: the clock of tests stands still.
func UntilBeat(ctx context.Context) time.Duration {
	if paced, _ := ctx.Value(pacedKey{}).(bool); !paced {
		return 0
	}
	now := time.Now()
	return now.Truncate(beat).Add(beat).Sub(now)
}

// AwaitBeat waits for the next beat, or until the job ends.
func AwaitBeat(ctx context.Context) {
	if wait := UntilBeat(ctx); wait > 0 {
		sleep(ctx, wait)
	}
}

// sleep waits for some time, or until the job ends.
func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// pacedKey marks the context of the runs of a started runner.
type pacedKey struct{}
