// Package monitor is the server's side of alert rules: it assigns slots to evaluators, stores what they find
// as events and transitions, alerts that a rule or a datasource is not known, and explains.
//
// It must never take a transition of an old epoch, nor let one account's rules hold up another's.
package monitor

import (
	"time"

	"tocsin/internal/configstore"
	"tocsin/internal/module"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/id"
	"tocsin/internal/platform/jobs"
)

// Module returns the package's operations, jobs, retention, count of overdue work and gauges. Alert rules are not
// evaluated while the server is held.
func (r *Service) Module() module.Module {
	return module.Module{
		Name:    "engine/monitor",
		Ops:     r.Ops(),
		Jobs:    []jobs.Job{r.evaluator.Evaluating(), r.closeJob(), r.edgesJob()},
		Prune:   []module.Retention{{Period: module.Events, Prune: Prune}, {Period: module.Ended, Of: pruneTaken}},
		Overdue: Overdue,
		Gauges: []module.Gauge{{
			Name: "tocsin_watches", Help: "Alert rules on datasources that this process evaluates, by state: known or unknown.",
			Labels: []string{"state"}, Read: r.count,
		}},
	}
}

func (r *Service) count(*db.Tx, time.Time) ([]module.Sample, error) {
	all, unknown := r.evaluator.Watches()
	return []module.Sample{
		{Value: float64(all - unknown), Labels: []string{"known"}},
		{Value: float64(unknown), Labels: []string{"unknown"}},
	}, nil
}

// mostPruned is the most rows that one transaction deletes of an account.
const mostPruned = 2000

// Prune deletes transitions that are older than a moment. more reports whether there may be others.
func Prune(tx *db.Tx, before time.Time) (more bool, err error) {
	accounts, err := configstore.AccountRevisions(tx)
	if err != nil {
		return false, err
	}
	for _, account := range accounts {
		n, err := tx.Exec(`DELETE FROM rule_transition WHERE account_id = $1 AND transition_id IN
			(SELECT transition_id FROM rule_transition WHERE account_id = $1 AND transition_id < $2 ORDER BY transition_id LIMIT $3 + 0)`,
			account.ID, id.After(before), mostPruned)
		if err != nil {
			return false, err
		}
		more = more || n == mostPruned
	}
	return more, nil
}
