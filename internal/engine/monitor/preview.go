package monitor

import (
	"time"

	"tocsin/internal/api"
	"tocsin/internal/core/condition"
	"tocsin/internal/core/evaluate"
	"tocsin/internal/datasource"
	"tocsin/internal/platform/fault"
	"tocsin/internal/querier"
)

// mostPreviewed is how many rows a preview returns.
const mostPreviewed = 1000

var needsRules = api.Errors{fault.AccessDenied: "The caller lacks Datasources Read (monit) or Alerting Rules Read (monit)."}

// PreviewRequest asks for the answer to a query.
type PreviewRequest struct {
	DSType       string            `json:"ds_type" enum:"prometheus,loki,mysql,oracle,postgres,clickhouse,elasticsearch,sls,victorialogs" doc:"The type of the datasource."`
	DSName       string            `json:"ds_name" minLength:"1" maxLength:"255" doc:"Its name."`
	Expr         string            `json:"expr" minLength:"1" maxLength:"65536" doc:"The query in the language of the datasource."`
	Args         map[string]string `json:"args,omitzero" maxProperties:"50" maxLength:"4096" doc:"Settings of the type."`
	DelaySeconds int64             `json:"delay_seconds,omitzero" minimum:"0" maximum:"86400" doc:"How much earlier than now the query asks."`
	AccountID    int64             `json:"account_id,omitzero" doc:"Ignored: the account is that of the key."`
}

// Preview is the answer to a query.
type Preview struct {
	Rows   []PreviewRow `json:"rows" doc:"Its rows."`
	AsOf   int64        `json:"as_of" doc:"The moment that was asked about, Unix milliseconds."`
	TookMS int64        `json:"took_ms" doc:"How long the datasource took, in milliseconds."`
}

// PreviewRow is a row of an answer.
type PreviewRow struct {
	Labels map[string]string           `json:"labels" doc:"What identifies it."`
	Values map[string]condition.Number `json:"values" doc:"Its values by field, as texts; of a query with one value the name is empty."`
	Fields map[string]string           `json:"fields" doc:"Its other columns."`
}

// preview asks a datasource.
func (r *Service) preview(c *api.Call, in PreviewRequest) (p Preview, err error) {
	if err := mayAsk(c); err != nil {
		return p, err
	}
	var source *datasource.Connection
	err = c.Read(func() error {
		all, err := datasource.Connections(c.Tx, r.Keyring, c.Who.AccountID, c.Report)
		for i := range all {
			if all[i].Type == in.DSType && all[i].Name == in.DSName && source == nil {
				source = &all[i]
			}
		}
		return err
	})
	if err != nil {
		return p, err
	}
	if source == nil {
		return p, fault.Invalid("ds_name", "can not find datasource %.100q of type %s that is enabled", in.DSName, in.DSType)
	}
	if err := r.recorded(c, "monitor_rule:read:preview", *source, []evaluate.Query{{Expr: in.Expr}}); err != nil {
		return p, err
	}
	q, failed := r.Connect(c.Ctx, c.Who.AccountID, *source)
	if failed != nil {
		return p, refusal(failed)
	}
	defer q.Close() //nolint:errcheck // there is no one to report to
	asOf, began := c.Now.Add(-time.Duration(in.DelaySeconds)*time.Second), r.Clock.Now()
	rows, failed := q.Query(c.Ctx, querier.Ask{Expr: in.Expr, Args: in.Args, AsOf: asOf, Limit: mostPreviewed})
	if failed != nil && !failed.Cut {
		return p, refusal(failed)
	}
	p = Preview{Rows: make([]PreviewRow, len(rows)), AsOf: asOf.UnixMilli(), TookMS: r.Clock.Now().Sub(began).Milliseconds()}
	for i, row := range rows {
		one := PreviewRow{Labels: filled(row.Labels), Values: map[string]condition.Number{}, Fields: filled(row.Fields)}
		for _, v := range row.Values {
			one.Values[v.Field] = condition.Number(v.Number)
		}
		p.Rows[i] = one
	}
	return p, nil
}

func filled(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return m
}

// refusal returns the error of an operation whose query failed.
func refusal(f *evaluate.Failure) error {
	switch f.Phase {
	case phaseNoEdge:
		return fault.New(fault.NoEdge, "%s", f.Message)
	case phaseLate:
		return fault.New(fault.Timeout, "%s", f.Message)
	case phaseBusy:
		return fault.New(fault.TooFrequent, "%s", f.Message)
	}
	switch f.Kind {
	case evaluate.BadQuery, evaluate.TooMuch, evaluate.Unsupported, evaluate.Invalid:
		return fault.Invalid("expr", "%s", f.Message)
	}
	return fault.New(fault.Unavailable, "the datasource has no answer: %s", f.Message)
}
