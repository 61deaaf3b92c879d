package triage

import (
	"context"
	"strconv"
	"sync"
	"time"

	"tocsin/internal/alert"
	"tocsin/internal/channel"
	"tocsin/internal/configstore"
	"tocsin/internal/core/decide"
	"tocsin/internal/core/event"
	"tocsin/internal/core/filter"
	"tocsin/internal/core/pipeline"
	"tocsin/internal/enrichment"
	"tocsin/internal/integration"
	"tocsin/internal/person"
	"tocsin/internal/platform/db"
	"tocsin/internal/route"
)

// accountConfig caches an account's compiled configuration at one revision. Each part is compiled when it is first
// needed. It is safe for concurrent use: a caller waits for a part that another caller is compiling.
type accountConfig struct {
	account  int64
	revision int64
	zone     *time.Location

	mu       sync.Mutex
	inlets   map[int64]*inlet
	channels map[int64]*decide.Channel
	named    map[string][]int64 // channels by name
}

// inlet is the compiled configuration of an integration.
type inlet struct {
	decide.Inlet
	origin alert.Origin
	route  *route.Ready
}

// Configs caches the compiled configuration of accounts until their revision changes.
type Configs struct {
	db       *db.DB
	mu       sync.Mutex
	accounts map[int64]*accountConfig
}

// NewConfigs returns an empty cache.
func NewConfigs(d *db.DB) *Configs { return &Configs{db: d, accounts: map[int64]*accountConfig{}} }

// config returns the cache of an account's present configuration. A change of the revision starts an empty one.
func (r *Configs) config(ctx context.Context, account int64) (have *accountConfig, err error) {
	err = r.db.Snapshot(ctx, func(tx *db.Tx) error {
		now, err := configstore.Revision(tx, account)
		if err != nil {
			return err
		}
		r.mu.Lock()
		have = r.accounts[account]
		r.mu.Unlock()
		if have != nil && have.revision == now {
			return nil
		}
		zone, err := person.Zone(tx, account)
		if err != nil {
			return err
		}
		have = &accountConfig{
			account: account, revision: now, zone: zone,
			inlets: map[int64]*inlet{}, channels: map[int64]*decide.Channel{}, named: map[string][]int64{},
		}
		r.mu.Lock()
		r.accounts[account] = have
		r.mu.Unlock()
		return nil
	})
	return have, err
}

// cached returns the value cached under a key. If there is none it builds it from the configuration, which must still
// have the cache's revision.
func cached[K comparable, V any](m *snapshot, all map[K]V, key K, build func(tx *db.Tx) (V, error)) (value V, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if value, ok := all[key]; ok {
		return value, nil
	}
	err = m.db.Snapshot(m.ctx, func(tx *db.Tx) error {
		now, err := configstore.Revision(tx, m.account)
		if err != nil {
			return err
		}
		if now != m.revision {
			return errReconfigured
		}
		value, err = build(tx)
		return err
	})
	if err != nil {
		return value, err
	}
	if len(all) >= maxCached { // names come from labels: a source of events could fill the memory with them
		clear(all)
	}
	all[key] = value
	return value, nil
}

// maxCached is how many values of each kind are cached of an account.
const maxCached = 10_000

// inlet returns the compiled configuration of an integration; nil when there is none.
func (m *snapshot) inlet(id int64) (*inlet, error) {
	return cached(m, m.inlets, id, func(tx *db.Tx) (*inlet, error) { return compileInlet(tx, m.account, strconv.FormatInt(id, 10)) })
}

// compileInlet reads and compiles the configuration of an integration.
func compileInlet(tx *db.Tx, account int64, key string) (*inlet, error) {
	if key == "0" { // alerts of Tocsin's own name their channel
		return &inlet{origin: alert.Origin{Name: "Tocsin", Type: "tocsin"}}, nil
	}
	source, found, err := integration.Kind.Find(tx, account, key)
	if err != nil || !found {
		return nil, err
	}
	in := &inlet{
		Inlet:  decide.Inlet{Channel: source.ChannelID},
		origin: alert.Origin{Name: source.IntegrationName, Type: source.IntegrationType, Ref: source.RefID},
	}
	enrichments, _, err := enrichment.Kind.Find(tx, account, key)
	if err != nil {
		return nil, err
	}
	rules, _, err := alert.Pipelines.Find(tx, account, key)
	if err != nil {
		return nil, err
	}
	in.Enrichments, in.Rules = pipeline.ReadyEnrichments(enrichments.Rules), pipeline.Ready(rules.Rules)
	if source.ChannelID == 0 {
		method, found, err := route.Kind.Find(tx, account, key)
		if err != nil {
			return nil, err
		}
		if found {
			in.route = route.Compile(method)
		}
	}
	return in, nil
}

// match returns the integration's route as a function for the events of one snapshot.
func (in *inlet) match(m *snapshot) func(*filter.Meter, *event.Event) ([]int64, []decide.Step) {
	return func(meter *filter.Meter, e *event.Event) ([]int64, []decide.Step) {
		channels, looks := in.route.Match(meter, e, func(name string) []int64 {
			ids, err := cached(m, m.named, name, func(tx *db.Tx) ([]int64, error) { return channel.Named(tx, m.account, name) })
			if err != nil {
				m.failed = err
			}
			return ids
		})
		return channels, routed(looks)
	}
}

// routed returns the cases of a route that were looked at.
func routed(looks []route.CaseResult) (steps []decide.Step) {
	for _, l := range looks {
		steps = append(steps, decide.Step{Stage: "route", Name: l.Case, Matched: l.Matched, Why: l.Why, Channels: l.Channels, Over: l.Over})
	}
	return steps
}

// Channel returns a compiled channel; nil when there is none. It implements decide.State.
func (m *snapshot) Channel(id int64) (*decide.Channel, error) {
	return cached(m, m.channels, id, func(tx *db.Tx) (*decide.Channel, error) { return channel.Ready(tx, m.account, id, m.zone) })
}
