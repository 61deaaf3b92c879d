package monitor

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	"tocsin/internal/alertrule"
	"tocsin/internal/configstore"
	"tocsin/internal/core/evaluate"
	"tocsin/internal/core/event"
	"tocsin/internal/datasource"
	"tocsin/internal/engine/evaluator"
	"tocsin/internal/integration"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
)

// ruleCache holds the decoded rules of an account, as they were at a revision of its configuration.
type ruleCache struct {
	revision int64
	rules    map[uint64]*alertrule.Rule
	marks    map[string]int64 // of the watches of each cluster
}

// Sync stores what an evaluator reports, and returns the slots that this process has and the accounts with rules.
func (r *Service) Sync(ctx context.Context, report evaluator.Report) (evaluator.Orders, error) {
	var orders evaluator.Orders
	if err := r.report(ctx, report); err != nil {
		return orders, err
	}
	var accounts []configstore.AccountRevision
	err := r.DB.Snapshot(ctx, func(tx *db.Tx) (err error) {
		accounts, err = alertrule.Accounts(tx)
		return err
	})
	if err != nil || len(accounts) == 0 { // a server without rules has no slots
		return orders, err
	}
	orders.Accounts = map[int64]int64{}
	for _, a := range accounts {
		orders.Accounts[a.ID] = a.Revision
	}
	r.forget(orders.Accounts)
	orders.Slots, orders.More, err = r.claim(ctx, nodes, r.Nodes.ID(), r.Nodes.Live(), false, report.Held, report.At)
	return orders, err
}

// forget drops the rules of accounts that have none any more.
func (r *Service) forget(accounts map[int64]int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for account := range r.rules {
		if _, has := accounts[account]; !has {
			delete(r.rules, account)
		}
	}
}

// Watches returns the watches of an account that the server evaluates, of all slots.
func (r *Service) Watches(ctx context.Context, account int64) ([]evaluator.Watch, error) {
	return r.watchesOf(ctx, account, nodes.cluster)
}

// watchesOf returns the watches of a cluster.
func (r *Service) watchesOf(ctx context.Context, account int64, cluster string) ([]evaluator.Watch, error) {
	_, watches, err := r.configured(ctx, account)
	return slices.DeleteFunc(watches, func(w evaluator.Watch) bool { return w.Source.Cluster != cluster }), err
}

// configured reads what has changed of the rules of an account, and returns them with the watches of all clusters. What is open
// of watches that are in no cluster any more is closed.
func (r *Service) configured(ctx context.Context, account int64) (*ruleCache, []evaluator.Watch, error) {
	cache := r.cached(account)
	var (
		sources  []datasource.Connection
		zone     *time.Location
		open     []evaluator.Key
		changed  []alertrule.Rule
		deleted  []uint64
		revision int64
		monitors int64
	)
	ctx = db.For(ctx, account)
	report := func(err error) { r.Log.Error("a datasource cannot be asked", "account_id", account, "error", err) }
	err := r.DB.Snapshot(ctx, func(tx *db.Tx) (err error) {
		revision, err = configstore.Revision(tx, account)
		if err != nil {
			return err
		}
		if cache == nil || cache.revision > revision { // an older copy of the database was restored
			cache = &ruleCache{revision: -1, rules: map[uint64]*alertrule.Rule{}}
		}
		changed, deleted, err = alertrule.Changed(tx, account, cache.revision)
		if err != nil {
			return err
		}
		sources, err = datasource.Connections(tx, r.Keyring, account, report)
		if err != nil {
			return err
		}
		zone, err = person.Zone(tx, account)
		if err != nil {
			return err
		}
		monitors, err = integration.MonitorsOf(tx, account)
		if err != nil {
			return err
		}
		open, err = openWatches(tx, account)
		return err
	})
	if err == nil && monitors == 0 && len(changed) > 0 { // the rules are of an account file
		err = r.DB.WriteOf(ctx, account, func(tx *db.Tx) error { return integration.EnsureMonitors(tx, r.Keyring, account, 0, r.Clock.Now()) })
	}
	if err != nil {
		return nil, nil, err
	}
	cache = cache.with(changed, deleted, revision)
	watches := cache.watches(account, sources, zone)
	cache.marks = marksOf(watches)
	r.mu.Lock()
	r.rules[account] = cache
	r.mu.Unlock()
	return cache, watches, r.closeOrphans(ctx, account, open, watches)
}

