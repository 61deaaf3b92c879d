package alertrule

import (
	"github.com/go-json-experiment/json"

	"tocsin/internal/configstore"
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

// checkCounts returns a fault if the account or a folder has more rules than it may, after some were stored.
func checkCounts(tx *db.Tx, account, folder int64) error {
	all, in, err := counts(tx, account, folder)
	switch {
	case err != nil:
		return err
	case all > maxRules:
		return fault.New(fault.Conflict, "an account has at most %d alert rules, and would have %d", maxRules, all)
	case in > maxInFolder:
		return fault.New(fault.Conflict, "a folder has at most %d alert rules, and folder %d would have %d", maxInFolder, folder, in)
	}
	return nil
}

func counts(tx *db.Tx, account, folder int64) (all, in int64, err error) {
	all, _, err = db.One(tx, db.Column[int64], `SELECT count(*) FROM alert_rule WHERE account_id = $1`, account)
	if err != nil {
		return 0, 0, err
	}
	in, _, err = db.One(tx, db.Column[int64], `SELECT count(*) FROM alert_rule WHERE account_id = $1 AND folder_id = $2`, account, folder)
	return all, in, err
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
	watches int64
	perHour float64 // evaluations
}

// alike are the rules of an account that are evaluated equally often on the same datasources.
type alike struct {
	dsType, sources   string
	intervalMS, rules int64
}

// loadOf returns the load of all rules that are on. Rules that are alike are matched once.
func loadOf(tx *db.Tx, account int64, datasources []datasource.Item) (l load, err error) {
	groups, err := db.All(tx, func(scan db.Scan) (a alike, err error) {
		return a, scan(&a.dsType, &a.sources, &a.intervalMS, &a.rules)
	}, `SELECT ds_type, sources, interval_ms, count(*) FROM alert_rule WHERE account_id = $1 AND enabled
		GROUP BY ds_type, sources, interval_ms`, account)
	if err != nil {
		return l, err
	}
	for _, g := range groups {
		var s Sources
		if err := json.Unmarshal([]byte(g.sources), &s); err != nil {
			return l, err
		}
		watches := g.rules * int64(len(s.matching(g.dsType, datasources)))
		l.watches += watches
		l.perHour += float64(watches) * 3_600_000 / float64(max(g.intervalMS, 1))
	}
	return l, nil
}

// own returns the load of one rule.
func (r *Rule) own(datasources []datasource.Item) (l load) {
	if !r.On() {
		return l
	}
	l.watches = int64(len(r.matching(r.DSType, datasources)))
	if schedule, err := evaluate.ParseSchedule(r.CronPattern); err == nil { // checked before
		l.perHour = float64(l.watches) * 3600 / schedule.Interval().Seconds()
	}
	return l
}

// matching returns the datasources of a type that the sources name, those too that are off.
func (s *Sources) matching(dsType string, datasources []datasource.Item) (list []datasource.Item) {
	for i := range datasources {
		if s.match(dsType, &datasources[i]) {
			list = append(list, datasources[i])
		}
	}
	return list
}

// checkLoad returns a fault if a rule that was stored matches more datasources than it may, or if it costs more than before
// and the rules of the account together more than they may.
func (r *Rule) checkLoad(tx *db.Tx, before load, datasources []datasource.Item) error {
	now := r.own(datasources)
	if now.watches > maxMatched {
		return fault.Invalid("ds_list", "must match at most %d datasources, matches %d", maxMatched, now.watches)
	}
	if now.watches <= before.watches && now.perHour <= before.perHour {
		return nil
	}
	all, err := loadOf(tx, r.AccountID, datasources)
	switch {
	case err != nil:
		return err
	case all.watches > maxWatches:
		return fault.Invalid("ds_list", "an account's rules are evaluated on at most %d datasources together, each counted for each rule, and would be on %d",
			maxWatches, all.watches)
	case all.perHour > maxEvaluations*3600:
		return fault.Invalid("cron_pattern", "an account's rules are evaluated at most %d times a second together, and would be %.0f times",
			maxEvaluations, all.perHour/3600)
	}
	return nil
}

// checkNamed returns a fault if the rule names a datasource that the account does not have, or of another type.
func (r *Rule) checkNamed(at configstore.RecordPath, datasources []datasource.Item) error {
	types := map[uint64]string{}
	for _, d := range datasources {
		types[d.ID] = d.TypeIdent
	}
	for i, id := range r.DSIDs {
		switch t := types[id]; t {
		case r.DSType:
		case "":
			return at.Element("ds_ids", i).Invalid("", "datasource %d does not exist", id)
		default:
			return at.Element("ds_ids", i).Invalid("", "datasource %d is of type %s, not %s", id, t, r.DSType)
		}
	}
	return nil
}
