package triage

import (
	"context"
	"fmt"
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
	"tocsin/internal/platform/db"
	"tocsin/internal/route"
)

// accountConfig is an account's configuration made ready, as far as it was asked for, at one revision. It is safe for
// concurrent use: whoever asks for what is being made ready waits for it.
type accountConfig struct {
	account  int64
	revision int64
	zone     *time.Location

	mu       sync.Mutex
	inlets   map[int64]*inlet
	channels map[int64]*decide.Channel
	named    map[string][]int64 // channels by name
}

type inlet struct {
	decide.Inlet
	origin alert.Origin
	route  *route.Ready
}

// Configs keeps the configuration of accounts made ready, until their revision changes.
type Configs struct {
	db       *db.DB
	mu       sync.Mutex
	accounts map[int64]*accountConfig
}

// NewConfigs returns an empty one.
func NewConfigs(d *db.DB) *Configs { return &Configs{db: d, accounts: map[int64]*accountConfig{}} }

// config gives what is made ready of an account's present configuration.
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
		name, _, err := db.One(tx, db.Column[string], `SELECT time_zone FROM account WHERE account_id = $1`, account)
		if err != nil {
			return err
		}
		zone, err := time.LoadLocation(name)
		if err != nil {
			return fmt.Errorf("zone of account %d: %w", account, err)
		}
		have = &accountConfig{account: account, revision: now, zone: zone, inlets: map[int64]*inlet{}, channels: map[int64]*decide.Channel{}, named: map[string][]int64{}}
		r.mu.Lock()
		r.accounts[account] = have
		r.mu.Unlock()
		return nil
	})
	return have, err
}

// kept gives what was made ready under a key, or makes it ready from the configuration at the revision.
func kept[K comparable, V any](m *snapshot, all map[K]V, key K, make func(tx *db.Tx) (V, error)) (value V, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if value, ok := all[key]; ok {
		return value, nil
	}
	err = m.db.Snapshot(m.ctx, func(tx *db.Tx) error {
		now, err := configstore.Revision(tx, m.account)
		if err == nil && now != m.revision {
			err = errReconfigured
		}
		if err == nil {
			value, err = make(tx)
		}
		return err
	})
	if err == nil {
		if len(all) >= maxKept { // names come from labels: whoever sends events could fill the memory with them
			clear(all)
		}
		all[key] = value
	}
	return value, err
}

// maxKept is how many of each kind are kept of an account.
const maxKept = 10_000

func (m *snapshot) inlet(id int64) (*inlet, error) {
	return kept(m, m.inlets, id, func(tx *db.Tx) (*inlet, error) { return readyInlet(tx, m.account, strconv.FormatInt(id, 10)) })
}

func readyInlet(tx *db.Tx, account int64, key string) (*inlet, error) {
	source, found, err := integration.Kind.Find(tx, account, key)
	if err != nil || !found {
		return nil, err
	}
	in := &inlet{Inlet: decide.Inlet{Channel: source.ChannelID}, origin: alert.Origin{Name: source.IntegrationName, Type: source.IntegrationType, Ref: source.RefID}}
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

// match is the inlet's route, for the events of one memory.
func (in *inlet) match(m *snapshot) func(*filter.Meter, *event.Event) ([]int64, []decide.Step) {
	return func(meter *filter.Meter, e *event.Event) ([]int64, []decide.Step) {
		channels, looks := in.route.Match(meter, e, func(name string) []int64 {
			ids, err := kept(m, m.named, name, func(tx *db.Tx) ([]int64, error) { return channel.Named(tx, m.account, name) })
			if err != nil {
				m.failed = err
			}
			return ids
		})
		var steps []decide.Step
		for _, l := range looks {
			why := l.Why
			if l.Matched {
				why += fmt.Sprintf(": to channels %v", l.Channels)
			}
			steps = append(steps, decide.Step{Stage: "route", Name: l.Case, Matched: l.Matched, Why: why, Over: l.Over})
		}
		return channels, steps
	}
}

// Channel is decide.State's.
func (m *snapshot) Channel(id int64) (*decide.Channel, error) {
	return kept(m, m.channels, id, func(tx *db.Tx) (*decide.Channel, error) { return channel.Ready(tx, m.account, id, m.zone) })
}
