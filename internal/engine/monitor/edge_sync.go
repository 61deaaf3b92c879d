package monitor

import (
	"context"
	"time"

	"tocsin/internal/alertrule"
	"tocsin/internal/api"
	"tocsin/internal/configstore"
	"tocsin/internal/core/evaluate"
	"tocsin/internal/core/event"
	"tocsin/internal/datasource"
	"tocsin/internal/edge"
	"tocsin/internal/engine/evaluator"
	"tocsin/internal/engine/evaluator/remote"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/node"
	"tocsin/internal/querier"
)

// edgeSync extends the lease of a member, stores what it reports, and returns what it evaluates.
func (r *Service) edgeSync(c *api.Call, from *sender, in *remote.SyncRequest) (any, error) {
	cache, err := r.current(c.Ctx, from.account)
	if err != nil {
		return nil, err
	}
	live, err := r.beat(c.Ctx, from, in, cache, c.Now)
	if err != nil {
		return nil, err
	}
	back := c.Now.Sub(r.absences.look(c.Now)) < edge.Lease // the others have not had the time to come back
	own, more, err := r.claim(c.Ctx, from.group, from.ID, nodesOf(live), back, in.Held, c.Now)
	if err != nil {
		return nil, err
	}
	if err := r.edgeReport(c.Ctx, from, in, own, c.Now); err != nil {
		return nil, err
	}
	differ, err := r.differ(c.Ctx, from, own, in)
	return remote.SyncReply{Now: r.Clock.Now().UnixMilli(), Slots: own, More: more, Revision: cache.marks[from.cluster], Differ: differ}, err
}

// current returns the rules of an account as they are now.
func (r *Service) current(ctx context.Context, account int64) (*ruleCache, error) {
	var revision int64
	err := r.DB.Read(ctx, func(tx *db.Tx) (err error) {
		revision, err = configstore.Revision(tx, account)
		return err
	})
	if err != nil {
		return nil, err
	}
	if cache := r.cached(account); cache != nil && cache.revision == revision {
		return cache, nil
	}
	cache, _, err := r.configured(ctx, account)
	return cache, err
}

func (r *Service) cached(account int64) *ruleCache {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.rules[account]
}

// beat stores that a member is live, and returns the live members of its cluster.
func (r *Service) beat(
	ctx context.Context, from *sender, in *remote.SyncRequest, cache *ruleCache, now time.Time,
) (live []edge.Member, err error) {
	err = r.DB.WriteOf(ctx, from.account, func(tx *db.Tx) error {
		if err := from.present(tx); err != nil {
			return err
		}
		self := &from.Member
		self.Seen = now
		self.OffsetMS = in.At.Sub(now).Milliseconds()
		self.ConfigAge = max(0, in.ConfigAge)
		self.SpoolBytes = max(0, in.SpoolBytes)
		self.LateMS = max(0, in.Late.Milliseconds())
		if in.Revision == cache.marks[from.cluster] {
			self.Revision = cache.revision
		}
		if err := self.Beat(tx); err != nil {
			return err
		}
		all, err := clustersAt(tx, from.account, now)
		live = all.live(from.cluster)
		return err
	})
	return live, err
}

func nodesOf(members []edge.Member) (all []node.Node) {
	for _, m := range members {
		all = append(all, node.Node{ID: m.ID, Name: m.Name, Started: m.Started})
	}
	return all
}

// watched is a rule on a datasource.
type watched struct {
	rule   *alertrule.Rule
	source *datasource.Item
}

// watchedOf returns the watches of an account, with its rules as they are now.
func (r *Service) watchedOf(tx *db.Tx, account int64) (map[evaluator.Key]watched, error) {
	all, cache := map[evaluator.Key]watched{}, r.cached(account)
	if cache == nil { // as after a start
		cache = &ruleCache{revision: -1}
	}
	changed, deleted, err := alertrule.Changed(tx, account, cache.revision)
	if err != nil {
		return nil, err
	}
	if len(changed)+len(deleted) > 0 {
		cache = cache.with(changed, deleted, cache.revision)
	}
	sources, err := datasource.All(tx, account)
	for i := range sources {
		for _, rule := range cache.rules {
			if d := &sources[i]; d.Enabled && rule.On() && rule.Matches(d) {
				all[evaluator.Key{Account: account, Rule: rule.ID, Datasource: d.ID}] = watched{rule, d}
			}
		}
	}
	return all, err
}

// maxReason is how many characters of a failure's message are stored.
const maxReason = 500

// kinds are the kinds of failures that a member may report.
var kinds = map[evaluate.Kind]bool{
	evaluate.Unreachable: true, evaluate.Denied: true, evaluate.Timeout: true, evaluate.BadQuery: true, evaluate.Partial: true,
	evaluate.TooMuch: true, evaluate.Invalid: true, evaluate.Missed: true, evaluate.Unsupported: true,
}

