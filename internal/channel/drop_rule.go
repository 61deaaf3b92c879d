package channel

import (
	"tocsin/internal/check"
	"tocsin/internal/db"
	"tocsin/internal/filter"
	"tocsin/internal/object"
	"tocsin/internal/reference"
)

// DropRule throws matching events away before they become alerts; the first that matches does. Its
// address says "unsubscribe", the older name.
type DropRule struct {
	Rule
	Filters filter.Filter `json:"filters" doc:"What it applies to: groups joined by OR, the conditions of a group by AND."`
}

// Drops is how drop rules are kept.
var Drops = object.Kind[DropRule]{
	Name: reference.Drop, Section: "drop_rules",
	Head:     func(r *DropRule) object.Head { return r.head() },
	CheckAll: checkAll[DropRule],
	Check: func(tx *db.Tx, at check.At, account int64, r *DropRule) error {
		r.normal(account)
		return check.First(r.Rule.check(tx, at, account), checkFilters(at, "filters", r.Filters, true))
	},
}