// marksOf returns a number for each cluster that changes with its watches.
func marksOf(watches []evaluator.Watch) map[string]int64 {
	marks := map[string]int64{}
	for i := range watches {
		w := &watches[i]
		h := fnv.New64a()
		_, _ = fmt.Fprint(h, w.Key, w.Rule.Revision, w.Source.Version, w.Rule.Zone) // never fails
		marks[w.Source.Cluster] ^= int64(h.Sum64())
	}
	return marks
}

// with returns a copy of the cache with changes.
func (c *ruleCache) with(changed []alertrule.Rule, deleted []uint64, revision int64) *ruleCache {
	next := &ruleCache{revision: revision, rules: make(map[uint64]*alertrule.Rule, len(c.rules))}
	for id, rule := range c.rules {
		next.rules[id] = rule
	}
	for _, id := range deleted {
		delete(next.rules, id)
	}
	for i := range changed {
		next.rules[changed[i].ID] = &changed[i]
	}
	return next
}

// watches returns each enabled rule on each datasource that it matches.
func (c *ruleCache) watches(account int64, sources []datasource.Connection, zone *time.Location) (all []evaluator.Watch) {
	versions := make([]int64, len(sources))
	for i := range sources {
		versions[i] = version(&sources[i])
	}
	for _, rule := range c.rules {
		schedule, err := evaluate.ParseSchedule(rule.CronPattern)
		if err != nil || !rule.On() { // create refuses such a pattern
			continue
		}
		watchable := rule.Watchable(zone)
		for i := range sources {
			s := &sources[i]
			if !rule.Matches(&datasource.Item{ID: s.ID, TypeIdent: s.Type, Name: s.Name}) {
				continue
			}
			key := evaluator.Key{Account: account, Rule: rule.ID, Datasource: s.ID}
			all = append(all, evaluator.Watch{
				Key: key, Slot: groupOf(account, s.Cluster).slotOf(key),
				Rule: watchable, Schedule: schedule, Delay: delay(rule, s.Type), Severity: highest(&rule.RuleConfigs),
				Source: evaluator.Source{ID: s.ID, Version: versions[i], Cluster: s.Cluster, Datasource: s.Datasource, Failed: s.Failed},
			})
		}
	}
	return all
}

// version returns a number that changes with the configuration of a datasource.
func version(s *datasource.Connection) int64 {
	h := fnv.New64a()
	for _, text := range []string{s.Type, s.Name, s.Address, string(s.Payload)} {
		size := binary.LittleEndian.AppendUint64(nil, uint64(len(text)))
		_, _ = h.Write(append(size, text...)) // never fails
	}
	return int64(h.Sum64())
}

// logDelay is the delay of rules on logs, whose lines can be found some seconds after they were written.
const logDelay = 10 * time.Second

func delay(rule *alertrule.Rule, kind string) time.Duration {
	if rule.DelaySeconds == 0 && (kind == "loki" || kind == "victorialogs") {
		return logDelay
	}
	return time.Duration(rule.DelaySeconds) * time.Second
}

// highest returns the highest severity that a rule can find.
func highest(c *evaluate.Config) (severity string) {
	add := func(one string) {
		if event.Rank(one) > event.Rank(severity) {
			severity = one
		}
	}
	if t := c.CheckThreshold; t != nil && t.Enabled {
		for _, each := range []struct{ severity, condition string }{
			{event.Critical, t.Critical}, {event.Warning, t.Warning}, {event.Info, t.Info},
		} {
			if each.condition != "" {
				add(each.severity)
			}
		}
	}
	if a := c.CheckAnydata; a != nil && a.Enabled {
		add(a.Severity)
	}
	if n := c.CheckNodata; n != nil && n.Enabled {
		add(n.Severity)
	}
	return severity
}
