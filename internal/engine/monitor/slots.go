package monitor

import (
	"cmp"
	"context"
	"hash/fnv"
	"slices"
	"strconv"
	"time"

	"tocsin/internal/datasource"
	"tocsin/internal/engine/evaluator"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/node"
)

// How many parts watches have: those of all accounts that the server evaluates, and those of a cluster of edges. Each part is
// evaluated by one process.
const (
	slots     = 256
	edgeSlots = 64
)

// group is the processes that share watches: the nodes of the server, or the members of a cluster of an account.
type group struct {
	account int64 // 0: the server's nodes
	cluster string
}

// nodes are the server's own processes.
var nodes = group{cluster: datasource.DefaultCluster}

// groupOf returns the group that evaluates the watches of a cluster.
func groupOf(account int64, cluster string) group {
	if cluster == datasource.DefaultCluster {
		return nodes
	}
	return group{account, cluster}
}

// handOver is how long a process may take to give up a slot that moves, and how long a process has been there before it is
// given slots of others.
const handOver = 10 * time.Second

// slot is a part of the watches.
type slot struct {
	number int64
	node   string // that evaluates it; empty: none yet
	epoch  int64  // how often it has changed hands
	moving string // the process that it is handed over to; empty: none
	since  int64  // of the last change, Unix milliseconds
}

// slotOf returns the slot of a watch of the group.
func (g group) slotOf(key evaluator.Key) int64 {
	h := fnv.New64a()
	text := strconv.AppendInt(nil, key.Account, 10)
	text = strconv.AppendUint(append(text, '/'), key.Rule, 10)
	_, _ = h.Write(strconv.AppendUint(append(text, '/'), key.Datasource, 10)) // never fails
	return int64(h.Sum64() % g.slots())
}

func (g group) slots() uint64 {
	if g == nodes {
		return slots
	}
	return edgeSlots
}

func (s slot) given(to string, now time.Time) slot {
	return slot{s.number, to, s.epoch + 1, "", now.UnixMilli()}
}

// assign returns the slots that change at a moment, in a report of the process self. A slot without a live process goes to the live
// one with the fewest. A process that has fewer slots than its part gets some of those that have the most, which hand them over; this
// begins in its own report, so that it knows of it and reports often until it has them. While processes come back, because
// no process could extend its lease, each keeps its slots: else the first would take all, and find once more what the others have found.
func assign(all []slot, self string, live []node.Node, back bool, now time.Time) (changed []slot) {
	if len(live) == 0 {
		return nil
	}
	alive, count := map[string]bool{}, map[string]int{}
	for _, n := range live {
		alive[n.ID], count[n.ID] = true, 0
	}
	for _, s := range all { // a slot that moves counts where it goes, else slots would swing to and fro
		if goes := cmp.Or(s.moving, s.node); alive[goes] {
			count[goes]++
		}
	}
	fewest := func() string {
		return slices.MinFunc(live, func(a, b node.Node) int {
			return cmp.Or(cmp.Compare(count[a.ID], count[b.ID]), cmp.Compare(a.ID, b.ID))
		}).ID
	}
	for _, s := range all {
		switch {
		case !alive[s.node] && s.node != "" && back:
		case !alive[s.node] && alive[s.moving]:
			changed = append(changed, s.given(s.moving, now))
		case !alive[s.node]:
			to := fewest()
			count[to]++
			changed = append(changed, s.given(to, now))
		case s.moving != "" && !alive[s.moving]:
			count[s.node]++
			changed = append(changed, slot{s.number, s.node, s.epoch, "", now.UnixMilli()})
		case s.moving != "" && now.UnixMilli()-s.since > handOver.Milliseconds():
			changed = append(changed, s.given(s.moving, now))
		case s.moving == "":
			if to := fewest(); count[s.node] > count[to]+1 && settled(live, to, now) {
				count[s.node]--
				count[to]++
				if to == self {
					changed = append(changed, slot{s.number, s.node, s.epoch, to, now.UnixMilli()})
				}
			}
		}
	}
	return changed
}

// settled reports whether a process has been there long enough to take slots of others.
func settled(live []node.Node, id string, now time.Time) bool {
	at := slices.IndexFunc(live, func(n node.Node) bool { return n.ID == id })
	return at >= 0 && now.Sub(live[at].Started) >= handOver
}

