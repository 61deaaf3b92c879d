package monitor

import (
	"fmt"
	"slices"
	"time"

	"tocsin/internal/alertrule"
	"tocsin/internal/datasource"
	"tocsin/internal/edge"
	"tocsin/internal/engine/evaluator"
	"tocsin/internal/platform/db"
)

// The states of rules that edges evaluate, besides those of the server's own.
const (
	stateOffline     = "offline"
	statePending     = "config_pending"
	stateUnsupported = "unsupported"
)

// clusters are the members of the clusters of an account, at a moment.
type clusters struct {
	all map[string][]edge.Member
	now time.Time
}

// clustersAt reads the members of an account.
func clustersAt(tx *db.Tx, account int64, now time.Time) (clusters, error) {
	c := clusters{map[string][]edge.Member{}, now}
	members, err := edge.Members(tx, account)
	for _, m := range members {
		c.all[m.Cluster] = append(c.all[m.Cluster], m)
	}
	return c, err
}

// live returns the live members of a cluster.
func (c clusters) live(cluster string) (live []edge.Member) {
	for _, m := range c.all[cluster] {
		if m.Live(c.now) {
			live = append(live, m)
		}
	}
	return live
}

// state returns why no edge evaluates a rule on a datasource as it is now, with the reason; empty: one does, or the server itself.
func (c clusters) state(rule *alertrule.Rule, d *datasource.Item) (state, reason string) {
	cluster := d.Cluster()
	if cluster == nodes.cluster {
		return "", ""
	}
	_, state, reason = c.able(cluster, d.TypeIdent)
	if state == "" && slices.ContainsFunc(c.live(cluster), func(m edge.Member) bool { return m.Revision < rule.Revision }) {
		state = statePending
	}
	return state, reason
}

// able returns the live members of a cluster that can ask datasources of a type; the state and the reason if there is none.
func (c clusters) able(cluster, kind string) (able []edge.Member, state, reason string) {
	live := c.live(cluster)
	if len(live) == 0 {
		return nil, stateOffline, noEdge(cluster, c.all[cluster])
	}
	able = slices.DeleteFunc(live, func(m edge.Member) bool { return !slices.Contains(m.Types, kind) })
	if len(able) == 0 {
		return nil, stateUnsupported, fmt.Sprintf("no edge of cluster %s can ask datasources of type %s", cluster, kind)
	}
	return able, "", ""
}

// EdgeSlots counts the slots of the edges of an account, for their list.
func EdgeSlots(tx *db.Tx, account int64) (map[string]int64, error) {
	count := map[string]int64{}
	_, err := db.All(tx, func(scan db.Scan) (struct{}, error) {
		id, n := "", int64(0)
		err := scan(&id, &n)
		count[id] = n
		return struct{}{}, err
	}, `SELECT edge_id, count(*) FROM edge_slot WHERE account_id = $1 GROUP BY edge_id`, account)
	return count, err
}

// ClusterWatches counts the watches of the clusters of an account, for their list.
func (r *Service) ClusterWatches(tx *db.Tx, account int64) (map[string]int64, error) {
	count := map[string]int64{}
	all, err := r.watchedOf(tx, account)
	for _, w := range all {
		count[w.source.Cluster()]++
	}
	return count, err
}

// edgeStates adds the states of rules that no edge evaluates as they are now.
func (r *Service) edgeStates(tx *db.Tx, account int64, now time.Time, states map[uint64]alertrule.State) error {
	sources, err := datasource.All(tx, account)
	if err != nil || !slices.ContainsFunc(sources, func(d datasource.Item) bool { return d.Cluster() != nodes.cluster }) {
		return err
	}
	c, err := clustersAt(tx, account, now)
	if err != nil {
		return err
	}
	all, err := r.watchedOf(tx, account)
	for key, w := range all {
		if state, _ := c.state(w.rule, w.source); state != "" {
			s := states[key.Rule]
			s.RuntimeState = worse(s.RuntimeState, state)
			states[key.Rule] = s
		}
	}
	return err
}

// owners names the processes that evaluate watches. The slots of a cluster are read once: a rule may have many datasources.
type owners struct {
	*Service
	tx    *db.Tx
	edges clusters
	slots map[group][]slot
}

// of returns the name of the process that evaluates a watch.
func (o owners) of(key evaluator.Key, cluster string) (string, error) {
	g, live := groupOf(key.Account, cluster), o.Nodes.Live()
	if g != nodes {
		live = nodesOf(o.edges.live(cluster))
	}
	all, known := o.slots[g]
	if !known {
		var err error
		all, err = readSlots(o.tx, g)
		if err != nil {
			return "", err
		}
		o.slots[g] = all
	}
	return name(live, all[g.slotOf(key)].node), nil
}

// pruneTaken deletes the marks of messages of which no duplicate can arrive any more.
func pruneTaken(tx *db.Tx, account int64, before time.Time) (more bool, err error) {
	return false, tx.Do(`DELETE FROM edge_taken WHERE account_id = $1 AND taken_at < $2`, account, before.AddDate(0, 0, -1).UnixMilli())
}
