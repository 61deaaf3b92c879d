package monitor

import (
	"context"
	"time"

	"tocsin/internal/alertrule"
	"tocsin/internal/core/evaluate"
	"tocsin/internal/datasource"
	"tocsin/internal/platform/db"
)

// tryTimeout bounds how long the queries of a rule are tried before it is stored.
const tryTimeout = 5 * time.Second

// Try asks the first datasource that a rule matches, by id before by name, for an answer to its queries.
func (r *Service) Try(ctx context.Context, account int64, rule alertrule.Rule) []alertrule.Trial {
	ctx, cancel := context.WithTimeout(ctx, tryTimeout)
	defer cancel()
	var all []datasource.Connection
	err := r.DB.Read(db.For(ctx, account), func(tx *db.Tx) (err error) {
		all, err = datasource.Connections(tx, r.Keyring, account, func(err error) {
			r.Log.Error("a datasource cannot be asked", "account_id", account, "error", err)
		})
		return err
	})
	if err != nil {
		r.Log.Error("the queries of an alert rule could not be tried", "account_id", account, "error", err)
		return []alertrule.Trial{}
	}
	all = matching(all, &rule)
	if len(all) == 0 {
		return []alertrule.Trial{}
	}
	first := all[0]
	t := alertrule.Trial{DSID: first.ID, DSName: first.Name, Status: "ok"}
	series, failed := r.ask(ctx, account, first, rule.RuleConfigs.Queries)
	t.Series = series
	if failed != nil {
		t.Status, t.Message = "failed", failed.Message
		if failed.Kind == evaluate.Unsupported {
			t.Status = "unchecked"
		}
	}
	return []alertrule.Trial{t}
}

// ask asks queries of a datasource, up to the first that fails, and returns how many rows they have.
func (r *Service) ask(
	ctx context.Context, account int64, d datasource.Connection, queries []evaluate.Query,
) (rows int64, failed *evaluate.Failure) {
	q, failed := r.Connect(ctx, account, d)
	if failed != nil {
		return 0, failed
	}
	defer q.Close() //nolint:errcheck // there is no one to report to
	for _, one := range queries {
		ask := askFor(one, r.Clock.Now())
		ask.Timeout = tryTimeout
		answer, failed := q.Query(ctx, ask)
		if failed != nil && !failed.Cut {
			return rows, failed
		}
		rows += int64(len(answer))
	}
	return rows, nil
}
