package monitor

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"tocsin/internal/alertrule"
	"tocsin/internal/api"
	"tocsin/internal/audit"
	"tocsin/internal/auth"
	"tocsin/internal/core/evaluate"
	"tocsin/internal/datasource"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/querier"
)

// matching returns those of the datasources that a rule matches, the first by id before the first by name.
func matching(all []datasource.Connection, rule *alertrule.Rule) []datasource.Connection {
	all = slices.DeleteFunc(all, func(d datasource.Connection) bool {
		return !rule.Matches(&datasource.Item{ID: d.ID, TypeIdent: d.Type, Name: d.Name})
	})
	named := func(d datasource.Connection) int {
		return slices.Index(append(rule.DSIDs[:len(rule.DSIDs):len(rule.DSIDs)], d.ID), d.ID)
	}
	slices.SortFunc(all, func(a, b datasource.Connection) int {
		return cmp.Or(cmp.Compare(named(a), named(b)), cmp.Compare(a.ID, b.ID))
	})
	return all
}

// mayAsk refuses callers who may read datasources, but not rules.
func mayAsk(c *api.Call) error {
	if !c.Who.May(auth.AlertingRulesRead) {
		return fault.New(fault.AccessDenied, "needs Alerting Rules Read (monit) as well")
	}
	return nil
}

// sourceFor returns the datasource on which the queries of a rule are asked: that of the id, or with id 0 the first that it matches.
func (r *Service) sourceFor(c *api.Call, rule *alertrule.Rule, id uint64) (d datasource.Connection, err error) {
	all, err := datasource.Connections(c.Tx, r.Keyring, c.Who.AccountID, c.Report)
	if err != nil {
		return d, err
	}
	if id == 0 {
		all = matching(all, rule)
		if len(all) == 0 {
			return d, fault.Invalid("ds_id", "the rule matches no datasource that is enabled")
		}
		return all[0], nil
	}
	at := slices.IndexFunc(all, func(d datasource.Connection) bool { return d.ID == id && d.Type == rule.DSType })
	if at < 0 {
		return d, fault.Invalid("ds_id", "can not find datasource %d of type %s that is enabled", id, rule.DSType)
	}
	return all[at], nil
}

// asked is what the audit log stores of queries: who reads data is known, and what they contain is not repeated.
type asked struct {
	DSID   uint64   `json:"ds_id"`
	SHA256 []string `json:"query_sha256"`
}

// recorded writes into the audit log that queries are asked.
func (r *Service) recorded(c *api.Call, operation string, d datasource.Connection, queries []evaluate.Query) error {
	body := asked{DSID: d.ID}
	for _, q := range queries {
		sum := sha256.Sum256([]byte(q.Expr))
		body.SHA256 = append(body.SHA256, hex.EncodeToString(sum[:]))
	}
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	return r.DB.WriteOf(c.Ctx, c.Who.AccountID, func(tx *db.Tx) error {
		return audit.Record(tx, api.AuditEntry{
			At: c.Now, AccountID: c.Who.AccountID, PersonID: c.Who.PersonID, PersonName: c.Who.PersonName, RequestID: c.RequestID, IP: c.IP,
			Operation: operation, Body: string(text),
		})
	})
}

// askFor returns the query of a rule about a moment.
func askFor(q evaluate.Query, at time.Time) querier.Ask {
	return querier.Ask{Expr: q.Expr, Args: q.Args, LabelFields: q.LabelFields, ValueFields: q.ValueFields, AsOf: at}
}

// ranged asks the queries of a rule about many moments. At most mostPoints points are returned in all.
func (r *Service) ranged(
	c *api.Call, d datasource.Connection, queries []evaluate.Query, from, to time.Time, step time.Duration,
) ([][]querier.Series, error) {
	open, failed := r.Connect(c.Ctx, c.Who.AccountID, d)
	if failed != nil {
		return nil, refusal(failed)
	}
	defer open.Close() //nolint:errcheck // there is no one to report to
	ranger, ok := open.(querier.Ranger)
	if !ok {
		return nil, fault.Invalid("ds_id", "a datasource of type %s cannot be asked about the past", d.Type)
	}
	var all [][]querier.Series
	points := 0
	for _, q := range queries {
		series, failed := ranger.Range(c.Ctx, askFor(q, time.Time{}), from, to, step)
		if failed != nil {
			return nil, refusal(failed)
		}
		for i := range series {
			points += len(series[i].Points)
		}
		if points > mostPoints {
			return nil, fault.Invalid("to", "the queries return more than %d points in all; ask for a shorter time or for fewer series", mostPoints)
		}
		all = append(all, series)
	}
	return all, nil
}

// mostPoints bounds the memory that the answers about one span take.
const mostPoints = 1_000_000

// Connect returns the querier of a datasource: that of a cluster of edges asks a live member. All queries of operations go through it.
func (r *Service) Connect(_ context.Context, account int64, d datasource.Connection) (querier.Querier, *evaluate.Failure) {
	if d.Failed != nil {
		return nil, d.Failed
	}
	if d.Cluster != nodes.cluster {
		return &throughEdge{r, account, d}, nil
	}
	return r.Open(d.Datasource)
}
