package monitor

import (
	"cmp"
	"math"
	"slices"
	"time"

	"tocsin/internal/alert"
	"tocsin/internal/alertrule"
	"tocsin/internal/api"
	"tocsin/internal/core/evaluate"
	"tocsin/internal/datasource"
	"tocsin/internal/engine/evaluator"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/node"
)

// The states of rules, as the public API has them.
const (
	stateDisabled     = "disabled"
	stateNoDatasource = "no_datasource"
	stateAbnormal     = "abnormal"
	stateWaiting      = "waiting"
	stateNormal       = "normal"
)

// OneRule names a rule.
type OneRule struct {
	ID uint64 `json:"id" minimum:"1" doc:"The rule."`
}

// RuleState is the state of a rule.
type RuleState struct {
	RuntimeState string          `json:"runtime_state" enum:"disabled,no_datasource,offline,unsupported,abnormal,config_pending,waiting,normal" doc:"offline: no edge of the cluster of one of its datasources is live; unsupported: none of them can ask its type, or one does not know a part of it; abnormal: it is not known on one of its datasources; config_pending: an edge has an older version; waiting: it was not evaluated yet by this process."`
	Instances    []InstanceState `json:"instances" doc:"What is open or pending, at most 1,000."`
	Watches      []WatchState    `json:"watches" doc:"The datasources that it is evaluated on."`
	Members      []string        `json:"members" doc:"The live edges and processes of the server that evaluate it, by name."`
}

// InstanceState is what a rule found, and is open or pending.
type InstanceState struct {
	Key      string            `json:"key" doc:"16 hexadecimal digits, of the labels."`
	DSID     uint64            `json:"ds_id" doc:"The datasource."`
	Labels   map[string]string `json:"labels" doc:"Its labels."`
	Check    string            `json:"check" doc:"threshold, anydata, nodata or too_many."`
	State    string            `json:"state" enum:"pending,firing,unknown" doc:"unknown: it fires, and the last answers were not complete."`
	Severity string            `json:"severity" doc:"Critical, Warning or Info."`
	Value    *float64          `json:"value,omitzero" doc:"The value that decided; absent: none."`
	Since    int64             `json:"since" doc:"Since when, Unix milliseconds."`
	Count    int64             `json:"count" doc:"Evaluations in a row that hold; of one that fires those that prove its end."`
	Of       int64             `json:"of" doc:"How many are needed; 0: this process does not evaluate it."`
	Kept     int64             `json:"kept_since,omitzero" doc:"Since when its series is absent, Unix milliseconds; absent: it is not."`
	AlertID  string            `json:"alert_id" doc:"Its alert in the first channel; empty: none."`
}

// WatchState is a rule on a datasource.
type WatchState struct {
	DSID   uint64       `json:"ds_id" doc:"The datasource."`
	DSName string       `json:"ds_name" doc:"Its name."`
	State  string       `json:"state" enum:"known,unknown,waiting" doc:"Whether the answers are complete."`
	Kind   string       `json:"kind" doc:"The kind of the failure that makes it unknown; empty: it is known."`
	Reason string       `json:"reason" doc:"Why it is unknown; empty: it is known."`
	Since  int64        `json:"since,omitzero" doc:"Since when it is unknown, Unix milliseconds."`
	EdgeID string       `json:"edge_id" doc:"The edge or the process of the server that evaluates it, by name; empty: none yet."`
	Last   *Evaluation  `json:"last,omitzero" doc:"Its last evaluation; absent: another process evaluates it, or it was not evaluated yet."`
	Recent []Evaluation `json:"recent" doc:"The last 60 evaluations, the oldest first; of the first 50 datasources alone."`
}

// Evaluation is one evaluation.
type Evaluation struct {
	At      int64    `json:"at" doc:"Its moment, Unix milliseconds."`
	TookMS  int64    `json:"took_ms" doc:"How long it took, in milliseconds."`
	Rows    int64    `json:"rows" doc:"How many rows came."`
	Missed  int64    `json:"missed" doc:"How many moments before it were left out, because it began late."`
	Outcome string   `json:"outcome" doc:"known, or the kind of the failure."`
	Largest *float64 `json:"largest,omitzero" doc:"The largest value; absent: none."`
}

// The bounds of a reply.
const (
	mostInstances = 1000
	mostRecent    = 50 // datasources whose last evaluations are shown
)

