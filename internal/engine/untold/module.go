// Package untold keeps what reached no person by a rule: incidents that no escalation rule takes or whose rule reached
// no one, and events that no channel takes. It notifies the account's fallback of them, which is the owner until another
// is set: at once of Critical, of the rest every 15 minutes. What is silent by choice is listed and notifies no one.
//
// It must never forget an incident before a person was reached, nor notify twice of the same severity.
package untold

import (
	"time"

	"tocsin/internal/module"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/jobs"
)

// Module returns the package's operations, jobs, subscription to domain events, retention, count of overdue work, gauges
// and sections of an account file.
func (r *Service) Module() module.Module {
	return module.Module{
		Name:     "engine/untold",
		Ops:      r.Ops(),
		Jobs:     []jobs.Job{r.Job()},
		Handles:  r.Handle,
		Prune:    []module.Retention{{Period: module.Ended, Of: Prune}},
		Overdue:  Overdue,
		Gauges:   []module.Gauge{count},
		Sections: []string{"fallbacks"},
	}
}

// Overdue returns how many rows are due and not processed.
func Overdue(tx *db.Tx, now time.Time) (jobs.Overdue, error) {
	return jobs.CountOverdue(tx, "untold", time.Second,
		`SELECT count(*), coalesce(min(next_at), 0) FROM untold WHERE next_at > 0 AND next_at <= $1`, now.Unix())
}

// Unreached returns how many incidents and alert keys have neither reached the fallback nor the owner.
func Unreached(tx *db.Tx) (int64, error) {
	n, _, err := db.One(tx, db.Column[int64], `SELECT count(*) FROM untold WHERE state = 'unreached'`)
	return n, err
}

// count counts what no rule notified a person of. The index that it reads holds nothing else.
var count = module.Gauge{
	Name: "tocsin_untold", Help: "Open incidents, and alert keys of unrouted events, of which no rule notified a person, by state.",
	Labels: []string{"state"},
	Read: func(tx *db.Tx, _ time.Time) (samples []module.Sample, err error) {
		type group struct {
			state string
			rows  int64
		}
		groups, err := db.All(tx, func(scan db.Scan) (g group, err error) { return g, scan(&g.state, &g.rows) },
			`SELECT state, count(*) FROM untold GROUP BY state`)
		counts := map[string]int64{}
		for _, g := range groups {
			counts[g.state] = g.rows
		}
		for _, state := range states {
			samples = append(samples, module.Sample{Value: float64(counts[state]), Labels: []string{state}})
		}
		return samples, err
	},
}
