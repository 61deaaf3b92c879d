package monitor

import (
	"math"
	"slices"
	"strings"
	"time"

	"tocsin/internal/alertrule"
	"tocsin/internal/api"
	"tocsin/internal/core/evaluate"
	"tocsin/internal/core/event"
	"tocsin/internal/datasource"
	"tocsin/internal/engine/evaluator"
	"tocsin/internal/engine/evaluator/remote"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// edgeState returns what is stored of watches of a member's cluster.
func (r *Service) edgeState(c *api.Call, from *sender, in *remote.StateRequest) (any, error) {
	var clusters map[uint64]string
	err := r.DB.Read(c.Ctx, func(tx *db.Tx) (err error) {
		clusters, err = clustersOf(tx, from.account)
		return err
	})
	if err != nil {
		return nil, err
	}
	keys := in.Keys[:0]
	for _, k := range in.Keys {
		k.Account = from.account
		if clusters[k.Datasource] == from.cluster {
			keys = append(keys, k)
		}
	}
	stored, err := r.State(c.Ctx, from.account, keys)
	reply := remote.StateReply{Saved: []evaluator.Saved{}}
	for _, one := range stored {
		one.Slot = from.slotOf(one.Key)
		reply.Saved = append(reply.Saved, one)
	}
	return reply, err
}

// edgeSave stores the counters of watches of a member.
func (r *Service) edgeSave(c *api.Call, from *sender, in *remote.SaveRequest) (any, error) {
	for i := range in.States {
		s := &in.States[i]
		s.Key.Account = from.account
		s.Slot = from.slotOf(s.Key)
		if strings.Contains(string(s.State), "\x00") {
			return nil, fault.Invalid("states", "must have no NUL character")
		}
	}
	return api.Empty{}, r.keep(c.Ctx, from, from.account, in.States)
}

// edgeSend stores what a member found.
func (r *Service) edgeSend(c *api.Call, from *sender, in *remote.SendRequest) (any, error) {
	from.seq = in.Seq
	if err := checkBatch(in); err != nil {
		return nil, err
	}
	found, err := r.describe(c, from, in)
	if err != nil || !found {
		return evaluator.Taken{Gone: true}, err
	}
	return r.sendAs(c.Ctx, from, in.Batch)
}

// describe completes the batch of a member with the rule and the datasource as the server has them: a member names them, and cannot
// describe them.
func (r *Service) describe(c *api.Call, from *sender, in *remote.SendRequest) (found bool, err error) {
	key := evaluator.Key{Account: from.account, Rule: in.Rule, Datasource: in.Source}
	var rule alertrule.Rule
	var d datasource.Item
	err = r.DB.Read(c.Ctx, func(tx *db.Tx) (err error) {
		rule, found, err = alertrule.FindRule(tx, from.account, in.Rule)
		if err != nil || !found {
			return err
		}
		d, found, err = datasource.Find(tx, from.account, in.Source)
		return err
	})
	if err != nil || !found {
		return false, err
	}
	w := &evaluator.Watch{Key: key, Slot: from.slotOf(key), Rule: rule.Watchable(time.UTC), Severity: highest(&rule.RuleConfigs)}
	w.Source.ID = d.ID
	w.Source.Name = d.Name
	w.Source.Type = d.TypeIdent
	w.Source.Cluster = d.Cluster()
	in.Watch, in.AsOf = w, within(in.AsOf, c.Now)
	for _, list := range [][]evaluate.Transition{in.Transitions, in.Past} {
		for i := range list {
			t := &list[i]
			t.At, t.Since = within(t.At, c.Now), within(t.Since, c.Now)
			if !slices.ContainsFunc(rule.RuleConfigs.Queries, func(q evaluate.Query) bool { return q.Name == t.Query }) {
				t.Query = rule.RuleConfigs.Queries[0].Name
			}
		}
	}
	return true, nil
}

// within returns a moment that is not after now: a member whose clock is wrong must not write what is to come.
func within(t, now time.Time) time.Time {
	if t.After(now) || t.Unix() <= 0 {
		return now
	}
	return t
}

// Bounds of a transition of a member.
const (
	maxLabels  = 200
	maxReasons = 100
)

// checkBatch refuses transitions that no evaluation has.
func checkBatch(in *remote.SendRequest) error {
	all := slices.Concat(in.Transitions, in.Past)
	for i := range all {
		if reason := wrong(&all[i]); reason != "" {
			return fault.Invalid("transitions", "a transition of rule %d %s", in.Rule, reason)
		}
	}
	if n := len(all); n > remote.MaxSend {
		return fault.Invalid("transitions", "must be at most %d with past, got %d", remote.MaxSend, n)
	}
	return nil
}

// wrong returns why no evaluation has a transition; empty: it could.
func wrong(t *evaluate.Transition) string {
	checks := []string{evaluate.CheckThreshold, evaluate.CheckAnydata, evaluate.CheckNodata, evaluate.CheckTooMany}
	kinds := []evaluate.To{evaluate.Begin, evaluate.Rise, evaluate.Fall, evaluate.Repeat, evaluate.Recovered, evaluate.Gone, evaluate.Closed}
	size := 0
	for _, why := range t.Why {
		size += len(why.Data().Code)
	}
	switch {
	case !slices.Contains(checks, t.Check):
		return "has no check of a rule"
	case !slices.Contains(kinds, t.To):
		return "is of no kind that there is"
	case event.Rank(t.Severity) < event.Rank(event.Info), t.From != "" && event.Rank(t.From) < event.Rank(event.Info):
		return "has no severity of a rule"
	case t.Key != evaluate.Key(t.Labels):
		return "has another key than its labels"
	case len(t.Labels) > maxLabels, len(t.Why) > maxReasons, size > maxReasons*maxVersion:
		return "has too many labels or reasons"
	case t.To.Ends() && len(t.Why) == 0:
		return "ends without a reason"
	case t.Value != nil && (math.IsNaN(*t.Value) || math.IsInf(*t.Value, 0)):
		return "has a value that is no number"
	}
	return ""
}