func (r *Service) state(c *api.Call, in OneRule) (s RuleState, err error) {
	account := c.Who.AccountID
	rule, found, err := alertrule.FindRule(c.Tx, account, in.ID)
	if err != nil {
		return s, err
	}
	if !found {
		return s, fault.Missing("alert rule", in.ID)
	}
	sources, err := datasource.All(c.Tx, account)
	if err != nil {
		return s, err
	}
	stored, err := unknownsOf(c.Tx, account)
	if err != nil {
		return s, err
	}
	edges, err := clustersAt(c.Tx, account, c.Now)
	if err != nil {
		return s, err
	}
	s = RuleState{RuntimeState: stateNoDatasource, Instances: []InstanceState{}, Watches: []WatchState{}, Members: []string{}}
	if !rule.On() {
		s.RuntimeState = stateDisabled
		return s, nil
	}
	processes := owners{r, c.Tx, edges, map[group][]slot{}}
	for i := range sources {
		d := &sources[i]
		if !d.Enabled || !rule.Matches(d) {
			continue
		}
		key := evaluator.Key{Account: account, Rule: rule.ID, Datasource: d.ID}
		w := r.watchState(key, d.Name, stored)
		w.EdgeID, err = processes.of(key, d.Cluster())
		if err != nil {
			return s, err
		}
		s.addMembers(r.Nodes.Live(), edges, d.Cluster())
		runtime, reason := edges.state(&rule, d)
		if reason != "" {
			w.State, w.Reason = "unknown", reason
		}
		if len(s.Watches) >= mostRecent {
			w.Recent = []Evaluation{}
		}
		s.Watches = append(s.Watches, w)
		s.RuntimeState = worse(s.RuntimeState, cmp.Or(runtime, w.runtime()))
		instances, err := r.instances(c.Tx, key, w.State == "unknown")
		if err != nil {
			return s, err
		}
		s.Instances = append(s.Instances, instances...)
	}
	s.Instances = s.Instances[:min(len(s.Instances), mostInstances)]
	return s, nil
}

// addMembers adds the processes that evaluate the watches of a cluster.
func (s *RuleState) addMembers(live []node.Node, edges clusters, cluster string) {
	if cluster != nodes.cluster {
		live = nodesOf(edges.live(cluster))
	}
	for _, n := range live {
		if !slices.Contains(s.Members, n.Name) {
			s.Members = append(s.Members, n.Name)
		}
	}
}

// runtime returns the state of a rule with such a watch.
func (w *WatchState) runtime() string {
	switch w.State {
	case "unknown":
		return unknownState(evaluate.Kind(w.Kind))
	case "waiting":
		return stateWaiting
	}
	return stateNormal
}

// unknownState returns the state of a rule that is not known.
func unknownState(kind evaluate.Kind) string {
	if kind == evaluate.Unsupported {
		return stateUnsupported
	}
	return stateAbnormal
}

// worse returns the state of two that counts for a rule.
func worse(a, b string) string {
	order := []string{stateOffline, stateUnsupported, stateAbnormal, statePending, stateWaiting, stateNormal, stateNoDatasource, ""}
	if slices.Index(order, b) < slices.Index(order, a) {
		return b
	}
	return a
}

func name(live []node.Node, id string) string {
	for _, n := range live {
		if n.ID == id {
			return n.Name
		}
	}
	return ""
}

// watchState returns the state of a watch, as it is stored and as this process knows it.
func (r *Service) watchState(key evaluator.Key, source string, stored map[evaluator.Key]unknown) WatchState {
	w := WatchState{DSID: key.Datasource, DSName: source, State: "known", Recent: []Evaluation{}}
	if u, is := stored[key]; is {
		w.State, w.Kind = "unknown", string(u.Kind)
		w.Reason, w.Since = u.Message, u.since
	}
	look, here := r.evaluator.Look(key)
	for _, one := range look.Recent {
		w.Recent = append(w.Recent, Evaluation{
			At: one.At.UnixMilli(), TookMS: one.Took.Milliseconds(), Rows: int64(one.Rows), Missed: int64(one.Missed),
			Outcome: one.Outcome, Largest: one.Largest,
		})
	}
	if n := len(w.Recent); n > 0 {
		w.Last = &w.Recent[n-1]
	}
	switch {
	case !here:
	case look.State.Unknown:
		w.State, w.Kind = "unknown", string(look.State.Kind)
		w.Reason, w.Since = look.State.Message, look.State.Since.UnixMilli()
	case look.State.Key == evaluator.Key{}:
		w.State = "waiting"
	}
	return w
}

