package triage

import (
	"cmp"
	"slices"

	"tocsin/internal/platform/db"
)

const pendingColumns = `w.seq, w.event_id, w.received_at, w.attempts, w.rank, w.chain, w.request, w.closes, e.body`

func scanPending(scan db.Scan) (p pending, err error) {
	var closes int64
	err = scan(&p.seq, &p.id, &p.received, &p.attempts, &p.rank, &p.chain, &p.of.Number, &closes, &p.body)
	p.of.Last = closes != 0
	return p, err
}

// inOrder selects the events of an account that have waited longest.
const inOrder = `SELECT ` + pendingColumns + ` FROM event_waiting w
	JOIN event e ON e.account_id = w.account_id AND e.event_id = w.event_id
	WHERE w.account_id = $1 AND w.attempts <= $2 ORDER BY w.seq LIMIT $3 + 0`

// behind selects the longest waiting events sent as Critical, of the events after a given event.
const behind = `SELECT seq, chain FROM event_waiting
	WHERE account_id = $1 AND rank = 0 AND seq > $2 AND attempts <= $3 ORDER BY seq LIMIT $4 + 0`

// ofChains selects the first events of some chains up to an event, as many of each chain. A chain with many events must not
// delay the others.
const ofChains = `SELECT ` + pendingColumns + ` FROM (SELECT account_id, seq, event_id, received_at, attempts, rank, chain, request, closes,
		row_number() OVER (PARTITION BY chain ORDER BY seq) AS nth FROM event_waiting
		WHERE account_id = $1 AND seq <= $2 AND attempts <= $3 AND chain IN (SELECT CAST(value AS BIGINT) FROM json_each($4))) AS w
	JOIN event e ON e.account_id = w.account_id AND e.event_id = w.event_id
	ORDER BY w.nth, w.seq LIMIT $5 + 0`

// next returns the next events of an account to decide, about size of them: the oldest events. others reports whether more
// may wait. If more events wait than a batch has, events sent as Critical come first. All earlier events about the same
// alerts come with them. Early events are at most half of the batch, so that many of them cannot keep the others waiting.
// most is how often an event may have failed before.
func next(tx *db.Tx, account, most int64, size int) (events []pending, others bool, err error) {
	events, err = db.All(tx, scanPending, inOrder, account, most, size)
	if err != nil || len(events) < max(size, 2) {
		return events, len(events) == size, err
	}
	type place struct{ seq, chain int64 }
	last := events[size-1].seq
	critical, err := db.All(tx, func(scan db.Scan) (p place, err error) { return p, scan(&p.seq, &p.chain) },
		behind, account, last, most, size/2)
	if err != nil || len(critical) == 0 {
		return events, true, err
	}
	chains := []int64{0}
	for _, c := range critical {
		chains = append(chains, c.chain)
	}
	early, err := db.All(tx, scanPending, ofChains, account, critical[len(critical)-1].seq, most, db.JSON(chains), size/2)
	unknown := func(p pending) bool { return p.chain == 0 } // the event may be about any alert
	if err != nil || slices.ContainsFunc(early, unknown) || slices.ContainsFunc(events, unknown) {
		return events, true, err
	}
	for i := range early {
		early[i].early = early[i].seq > last
	}
	return alternate(early, events[:size-len(early)]), true, nil
}

// alternate merges two lists of events, which may share events. Chains with an event sent as Critical and all other chains
// provide an event in turn. A batch may end before the end of the list. Within a chain, events stay in the order of arrival.
func alternate(early, oldest []pending) []pending {
	all := slices.Concat(early, oldest)
	slices.SortFunc(all, func(a, b pending) int { return cmp.Compare(a.seq, b.seq) })
	all = slices.CompactFunc(all, func(a, b pending) bool { return a.seq == b.seq })
	chains := map[int64]bool{}
	for _, p := range all {
		chains[p.chain] = chains[p.chain] || p.rank == rankFirst
	}
	for _, p := range early { // the chain's Critical event may come in a later batch
		chains[p.chain] = true
	}
	var lists [2][]pending
	for _, p := range all {
		n := 1
		if chains[p.chain] {
			n = 0
		}
		lists[n] = append(lists[n], p)
	}
	mixed := make([]pending, 0, len(all))
	for i := range max(len(lists[0]), len(lists[1])) {
		for _, list := range lists {
			if i < len(list) {
				mixed = append(mixed, list[i])
			}
		}
	}
	return mixed
}
