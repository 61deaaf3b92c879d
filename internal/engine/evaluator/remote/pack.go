package remote

import (
	"cmp"
	"crypto/hpke"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/go-json-experiment/json"

	"tocsin/internal/core/evaluate"
	"tocsin/internal/engine/evaluator"
	"tocsin/internal/querier"
)

// SealTo seals a datasource to the member with a public key. info is of SourceInfo.
func SealTo(publicKey, info []byte, d querier.Datasource) ([]byte, error) {
	key, err := hpke.MLKEM768X25519().NewPublicKey(publicKey)
	if err != nil {
		return nil, err
	}
	text, err := Marshal(d)
	if err != nil {
		return nil, err
	}
	return hpke.Seal(key, hpke.HKDFSHA256(), hpke.ChaCha20Poly1305(), info, text)
}

// open returns the datasource that was sealed.
func open(key hpke.PrivateKey, info, sealed []byte) (querier.Datasource, error) {
	var d querier.Datasource
	text, err := hpke.Open(key, hpke.HKDFSHA256(), hpke.ChaCha20Poly1305(), info, sealed)
	if err != nil {
		return d, errors.New("the datasource is sealed to another member")
	}
	err = Unmarshal(text, &d)
	return d, err
}

// Pack returns watches as a member gets them that has those of an earlier reply. seal seals a datasource to it.
func Pack(have string, watches []evaluator.Watch, seal func(id uint64, d querier.Datasource) ([]byte, error)) (WatchesReply, error) {
	var reply WatchesReply
	rules, sources := map[uint64]*evaluate.Rule{}, map[uint64]*evaluator.Source{}
	for i := range watches {
		w := &watches[i]
		rules[w.Rule.ID], sources[w.Source.ID] = &w.Rule, &w.Source
		reply.Watches = append(reply.Watches, Assigned{w.Rule.ID, w.Source.ID, w.Slot, w.Schedule.Pattern, w.Delay, w.Severity})
	}
	slices.SortFunc(reply.Watches, func(a, b Assigned) int { return cmp.Or(cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Source, b.Source)) })
	for _, id := range slices.Sorted(maps.Keys(rules)) {
		text, err := Marshal(rules[id])
		if err != nil {
			return reply, err
		}
		reply.Rules = append(reply.Rules, text)
	}
	for _, id := range slices.Sorted(maps.Keys(sources)) {
		s := sources[id]
		reply.Sources = append(reply.Sources, Source{ID: id, Version: s.Version, Failed: s.Failed})
	}
	text, err := Marshal(reply)
	if err != nil {
		return reply, err
	}
	sum := sha256.Sum256(text)
	reply.Have = hex.EncodeToString(sum[:16])
	if reply.Have == have {
		return WatchesReply{Have: have, Unchanged: true}, nil
	}
	for i := range reply.Sources {
		s := &reply.Sources[i]
		s.Sealed, err = seal(s.ID, sources[s.ID].Datasource)
		if err != nil {
			return reply, err
		}
	}
	return reply, nil
}

// unpack returns the watches of a reply, and as states the watches that this member cannot evaluate.
func (w *WatchesReply) unpack(
	account int64, open func(Source) (querier.Datasource, error),
) ([]evaluator.Watch, []evaluator.WatchState, error) {
	var all []evaluator.Watch
	var unsupported []evaluator.WatchState
	rules, broken := map[uint64]*evaluate.Rule{}, map[uint64]error{}
	for _, text := range w.Rules {
		var rule evaluate.Rule
		if err := Unmarshal(text, &rule); err != nil {
			return nil, nil, fmt.Errorf("a rule cannot be read: %w", err)
		}
		rules[rule.ID] = &rule
		if err := json.Unmarshal(text, new(evaluate.Rule), options, json.RejectUnknownMembers(true)); err != nil {
			broken[rule.ID] = err
		}
	}
	sources := map[uint64]*evaluator.Source{}
	for _, s := range w.Sources {
		d, err := open(s)
		source := evaluator.Source{ID: s.ID, Version: s.Version, Datasource: d, Failed: s.Failed}
		if err != nil && s.Failed == nil {
			source.Failed = &evaluate.Failure{Kind: evaluate.Invalid, Message: err.Error()}
		}
		sources[s.ID] = &source
	}
	for _, a := range w.Watches {
		rule, source := rules[a.Rule], sources[a.Source]
		if rule == nil || source == nil {
			return nil, nil, fmt.Errorf("the server sent no rule or no datasource of watch %d/%d", a.Rule, a.Source)
		}
		key := evaluator.Key{Account: account, Rule: a.Rule, Datasource: a.Source}
		schedule, err := evaluate.ParseSchedule(a.Cron)
		err = cmp.Or(broken[a.Rule], err)
		if err != nil {
			unsupported = append(unsupported, evaluator.WatchState{Key: key, Rule: rule.Name, Severity: a.Severity, Source: source.Name,
				Unknown: true, Kind: evaluate.Unsupported, Message: "this edge does not know a part of the rule: " + err.Error()})
			continue
		}
		all = append(all, evaluator.Watch{Key: key, Slot: a.Slot, Rule: *rule, Schedule: schedule, Delay: a.Delay, Severity: a.Severity,
			Source: *source})
	}
	return all, unsupported, nil
}
