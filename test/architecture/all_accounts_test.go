package architecture

import (
	"go/ast"
	"testing"
)

// waits are the functions that may lock all accounts, and why.
var waits = map[string]string{
	"app.FirstStart":              "the first account is made if there is none",
	"app.Release":                 "what waits in all accounts is settled before anything is sent",
	"app.complete":                "an older database is completed at the start, which is done once",
	"sealkey.Rotate":              "secrets of all accounts are sealed again",
	"sealkey.RenewAll":            "secrets of all accounts are sealed again",
	"sealkey.used":                "secrets of all accounts are counted at a start with keys that may be wrong",
	"platform/db.beginFilling":    "an empty database is filled, which no server uses",
	"platform/copydb.fill":        "likewise",
	"platform/copydb.write":       "likewise",
	"platform/db.ChangedByOthers": "the embedded engine has one writer",
}

// A write of all accounts makes every one of them wait on every node. What knows its account uses WriteOf; what is about no
// account WriteOf(NoAccount).
func TestWhoLocksAllAccounts(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range sources(t) {
		for _, f := range s.files {
			for _, d := range f.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if !ok || fn.Body == nil {
					continue
				}
				place := s.name + "." + fn.Name.Name
				ast.Inspect(fn.Body, func(n ast.Node) bool {
					method, ok := n.(*ast.SelectorExpr)
					if !ok || s.info.Selections[method] == nil || s.info.Selections[method].Obj().String() != locksAll {
						return true
					}
					seen[place] = true
					if waits[place] == "" {
						t.Errorf("%s: %s locks all accounts: use WriteOf, or add it to the list with the reason", s.at(method), place)
					}
					return true
				})
			}
		}
	}
	for place := range waits {
		if !seen[place] {
			t.Errorf("%s does not lock all accounts: take it out of the list", place)
		}
	}
}

const locksAll = "func (*tocsin/internal/platform/db.DB).Write(ctx context.Context, fn func(*tocsin/internal/platform/db.Tx) error) error"
