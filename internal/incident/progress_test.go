package incident_test

import (
	"errors"
	"slices"
	"testing"

	"tocsin/internal/incident"
)

// TestMoves makes every move from every progress.
func TestMoves(t *testing.T) {
	t.Parallel()
	const ann, bob = 1, 2
	triggered := incident.Status{Progress: incident.Triggered}
	snoozed := incident.Status{Progress: incident.Triggered, Snoozed: true}
	acked := incident.Status{Progress: incident.Processing, Ackers: []int64{bob}}
	both := incident.Status{Progress: incident.Processing, Ackers: []int64{bob, ann}}
	closed := incident.Status{Progress: incident.Closed, Ackers: []int64{bob}}
	for _, c := range []struct {
		from incident.Status
		move incident.Move
		to   incident.Status
		why  string // the reason of an illegal move
	}{
		{triggered, incident.Ack, incident.Status{Progress: incident.Processing, Ackers: []int64{ann}}, ""},
		{triggered, incident.Unack, triggered, "no person has acknowledged it"},
		{triggered, incident.Sleep, snoozed, ""},
		{triggered, incident.Wake, triggered, "it is not snoozed"},
		{triggered, incident.Resolve, incident.Status{Progress: incident.Closed}, ""},
		{triggered, incident.Reopen, triggered, "it is open"},
		{triggered, incident.Merge, incident.Status{Progress: incident.Closed}, ""},
		{triggered, incident.Join, triggered, ""},
		{triggered, incident.Assign, triggered, ""},
		{triggered, incident.Answer, triggered, "no person has acknowledged it"},
		{triggered, incident.Retract, triggered, "no person has acknowledged it"},
		{both, incident.Retract, triggered, ""},
		{acked, incident.Answer, acked, ""},
		{closed, incident.Answer, closed, "it is closed"},
		{closed, incident.Retract, closed, "it is closed"},
		{snoozed, incident.Ack, incident.Status{Progress: incident.Processing, Ackers: []int64{ann}}, ""},
		{snoozed, incident.Sleep, snoozed, ""},
		{snoozed, incident.Wake, triggered, ""},
		{snoozed, incident.Resolve, incident.Status{Progress: incident.Closed}, ""},
		{acked, incident.Ack, both, ""},
		{both, incident.Ack, both, ""},
		{both, incident.Unack, acked, ""},
		{acked, incident.Unack, acked, "it was acknowledged by others, and each person can only withdraw their own"},
		{incident.Status{Progress: incident.Processing, Ackers: []int64{ann}}, incident.Unack, triggered, ""},
		{acked, incident.Sleep, incident.Status{Progress: incident.Processing, Ackers: []int64{bob}, Snoozed: true}, ""},
		{acked, incident.Reopen, acked, "it is open"},
		{closed, incident.Reopen, triggered, ""},
		{closed, incident.Ack, closed, "it is closed"},
		{closed, incident.Unack, closed, "it is closed"},
		{closed, incident.Sleep, closed, "it is closed"},
		{closed, incident.Wake, closed, "it is closed"},
		{closed, incident.Resolve, closed, "it is closed"},
		{closed, incident.Merge, closed, "it is closed"},
		{closed, incident.Join, closed, "it is closed"},
		{closed, incident.Assign, closed, "it is closed"},
	} {
		got, err := c.from.After(c.move, ann)
		var illegal *incident.Illegal
		if errors.As(err, &illegal) {
			if illegal.Why != c.why {
				t.Errorf("%+v %s: %s, want %q", c.from, c.move, illegal.Why, c.why)
			}
		} else if err != nil || c.why != "" {
			t.Errorf("%+v %s: %v, want %q", c.from, c.move, err, c.why)
		}
		if got.Progress != c.to.Progress || got.Snoozed != c.to.Snoozed || !slices.Equal(got.Ackers, c.to.Ackers) {
			t.Errorf("%+v %s: %+v, want %+v", c.from, c.move, got, c.to)
		}
	}
}