// instances returns what is open of a watch, and what is pending if this process evaluates it.
func (r *Service) instances(tx *db.Tx, key evaluator.Key, unknown bool) (all []InstanceState, err error) {
	open, err := instancesOf(tx, key)
	if err != nil {
		return nil, err
	}
	look, _ := r.evaluator.Look(key)
	counts := map[string]evaluate.Instance{}
	for _, i := range look.Instances {
		counts[i.Check+"/"+i.Key] = i
		if !i.Firing {
			all = append(all, InstanceState{
				Key: i.Key, DSID: key.Datasource, Labels: filled(i.Labels), Check: i.Check, State: "pending", Severity: i.Severity, Value: i.Value,
				Since: i.Since.UnixMilli(), Count: int64(i.Count), Of: int64(i.Of),
			})
		}
	}
	for _, i := range open {
		one := InstanceState{
			Key: i.hash, DSID: key.Datasource, Labels: filled(i.Labels), Check: i.check, State: "firing", Severity: i.severity, Value: i.Value,
			Since: i.since,
		}
		if unknown {
			one.State = "unknown"
		}
		if in, known := counts[i.check+"/"+i.hash]; known {
			one.Count, one.Of = int64(in.Count), int64(in.Of)
			one.Value = in.Value
			if !in.Kept.IsZero() {
				one.Kept = in.Kept.UnixMilli()
			}
		}
		if len(i.channels) > 0 {
			a, found, err := alert.Latest(tx, key.Account, i.channels[0], i.alertKey)
			if err != nil {
				return nil, err
			}
			if found {
				one.AlertID = a.ID
			}
		}
		all = append(all, one)
	}
	slices.SortStableFunc(all, func(a, b InstanceState) int { return cmp.Compare(a.Since, b.Since) })
	return all, nil
}

// States returns the states of rules for their lists. A rule that it does not return is normal.
func (r *Service) States(tx *db.Tx, account int64, _ []uint64, now time.Time) (map[uint64]alertrule.State, error) {
	states := map[uint64]alertrule.State{}
	change := func(rule uint64, set func(*alertrule.State)) {
		s := states[rule]
		s.RuntimeState = cmp.Or(s.RuntimeState, stateNormal)
		set(&s)
		states[rule] = s
	}
	stored, err := unknownsOf(tx, account)
	if err != nil {
		return nil, err
	}
	for key, u := range stored {
		if key.Rule == 0 {
			continue
		}
		change(key.Rule, func(s *alertrule.State) {
			s.RuntimeState = worse(s.RuntimeState, unknownState(u.Kind))
			s.UnknownSince = min(cmp.Or(s.UnknownSince, u.since), u.since)
		})
	}
	for rule, n := range r.evaluator.Pending(account) {
		change(rule, func(s *alertrule.State) { s.PendingCount = int64(n) })
	}
	type number struct{ rule, n int64 }
	scan := func(scan db.Scan) (c number, err error) { return c, scan(&c.rule, &c.n) }
	open, err := db.All(tx, scan, `SELECT rule_id, count(*) FROM rule_instance WHERE account_id = $1 GROUP BY rule_id`, account)
	if err != nil {
		return nil, err
	}
	if err := r.edgeStates(tx, account, now, states); err != nil {
		return nil, err
	}
	for _, c := range open {
		change(uint64(c.rule), func(s *alertrule.State) {
			s.Triggered, s.ActiveAlertCount = true, c.n
		})
	}
	last, err := db.All(tx, scan, lastTransitions, account, int64(math.MinInt64))
	for _, c := range last {
		change(uint64(c.rule), func(s *alertrule.State) { s.LastTransitionAt = c.n })
	}
	return states, err
}

// lastTransitions selects the moment of the last transition of each rule. It steps through the index rule by rule, because the
// transitions of a rule may be many.
const lastTransitions = `WITH RECURSIVE ahead (rule_id) AS (
		SELECT min(rule_id) FROM rule_transition WHERE account_id = $1 AND rule_id >= $2
		UNION ALL SELECT (SELECT min(t.rule_id) FROM rule_transition t WHERE t.account_id = $1 AND t.rule_id > a.rule_id)
			FROM ahead a WHERE a.rule_id IS NOT NULL
	)
	SELECT a.rule_id, (SELECT t.at FROM rule_transition t WHERE t.account_id = $1 AND t.rule_id = a.rule_id
		ORDER BY t.transition_id DESC LIMIT 1)
	FROM ahead a WHERE a.rule_id IS NOT NULL`

// Empty returns how many known evaluations in a row of a rule on a datasource returned no row; 0: it is not known here.
func (r *Service) Empty(account int64, rule, datasource uint64) int {
	look, _ := r.evaluator.Look(evaluator.Key{Account: account, Rule: rule, Datasource: datasource})
	return look.Empty
}
