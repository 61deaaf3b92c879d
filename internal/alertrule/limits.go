package alertrule

import (
	"github.com/go-json-experiment/json"

	"tocsin/internal/core/evaluate"
	"tocsin/internal/datasource"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// The bounds of what an account may have, and of what its rules cost.
const (
	maxRules       = 20_000
	maxInFolder    = 2_000
	maxMatched     = 1_000  // datasources of a rule
	maxWatches     = 50_000 // rules on datasources
	maxEvaluations = 1_000  // of watches in a second
)

// checkCounts returns a fault if the account or the folder of a rule has no room for it.
func (s *scope) checkCounts(r *Rule, before *Rule) error {
	all := int64(0)
	for _, n := range s.in {
		all += n
	}
	switch {
	case before.ID == 0 && all >= maxRules:
		return fault.New(fault.Conflict, "an account has at most %d alert rules", maxRules)
	case before.FolderID != r.FolderID && s.in[r.FolderID] >= maxInFolder:
		return fault.New(fault.Conflict, "a folder has at most %d alert rules, as many as folder %d has", maxInFolder, r.FolderID)
	}
	return nil
}

// CountByFolder returns how many rules are in each folder that has some.
func CountByFolder(tx *db.Tx, account int64) (map[int64]int64, error) {
	type count struct{ folder, rules int64 }
	list, err := db.All(tx, func(scan db.Scan) (c count, err error) { return c, scan(&c.folder, &c.rules) },
		`SELECT folder_id, count(*) FROM alert_rule WHERE account_id = $1 GROUP BY folder_id`, account)
	by := map[int64]int64{}
	for _, c := range list {
		by[c.folder] = c.rules
	}
	return by, err
}

// load is what the evaluation of rules costs.
type load struct {
	watches int64   // rules on datasources
	rate    float64 // their evaluations in a second
}

// plus returns the load with a number of times another one.
func (l load) plus(other load, times int64) load {
	return load{l.watches + times*other.watches, l.rate + float64(times)*other.rate}
}

func loadFor(rules, datasources int64, seconds float64) load {
	watches := rules * datasources
	return load{watches, float64(watches) / seconds}
}

// alike are the rules of an account that are evaluated equally often on the same datasources.
type alike struct {
	dsType, sources   string
	intervalMS, rules int64
}

// loadOf returns the load of all rules that are on. Rules that are alike are matched once.
func loadOf(tx *db.Tx, account int64, datasources []datasource.Item) (all load, err error) {
	groups, err := db.All(tx, func(scan db.Scan) (a alike, err error) {
		return a, scan(&a.dsType, &a.sources, &a.intervalMS, &a.rules)
	}, `SELECT ds_type, sources, interval_ms, count(*) FROM alert_rule WHERE account_id = $1 AND enabled
		GROUP BY ds_type, sources, interval_ms`, account)
	if err != nil {
		return all, err
	}
	for _, g := range groups {
		var s Sources
		if err := json.Unmarshal([]byte(g.sources), &s); err != nil {
			return all, err
		}
		all = all.plus(loadFor(g.rules, s.count(g.dsType, datasources), float64(g.intervalMS)/1000), 1)
	}
	return all, nil
}

// own returns the load of one rule.
func (r *Rule) own(datasources []datasource.Item) load {
	schedule, err := evaluate.ParseSchedule(r.CronPattern)
	if err != nil || !r.On() { // the zero rule has no pattern, others were checked
		return load{}
	}
	return loadFor(1, r.count(r.DSType, datasources), schedule.Interval().Seconds())
}

// count returns how many datasources of a type the sources name, those too that are off.
func (s *Sources) count(dsType string, datasources []datasource.Item) (n int64) {
	for i := range datasources {
		if s.match(dsType, &datasources[i]) {
			n++
		}
	}
	return n
}

// checkLoad returns a fault if a rule matches more datasources than it may, or if it costs more than before and the rules of
// the account together more than they may.
func (s *scope) checkLoad(r *Rule, before *Rule) error {
	if n := r.count(r.DSType, s.datasources); n > maxMatched {
		return fault.Invalid("ds_list", "must match at most %d datasources, matches %d", maxMatched, n)
	}
	now, was := r.own(s.datasources), before.own(s.datasources)
	all := s.load.plus(now, 1).plus(was, -1)
	switch {
	case now.watches > was.watches && all.watches > maxWatches:
		return fault.Invalid("ds_list", "the account's rules would have %d datasources, each counted for each rule that it is evaluated on,"+
			" and may have %d", all.watches, maxWatches)
	case now.rate > was.rate && all.rate > maxEvaluations:
		return fault.Invalid("cron_pattern", "the account's rules would be evaluated %.0f times a second, and may be %d times",
			all.rate, maxEvaluations)
	}
	return nil
}
