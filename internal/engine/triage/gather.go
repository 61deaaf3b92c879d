package triage

import (
	"maps"
	"slices"

	"tocsin/internal/engine/escalation"
	"tocsin/internal/platform/db"
)

// lastOfRequests selects for each request the last waiting event before a given event.
const lastOfRequests = `SELECT request, max(seq) FROM event_waiting
	WHERE account_id = $1 AND seq < $2 AND request IN (SELECT CAST(value AS BIGINT) FROM json_each($3)) GROUP BY request`

// gather holds the escalations of incidents that were opened while events of their request still wait for verdicts. Their
// first message would state the number of alerts of a part of the request. Escalations of events that overtook others go on,
// and their messages state that the number is not the last. gather releases the escalations of requests without waiting
// events. The caller runs gather when the decided events wait no longer.
func (b *batch) gather(items []item) error {
	finished := map[int64]int64{} // requests, and the number of the event that closed them
	opened := map[opening][]string{}
	for i := range items {
		e := items[i].event
		if e == nil || e.of.Number == 0 {
			continue
		}
		if e.of.Last {
			finished[e.of.Number] = e.seq
		}
		for _, v := range items[i].verdicts {
			if v.Alert != nil && v.Grouping.Open {
				by := opening{e.of.Number, e.early}
				opened[by] = append(opened[by], v.Alert.Incident)
			}
		}
	}
	if err := b.closes(finished); err != nil {
		return err
	}
	for by, incidents := range opened {
		if _, over := finished[by.request]; over {
			continue
		}
		if err := escalation.Gather(b.tx, b.m.account, by.request, !by.early, incidents); err != nil {
			return err
		}
	}
	return escalation.Gathered(b.tx, b.m.account, slices.Sorted(maps.Keys(finished)))
}

// opening identifies how incidents were opened: by which request, and whether by events that overtook others.
type opening struct {
	request int64
	early   bool
}

// closes removes the requests of which other events still wait, because their last event was decided first. Another event
// closes such a request later.
func (b *batch) closes(finished map[int64]int64) error {
	if len(finished) == 0 {
		return nil
	}
	type place struct{ request, seq int64 }
	all, err := db.All(b.tx, func(scan db.Scan) (p place, err error) { return p, scan(&p.request, &p.seq) }, lastOfRequests,
		b.m.account, slices.Max(slices.Collect(maps.Values(finished))), db.JSON(slices.Sorted(maps.Keys(finished))))
	if err != nil {
		return err
	}
	for _, p := range all {
		delete(finished, p.request)
		if err := b.tx.Do(`UPDATE event_waiting SET closes = 1 WHERE account_id = $1 AND seq = $2`, b.m.account, p.seq); err != nil {
			return err
		}
	}
	return nil
}
