package monitor

import (
	"time"

	"tocsin/internal/alertrule"
	"tocsin/internal/api"
	"tocsin/internal/core/evaluate"
	"tocsin/internal/core/rulefile"
	"tocsin/internal/datasource"
	"tocsin/internal/platform/fair"
	"tocsin/internal/platform/fault"
)

type proveRequest struct {
	Text  string `json:"text" minLength:"1" maxLength:"524288" doc:"A rule file of Prometheus."`
	DSID  uint64 `json:"ds_id" minimum:"1" doc:"The datasource that is asked."`
	First int64  `json:"first,omitzero" minimum:"0" doc:"The rule of the file from which on they are proved, counted from 0."`
}

// ImportProof compares the meaning that rules have in Prometheus with that of the rules here, on the answers of the last 24 hours.
type ImportProof struct {
	Items []ProvedRule `json:"items" doc:"At most 10 rules, in the order of the file."`
	Next  int64        `json:"next" doc:"The first of the next call; 0: these were the last."`
}

// ProvedRule is one rule of a file.
type ProvedRule struct {
	Name        string   `json:"name" doc:"Its name in the file."`
	Points      int64    `json:"points" doc:"How many evaluations were compared."`
	Alerts      int64    `json:"alerts" doc:"How many alerts Prometheus would have had."`
	Total       int64    `json:"total" doc:"At how many moments a series fires by one meaning only."`
	Differences []string `json:"differences" doc:"The first 20 of them, in words."`
	Why         string   `json:"why" doc:"Why it could not be compared; empty: it was."`
}

// What one call proves.
const (
	mostProved = 10
	provedPast = 24 * time.Hour
)

// prove answers /monit/rule/import/prove.
func (r *Service) prove(c *api.Call, in proveRequest) (reply ImportProof, err error) {
	if err := mayAsk(c); err != nil {
		return reply, err
	}
	items, err := alertrule.ReadFile(in.Text)
	if err != nil {
		return reply, err
	}
	var source datasource.Connection
	err = c.Read(func() error {
		source, err = r.sourceFor(c, &alertrule.Rule{DSType: "prometheus"}, in.DSID)
		return err
	})
	if err != nil {
		return reply, err
	}
	reply.Items = []ProvedRule{}
	first := min(int(in.First), len(items))
	last := min(first+mostProved, len(items))
	if last < len(items) {
		reply.Next = int64(last)
	}
	items = items[first:last]
	var asked []evaluate.Query
	for i := range items {
		if rule := items[i].Rule; rule != nil {
			asked = append(asked, rule.Config.Queries...)
		}
	}
	if err := r.recorded(c, "monitor_rule:read:prove", source, asked); err != nil {
		return reply, err
	}
	for i := range items {
		one, err := r.proveOne(c, source, &items[i])
		if err != nil {
			return reply, err
		}
		reply.Items = append(reply.Items, one)
	}
	return reply, nil
}

// proveOne proves one rule. What cannot be compared has the reason.
func (r *Service) proveOne(c *api.Call, source datasource.Connection, i *rulefile.Item) (one ProvedRule, err error) {
	one = ProvedRule{Name: i.Name, Why: i.Why, Differences: []string{}}
	if i.Rule == nil {
		return one, nil
	}
	if i.Rule.Config.CheckAnydata == nil {
		one.Why = "only rules of Prometheus can be compared"
		return one, nil
	}
	rule := alertrule.Carried(i.Rule, source.Type, source.ID)
	moments, err := momentsOf(&rule, time.UTC, delay(&rule, source.Type), Span{c.Now.Add(-provedPast).UnixMilli(), c.Now.UnixMilli()})
	if err != nil {
		one.Why = err.Error()
		return one, nil //nolint:nilerr // it is the reason of this rule
	}
	queries := rule.RuleConfigs.Queries
	series, err := r.ranged(c, source, queries, moments[0], moments[len(moments)-1], i.Rule.Interval)
	if kind := fault.KindOf(err); kind == fault.InvalidParameter || kind == fault.Unavailable {
		one.Why = err.Error()
		return one, nil
	}
	if err != nil {
		return one, err
	}
	leave, err := r.Turns.Enter(c.Ctx, fair.Of(c.Who.AccountID), int64(source.ID))
	if err != nil {
		return one, err
	}
	defer leave()
	past := newTimeline(series[0])
	proof, err := rulefile.Prove(i.Rule, moments, func(at time.Time) []evaluate.Answer {
		return []evaluate.Answer{{Query: queries[0].Name, Rows: past.at(at)}}
	})
	one.Points = int64(len(moments))
	one.Alerts = proof.Alerts
	one.Total = proof.Total
	one.Differences = append(one.Differences, proof.Differences...)
	return one, err
}
