package channel

import (
	"tocsin/internal/configstore"
	"tocsin/internal/core/filter"
	"tocsin/internal/platform/db"
)

// DropRule throws matching events away before they become alerts; the first that matches does. Its
// address says "unsubscribe", the older name.
type DropRule struct {
	Rule
	Filters filter.Filter `json:"filters" doc:"What it applies to: groups joined by OR, the conditions of a group by AND."`
}

// Drops is how drop rules are kept.
var Drops = configstore.Kind[DropRule]{
	Name: configstore.Drop, Section: "drop_rules",
	Head:     func(r *DropRule) configstore.Head { return r.head() },
	CheckAll: checkAll[DropRule],
	Check: func(tx *db.Tx, at configstore.RecordPath, account int64, r *DropRule) error {
		r.normal(account)
		return configstore.FirstError(r.Rule.check(tx, at, account), checkFilters(at, "filters", r.Filters, true))
	},
}
