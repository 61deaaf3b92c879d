package monitor

import (
	"time"

	"tocsin/internal/core/condition"
	"tocsin/internal/core/event"
	"tocsin/internal/core/sentence"
	"tocsin/internal/platform/id"
)

const transitionColumns = `account_id, transition_id, rule_id, datasource_id, check_name, instance_key, at, change, from_severity, severity,
	event_id, body`

// transition returns the row of a transition of the instance.
func (i *instance) transition(now, at time.Time, change, from, severity, event, body string) []any {
	return []any{i.key.Account, id.Object(now), int64(i.key.Rule), int64(i.key.Datasource), i.check, i.hash, at.UnixMilli(), change, from,
		severity, event, body}
}

// record is what is stored of a transition besides its columns.
type record struct {
	Labels  map[string]string  `json:"labels"`
	Why     []sentence.Value   `json:"why"`
	AsOf    int64              `json:"as_of"` // Unix milliseconds
	Queries []queried          `json:"queries,omitempty"`
	Clauses []condition.Clause `json:"clauses,omitempty"`
	Value   *float64           `json:"value,omitzero"`
	Source  string             `json:"ds_name"`
	Kind    string             `json:"ds_type"`
	Edge    string             `json:"edge,omitzero"` // the name of the edge that found it
}

// queried is a query with the row that it returned for the instance.
type queried struct {
	Name   string                      `json:"name"`
	Expr   string                      `json:"expr"`
	Values map[string]condition.Number `json:"values,omitempty"`
	Fields map[string]string           `json:"fields,omitempty"`
}

// maxShown is how many characters of a query and of a field are stored with a transition.
const maxShown = 1000

func (c *change) recorded() record {
	r := record{
		Labels: c.Labels, Why: c.Why, AsOf: c.AsOf.UnixMilli(), Clauses: c.Clauses, Value: c.Value,
		Source: c.Watch.Source.Name, Kind: c.Watch.Source.Type, Edge: c.from.Name,
	}
	for _, q := range c.Watch.Rule.Config.Queries {
		one := queried{Name: q.Name, Expr: event.Cut(q.Expr, maxShown)}
		for _, a := range c.Rows {
			if a.Query != q.Name || len(a.Rows) == 0 {
				continue
			}
			one.Values, one.Fields = map[string]condition.Number{}, map[string]string{}
			for _, v := range a.Rows[0].Values {
				one.Values[v.Field] = condition.Number(v.Number)
			}
			for name, text := range a.Rows[0].Fields {
				one.Fields[name] = event.Cut(text, maxShown)
			}
		}
		r.Queries = append(r.Queries, one)
	}
	return r
}
