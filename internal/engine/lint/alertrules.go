package lint

import (
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"

	"tocsin/internal/alertrule"
	"tocsin/internal/channel"
	"tocsin/internal/core/evaluate"
	"tocsin/internal/core/lint"
	"tocsin/internal/datasource"
	"tocsin/internal/edge"
	"tocsin/internal/integration"
	"tocsin/internal/route"
)

// alertRules returns the enabled alert rules and the enabled datasources.
func (r *reader) alertRules() (rules []lint.AlertRule, sources []lint.Datasource, err error) {
	sources, err = r.datasources()
	if err != nil {
		return nil, nil, err
	}
	all, _, err := alertrule.Changed(r.tx, r.account, -1)
	if err != nil {
		return nil, nil, err
	}
	routed, err := r.monitorsRouted()
	if err != nil {
		return nil, nil, err
	}
	for i := range all {
		if !all[i].On() {
			continue
		}
		one, err := r.alertRule(&all[i], sources, routed)
		if err != nil {
			return nil, nil, err
		}
		rules = append(rules, one)
	}
	return rules, sources, nil
}

// datasources returns the enabled datasources. Only a server knows which edges are in touch, and which secrets are resolved.
func (r *reader) datasources() (list []lint.Datasource, err error) {
	connections, err := datasource.Connections(r.tx, r.Keyring, r.account, func(error) {})
	if err != nil {
		return nil, err
	}
	members, err := edge.Members(r.tx, r.account)
	if err != nil {
		return nil, err
	}
	members = slices.DeleteFunc(members, func(m edge.Member) bool { return !m.Live(r.now) })
	canWrite, err := datasource.CanWrite(r.tx, r.account)
	if err != nil {
		return nil, err
	}
	own := edge.Member{Cluster: datasource.DefaultCluster, Details: edge.Details{SecretEnv: r.SecretEnv.Set()}}
	for _, c := range connections {
		d := lint.Datasource{ID: c.ID, Name: c.Name, Type: c.Type, CanWrite: canWrite[c.ID]}
		var refused []string
		for _, m := range append(members, own) {
			if m.Cluster == c.Cluster {
				refused = append(refused, m.SecretEnv.Refused(c.Datasource))
			}
		}
		switch {
		case r.SecretEnv == nil: // without a server
		case len(refused) == 0:
			d.NoEdge = c.Cluster
		default:
			d.Refused = slices.Min(refused) // one that resolves all is enough
		}
		list = append(list, d)
	}
	return list, nil
}

// monitorsRouted reports whether the integration of alert rules has a channel or a route.
func (r *reader) monitorsRouted() (bool, error) {
	all, err := integration.Kind.All(r.tx, r.account)
	at := slices.IndexFunc(all, func(i integration.Integration) bool { return i.IntegrationType == integration.Monitors })
	if err != nil || at < 0 {
		return false, err
	}
	if all[at].ChannelID != 0 {
		return true, nil
	}
	_, found, err := route.Kind.Find(r.tx, r.account, strconv.FormatInt(all[at].IntegrationID, 10))
	return found, err
}

func (r *reader) alertRule(rule *alertrule.Rule, sources []lint.Datasource, routed bool) (one lint.AlertRule, err error) {
	one = lint.AlertRule{
		ID: rule.ID, Name: rule.Name, Type: rule.DSType, Channels: len(rule.ChannelIDs), Taken: routed && len(rule.ChannelIDs) == 0,
		Delay: rule.DelaySeconds, Silent: silent(&rule.RuleConfigs),
	}
	for _, id := range rule.ChannelIDs {
		ch, found, err := channel.Find(r.tx, r.account, id)
		if err != nil {
			return one, err
		}
		one.Taken = one.Taken || found && ch.Status == "enabled"
	}
	byName := alertrule.Rule{DSType: rule.DSType, Sources: alertrule.Sources{DSList: rule.DSList}}
	for _, d := range sources {
		item := datasource.Item{ID: d.ID, TypeIdent: d.Type, Name: d.Name}
		if !rule.Matches(&item) {
			continue
		}
		if byName.Matches(&item) {
			one.ByName = append(one.ByName, d)
		}
		one.Sources = append(one.Sources, d)
		if r.Empty != nil && needsRows(&rule.RuleConfigs) {
			empty := r.Empty(r.account, rule.ID, d.ID)
			if len(one.Sources) == 1 {
				one.Empty = empty
			}
			one.Empty = min(one.Empty, empty)
		}
	}
	for _, q := range rule.RuleConfigs.Queries {
		one.Queries = append(one.Queries, q.Expr)
	}
	rest := rule.RuleConfigs
	rest.Queries = nil
	text, err := json.Marshal([]any{rule.CronPattern, rule.DelaySeconds, rule.Sources, rest, rule.EnabledTimes, rule.ChannelIDs},
		json.Deterministic(true))
	one.Rest = string(text)
	return one, err
}

// needsRows reports whether a rule that never has a row finds nothing: a row that any-data waits for may be missing for years.
func needsRows(c *evaluate.Config) bool {
	return (c.CheckAnydata == nil || !c.CheckAnydata.Enabled) && len(c.Queries) > 0
}

// silent reports whether a check of a rule does not send the end of its alerts.
func silent(c *evaluate.Config) bool {
	off := func(counts evaluate.Counts) bool {
		return counts.Enabled && counts.PushRecoveryEvent != nil && !*counts.PushRecoveryEvent
	}
	return c.CheckThreshold != nil && off(c.CheckThreshold.Counts) || c.CheckAnydata != nil && off(c.CheckAnydata.Counts) ||
		c.CheckNodata != nil && off(c.CheckNodata.Counts)
}
