package page

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/engine/monitor"
)

// RuleCard is what the pages of an alert and an incident show of the rule that found it.
type RuleCard struct {
	Rule     uint64
	Name     string
	Source   string
	NotKnown string // of an alert that is open
	Words    []string
	Graph    GraphLink
}

// RuleCard returns the card of an alert; nil: no rule found it, or the visitor may not read rules.
func (v *Visit) RuleCard(a AlertRow) (*RuleCard, error) {
	parts := strings.Split(a.AlertKey, ":") // rule, datasource, query, instance, check
	if a.IntegrationType != "monit.alert" || len(parts) != 5 || !v.Who.MayAny(ReadRules) {
		return nil, nil
	}
	rule, source := Unsigned(parts[0]), Unsigned(parts[1])
	c := &RuleCard{Rule: rule, Name: a.Labels["rule_name"], Source: a.Labels["ds_name"], Graph: v.GraphLink(rule, source)}
	c.Graph.Key = parts[3]
	request := monitor.ExplainRequest{RuleID: rule, DSID: source, Key: parts[3]}
	x, err := Call[monitor.Explanation](v, "/monit/rule/explain", request)
	if refused := api.RefusalOf(err); refused != nil && refused.Code == "ResourceNotFound" {
		return nil, nil // the rule was deleted
	}
	for _, s := range x.SentencesData {
		c.Words = append(c.Words, v.SentenceOf(s))
	}
	if err != nil || a.EndTime != 0 {
		return c, err
	}
	state, err := Call[monitor.RuleState](v, "/monit/rule/state", monitor.OneRule{ID: rule})
	for _, w := range state.Watches {
		if w.DSID == source {
			c.NotKnown = v.NotKnown(w)
		}
	}
	return c, err
}

// NotKnown returns since when and why a rule is not known on a datasource; empty: it is known.
func (v *Visit) NotKnown(w monitor.WatchState) string {
	if w.State != "unknown" {
		return ""
	}
	why := v.T(cmp.Or(failures[w.Kind], "%s does not answer as it should"), w.DSName)
	if w.Since == 0 {
		return v.T("Not known: %s.", why)
	}
	return v.T("Not known since %s: %s.", v.When(w.Since/1000), why)
}

// failures are the texts of the kinds of failures of a datasource.
var failures = map[string]string{
	"unreachable": "%s cannot be reached", "denied": "%s refuses the credentials", "timeout": "%s does not answer in time",
	"query": "%s refuses the query", "partial": "%s does not have all of the data", "limit": "%s returns more than a query may",
	"invalid": "the answer of %s cannot be judged", "missed": "the evaluation on %s is late",
	"unsupported": "%s is of a type that cannot be asked",
}

// ReadRules is the permission without which nothing of a rule is shown.
var ReadRules = Rights{auth.AlertingRulesRead}

// GraphLink is the picture of a rule's queries on a datasource. It is an image of its own, so that no page waits for a datasource.
type GraphLink struct {
	Rule, DSID uint64
	Key        string // of the instance that is drawn; empty: all
	Span       string
	Text       string // the span in words
	At         int64  // its end, Unix seconds
	Spans      []CountedLink
}

// GraphLink returns the picture that ends now, as far back as the address asks.
func (v *Visit) GraphLink(rule, source uint64) GraphLink {
	g := GraphLink{Rule: rule, DSID: source}
	chosen := v.Query("span")
	for i, s := range GraphSpans {
		here := s.Name == chosen || i == 0 && !slices.Contains([]string{"24h", "7d"}, chosen)
		if here {
			g.Span, g.Text = s.Name, v.Span(s.Length)
			g.At = v.Now.Unix()/s.steady*s.steady + s.steady
		}
		g.Spans = append(g.Spans, CountedLink{Text: v.Span(s.Length), Path: v.With("span", s.Name), Here: here})
	}
	return g
}

// GraphSpans are how far back a graph can reach, with how long one picture is good for.
var GraphSpans = []struct {
	Name           string
	Length, steady int64 // seconds
}{{"1h", 3600, 60}, {"24h", 86400, 300}, {"7d", 7 * 86400, 1800}}

// Src returns the address of the picture.
func (g GraphLink) Src() string {
	parameters := url.Values{"ds": {strconv.FormatUint(g.DSID, 10)}, "span": {g.Span}, "at": {strconv.FormatInt(g.At, 10)}}
	if g.Key != "" {
		parameters.Set("key", g.Key)
	}
	return fmt.Sprintf("/rules/%d/graph?%s", g.Rule, parameters.Encode())
}