// readSlots returns all slots of a group, those without a row as slots of no process.
func readSlots(tx *db.Tx, g group) ([]slot, error) {
	all := make([]slot, g.slots())
	for i := range all {
		all[i].number = int64(i)
	}
	read := func(scan db.Scan) (struct{}, error) {
		var s slot
		if err := scan(&s.number, &s.node, &s.epoch, &s.moving, &s.since); err != nil {
			return struct{}{}, err
		}
		if s.number >= 0 && s.number < int64(len(all)) {
			all[s.number] = s
		}
		return struct{}{}, nil
	}
	var err error
	if g == nodes {
		_, err = db.All(tx, read, `SELECT slot, node_id, epoch, moving_to, since FROM node_slot`)
	} else {
		_, err = db.All(tx, read, `SELECT slot, edge_id, epoch, moving_to, since FROM edge_slot WHERE account_id = $1 AND cluster_name = $2`,
			g.account, g.cluster)
	}
	return all, err
}

// store changes a slot from what it was read as. Another process may have been faster: then nothing changes.
func (s slot) store(tx *db.Tx, g group, before slot) error {
	if g == nodes {
		return tx.Do(`INSERT INTO node_slot (slot, node_id, epoch, moving_to, since) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (slot) DO UPDATE SET node_id = excluded.node_id, epoch = excluded.epoch, moving_to = excluded.moving_to,
				since = excluded.since WHERE node_slot.epoch = $6 AND node_slot.moving_to = $7`,
			s.number, s.node, s.epoch, s.moving, s.since, before.epoch, before.moving)
	}
	return tx.Do(`INSERT INTO edge_slot (slot, edge_id, epoch, moving_to, since, account_id, cluster_name) VALUES ($1, $2, $3, $4, $5, $8, $9)
		ON CONFLICT (account_id, cluster_name, slot) DO UPDATE SET edge_id = excluded.edge_id, epoch = excluded.epoch,
			moving_to = excluded.moving_to, since = excluded.since WHERE edge_slot.epoch = $6 AND edge_slot.moving_to = $7`,
		s.number, s.node, s.epoch, s.moving, s.since, before.epoch, before.moving, g.account, g.cluster)
}

// claim assigns the slots of a group and returns the slots that one of its live processes evaluates, with their epochs, and whether
// others hand it more. held are the slots that it still evaluates: it has given up the others.
func (r *Service) claim(
	ctx context.Context, g group, self string, live []node.Node, back bool, held map[int64]bool, now time.Time,
) (own map[int64]int64, more bool, err error) {
	var all []slot
	err = r.DB.Read(ctx, func(tx *db.Tx) (err error) {
		all, err = readSlots(tx, g)
		return err
	})
	if err != nil {
		return nil, false, err
	}
	changed := assign(all, self, live, back, now)
	for _, s := range all {
		listed := slices.ContainsFunc(changed, func(c slot) bool { return c.number == s.number })
		if s.node == self && s.moving != "" && !held[s.number] && !listed {
			changed = append(changed, s.given(s.moving, now))
		}
	}
	if len(changed) > 0 {
		err = r.DB.WriteOf(ctx, cmp.Or(g.account, db.NoAccount), func(tx *db.Tx) (err error) {
			for _, s := range changed {
				if err := s.store(tx, g, all[s.number]); err != nil {
					return err
				}
			}
			all, err = readSlots(tx, g)
			return err
		})
	}
	if err != nil {
		return nil, false, err
	}
	own = map[int64]int64{}
	for _, s := range all {
		if s.node == self && s.moving == "" {
			own[s.number] = s.epoch
		}
		more = more || s.moving == self
	}
	return own, more, nil
}

// has reports whether the sender has a slot under an epoch, in the transaction of an account. The process that takes a slot over
// reads what is open in such a transaction as well, so it sees all that was taken under an earlier epoch.
func (f *sender) has(tx *db.Tx, number, epoch int64) (bool, error) {
	if f.group == nodes {
		now, _, err := db.One(tx, db.Column[int64], `SELECT epoch FROM node_slot WHERE slot = $1`, number)
		return now == epoch, err
	}
	now, found, err := db.One(tx, db.Column[int64], `SELECT epoch FROM edge_slot
		WHERE account_id = $1 AND cluster_name = $2 AND slot = $3 AND edge_id = $4`, f.account, f.cluster, number, f.ID)
	return found && now == epoch, err
}
