package triage

import (
	"fmt"
	"strconv"
	"time"

	"tocsin/internal/alert"
	"tocsin/internal/channel"
	"tocsin/internal/db"
	"tocsin/internal/decide"
	"tocsin/internal/enrichment"
	"tocsin/internal/event"
	"tocsin/internal/incident"
	"tocsin/internal/integration"
	"tocsin/internal/revision"
	"tocsin/internal/route"
)

// ready is an account's configuration made ready, as far as it was asked for, at one revision.
type ready struct {
	revision int64
	zone     *time.Location
	inlets   map[int64]*inlet
	channels map[int64]*decide.Channel
}

type inlet struct {
	decide.Inlet
	origin alert.Origin
	route  *route.Route
}

// ready gives what is made ready of an account's present configuration.
func (r *Room) ready(tx *db.Tx, account int64) (*ready, error) {
	now, err := revision.Of(tx, account)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if have := r.accounts[account]; have != nil && have.revision == now {
		return have, nil
	}
	name, _, err := db.One(tx, db.Column[string], `SELECT time_zone FROM account WHERE account_id = $1`, account)
	if err != nil {
		return nil, err
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, fmt.Errorf("zone of account %d: %w", account, err)
	}
	have := &ready{revision: now, zone: zone, inlets: map[int64]*inlet{}, channels: map[int64]*decide.Channel{}}
	r.accounts[account] = have
	return have, nil
}

// state answers what deciding asks, within a transaction.
type state struct {
	tx      *db.Tx
	account int64
	*ready
	failed error // of what has no other way to say so
}

func (s *state) Inlet(id int64) (*decide.Inlet, error) {
	in, err := s.inlet(id)
	if err != nil || in == nil {
		return nil, err
	}
	answer := in.Inlet
	if in.route != nil {
		answer.Route = func(e *event.Event) ([]int64, []decide.Step) { return s.match(in.route, e) }
	}
	return &answer, nil
}

func (s *state) inlet(id int64) (*inlet, error) {
	if in, ok := s.inlets[id]; ok {
		return in, nil
	}
	key := strconv.FormatInt(id, 10)
	source, found, err := integration.Kind.Find(s.tx, s.account, key)
	if err != nil || !found {
		return nil, err
	}
	in := &inlet{Inlet: decide.Inlet{Channel: source.ChannelID}, origin: alert.Origin{Name: source.IntegrationName, Type: source.IntegrationType, Ref: source.RefID}}
	enrichments, _, err := enrichment.Kind.Find(s.tx, s.account, key)
	if err != nil {
		return nil, err
	}
	pipeline, _, err := alert.Pipelines.Find(s.tx, s.account, key)
	if err != nil {
		return nil, err
	}
	in.Enrichments, in.Rules = enrichments.Rules, pipeline.Rules
	if source.ChannelID == 0 {
		way, found, err := route.Kind.Find(s.tx, s.account, key)
		if err != nil {
			return nil, err
		}
		if found {
			in.route = &way
		}
	}
	s.inlets[id] = in
	return in, nil
}

func (s *state) match(way *route.Route, e *event.Event) ([]int64, []decide.Step) {
	channels, looks := route.Match(*way, e, func(name string) []int64 {
		ids, err := channel.Named(s.tx, s.account, name)
		if err != nil {
			s.failed = err
		}
		return ids
	})
	var steps []decide.Step
	for _, l := range looks {
		why := l.Why
		if l.Matched {
			why += fmt.Sprintf(": to channels %v", l.Channels)
		}
		steps = append(steps, decide.Step{Stage: "route", Name: l.Case, Matched: l.Matched, Why: why})
	}
	return channels, steps
}

func (s *state) Channel(id int64) (*decide.Channel, error) {
	if ch, ok := s.channels[id]; ok {
		return ch, nil
	}
	ch, err := channel.Ready(s.tx, s.account, id, s.zone)
	if err == nil {
		s.channels[id] = ch
	}
	return ch, err
}

func (s *state) Alert(channel int64, key string) (*decide.Alert, error) {
	return alert.Latest(s.tx, s.account, channel, key)
}

func (s *state) Sources(channel, since int64) ([]decide.Source, error) {
	return alert.Sources(s.tx, s.account, channel, since)
}

func (s *state) Group(channel int64, key string) (*decide.Group, error) {
	return incident.Joinable(s.tx, s.account, channel, key)
}