// edgeReport stores what a member reports of watches and datasources of its own. Names and severities are those of the server.
func (r *Service) edgeReport(ctx context.Context, from *sender, in *remote.SyncRequest, own map[int64]int64, now time.Time) error {
	if len(in.Watches)+len(in.Sources) == 0 {
		return nil
	}
	var all map[evaluator.Key]watched
	err := r.DB.Read(ctx, func(tx *db.Tx) (err error) {
		all, err = r.watchedOf(tx, from.account)
		return err
	})
	if err != nil {
		return err
	}
	sources := map[uint64]string{}
	for _, w := range all {
		if w.source.Cluster() == from.cluster {
			sources[w.source.ID] = w.source.Name
		}
	}
	sane := func(kind evaluate.Kind, message string, since time.Time) (evaluate.Kind, string, time.Time) {
		if !kinds[kind] {
			kind = evaluate.Invalid
		}
		if since.After(now) || since.Unix() <= 0 {
			since = now
		}
		return kind, event.Cut(message, maxReason), since
	}
	var watches []evaluator.WatchState
	for _, s := range in.Watches {
		s.Account = from.account
		w, known := all[s.Key]
		if _, has := own[from.slotOf(s.Key)]; !known || !has || w.source.Cluster() != from.cluster {
			continue
		}
		s.Rule = w.rule.Name
		s.Source = w.source.Name
		s.Severity = highest(&w.rule.RuleConfigs)
		s.Kind, s.Message, s.Since = sane(s.Kind, s.Message, s.Since)
		watches = append(watches, s)
	}
	var states []evaluator.SourceState
	for _, s := range in.Sources {
		name, known := sources[s.ID]
		if !known {
			continue
		}
		s.Account, s.Name = from.account, name
		s.Kind, s.Message, s.Since = sane(s.Kind, s.Message, s.Since)
		states = append(states, s)
	}
	return r.reportOf(ctx, from.account, watches, states, now)
}

// differ returns the slots of which the server has other open instances than the member.
func (r *Service) differ(ctx context.Context, from *sender, own map[int64]int64, in *remote.SyncRequest) ([]int64, error) {
	ours := map[int64]uint64{}
	err := r.DB.Read(ctx, func(tx *db.Tx) error {
		clusters, err := clustersOf(tx, from.account)
		if err != nil {
			return err
		}
		_, err = db.All(tx, func(scan db.Scan) (struct{}, error) {
			var rule, source int64
			var check, hash, severity string
			err := scan(&rule, &source, &check, &hash, &severity)
			key := evaluator.Key{Account: from.account, Rule: uint64(rule), Datasource: uint64(source)}
			if clusters[key.Datasource] == from.cluster {
				ours[from.slotOf(key)] ^= evaluator.DigestOf(key, check, hash, severity)
			}
			return struct{}{}, err
		}, `SELECT rule_id, datasource_id, check_name, instance_key, severity FROM rule_instance
			WHERE account_id = $1 AND (close_at = 0 OR closing LIKE '{"code":"mon_channel_%')`, from.account)
		return err
	})
	differ := []int64{}
	for slot := range own {
		if in.Held[slot] && ours[slot] != in.Digests[slot] {
			differ = append(differ, slot)
		}
	}
	return differ, err
}

// clustersOf returns the cluster of each datasource.
func clustersOf(tx *db.Tx, account int64) (map[uint64]string, error) {
	sources, err := datasource.All(tx, account)
	all := map[uint64]string{}
	for i := range sources {
		all[sources[i].ID] = sources[i].Cluster()
	}
	return all, err
}

// edgeWatches returns the watches of a member's slots. What it needs to sign in to a datasource is sealed to it.
func (r *Service) edgeWatches(c *api.Call, from *sender, in *remote.WatchesRequest) (any, error) {
	watches, err := r.watchesOf(c.Ctx, from.account, from.cluster)
	if err != nil {
		return nil, err
	}
	var slots []slot
	err = r.DB.Read(c.Ctx, func(tx *db.Tx) (err error) {
		slots, err = readSlots(tx, from.group)
		return err
	})
	if err != nil {
		return nil, err
	}
	mine := watches[:0]
	for _, w := range watches {
		if slots[w.Slot].node == from.ID {
			mine = append(mine, w)
		}
	}
	return remote.Pack(in.Have, mine, func(id uint64, d querier.Datasource) ([]byte, error) {
		return remote.SealTo(from.PublicKey, remote.SourceInfo(from.account, from.cluster, id, from.ID), d)
	})
}
