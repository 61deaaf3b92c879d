package architecture

import (
	"context"
	"fmt"
	"go/ast"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"tocsin/internal/app"
	"tocsin/internal/module"
	"tocsin/internal/platform/clock"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/db/dbtest"
)

// program assembles the program on an empty database.
func program(t *testing.T) (*app.App, map[string]module.Module) {
	t.Helper()
	a, err := app.New(t.Context(), app.Config{
		DB: dbtest.Migrated(t), SealKeyFile: filepath.Join(t.TempDir(), "tocsin.key"), Clock: clock.System, Log: slog.New(slog.DiscardHandler), Version: "test",
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close() })
	modules := map[string]module.Module{}
	for _, m := range a.Modules {
		modules[m.Name] = m
	}
	return a, modules
}

// Each package that has a module is in the program's list, once and under its own name.
func TestEveryModuleIsListed(t *testing.T) {
	a, modules := program(t)
	if len(modules) != len(a.Modules) {
		t.Errorf("%d of %d modules have a name of their own", len(modules), len(a.Modules))
	}
	for _, p := range packages(t) {
		inspect(t, p.Dir, func(file string, n ast.Node) {
			if f, ok := n.(*ast.FuncDecl); ok && f.Name.Name == "Module" {
				if _, listed := modules[p.name()]; !listed {
					t.Errorf("%s has a module that internal/app does not list", p.name())
				}
				delete(modules, p.name())
			}
		})
	}
	for name := range modules {
		t.Errorf("no package %s has a module", name)
	}
}

// An operation is served only if it is in a module, so a package with a table of operations has one; and so have
// packages whose functions have the names of a module's members.
func TestWhatModuleHoldsIsInIt(t *testing.T) {
	_, modules := program(t)
	for _, p := range packages(t) {
		inspect(t, p.Dir, func(file string, n ast.Node) {
			f, ok := n.(*ast.FuncDecl)
			if !ok || p.name() == "api" || p.name() == "configstore" || strings.HasPrefix(p.name(), "platform/") {
				return
			}
			m := modules[p.name()]
			has, known := map[string]bool{
				"Ops": m.Ops != nil, "Job": m.Jobs != nil, "Jobs": m.Jobs != nil, "Handle": m.Handle != nil || m.Handles != nil, "Reseal": m.Reseal != nil, "Prune": m.Prune != nil,
				"Complete": m.Complete != nil, "Overdue": m.Overdue != nil, "Load": m.Sections != nil, "Dump": m.Sections != nil,
			}[f.Name.Name]
			if known && !has {
				t.Errorf("%s: %s is not in the package's module", file, f.Name.Name)
			}
		})
	}
}

// unsealed lists the packages that seal secrets and reseal none, with the reason.
var unsealed = map[string]string{
	"configstore": "it seals for the kinds of objects, whose packages reseal them",
	"signin":      "it seals what browsers keep, which loses its use with the key",

	"engine/evaluator/remote": "it seals to the key of an edge",
	"engine/monitor":          "it seals to the key of an edge",
}

// A package that seals secrets seals them again when the keys rotate: else they are lost with the old key.
func TestWhoSealsReseals(t *testing.T) {
	_, modules := program(t)
	for _, p := range packages(t) {
		if strings.HasPrefix(p.name(), "platform/") || unsealed[p.name()] != "" {
			continue
		}
		inspect(t, p.Dir, func(file string, n ast.Node) {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return
			}
			if s, ok := call.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "Seal" && modules[p.name()].Reseal == nil {
				t.Errorf("%s calls Seal, and the package's module has no Reseal", file)
			}
		})
	}
}

// unpruned lists the growing tables that no retention empties, with the reason.
var unpruned = map[string]string{
	"webhook_count":     "retention subtracts what it deletes of the deliveries, and deletes counts of zero",
	"webhook_count_day": "likewise",
	"sign_in_state":     "a job deletes rows every minute when their sign-in would have ended; TestKeptStateWorksOnce of test/oidc holds it",
	"sign_in_attempt":   "a job deletes rows every minute, two minutes after they were stored; TestAttemptsArePruned of signin holds it",
	"event_waiting":     "each row is deleted when its event has been decided",
	"webhook_event":     "each row is deleted when it has been matched, a moment after it was stored",
}

// values are what rows hold that retention looks at, where one and x will not do.
var values = map[string]string{
	"incident.progress": "'Closed'", "webhook_delivery.status": "'success'", "untold.incident_id": "''", "event_waiting.event_id": "'y'", "event.event_id": "'0'",
	"audit_log.audit_id": "'0'", "rule_transition.transition_id": "'0'", "audit_touched.audit_id": "'0'", "audit_channel.audit_id": "'0'",
}

// A table that grows is emptied by the retention of some module. Each gets a row whose times are long past and whose
// ids are all the same, so that rows refer to each other; then all modules prune.
func TestGrowingTablesHaveRetention(t *testing.T) {
	a, _ := program(t)
	if _, err := a.FirstStart(t.Context(), "UTC"); err != nil {
		t.Fatal(err)
	}
	write := func(fn func(*db.Tx) error) {
		t.Helper()
		if err := a.DB.Write(context.Background(), fn); err != nil {
			t.Fatal(err)
		}
	}
	var account int64
	write(func(tx *db.Tx) (err error) {
		account, _, err = db.One(tx, db.Column[int64], `SELECT account_id FROM account`)
		if err != nil {
			return err
		}
		if err := dbtest.Unordered(tx); err != nil {
			return err
		}
		for _, table := range growing {
			if err := addRow(tx, table, account); err != nil {
				return err
			}
		}
		return nil
	})
	now := clock.System.Now()
	for _, m := range a.Modules {
		for _, kept := range m.Prune {
			for more := true; more; {
				write(func(tx *db.Tx) (err error) {
					if kept.Of != nil {
						more, err = kept.Of(tx, account, now)
					} else {
						more, err = kept.Prune(tx, now)
					}
					return err
				})
			}
		}
	}
	write(func(tx *db.Tx) error {
		for _, table := range growing {
			left, _, err := db.One(tx, db.Column[int64], `SELECT count(*) FROM "`+table+`"`)
			if err != nil {
				return err
			}
			if excused := unpruned[table] != ""; (left == 0) == excused {
				t.Errorf("%s: %d old rows are left after all modules have pruned; is it excused: %t", table, left, excused)
			}
		}
		return nil
	})
}

// addRow stores a row of ones and x.
func addRow(tx *db.Tx, table string, account int64) error {
	columns, err := dbtest.Columns(tx, table)
	if err != nil {
		return err
	}
	var names, row []string
	for _, c := range columns {
		value := "'x'"
		switch {
		case c.Name == "account_id":
			value = fmt.Sprint(account)
		case values[table+"."+c.Name] != "":
			value = values[table+"."+c.Name]
		case c.Type == "BOOLEAN":
			value = "TRUE"
		case c.Type != "TEXT":
			value = "1"
		}
		names, row = append(names, c.Name), append(row, value)
	}
	_, err = tx.Exec(`INSERT INTO "` + table + `" (` + strings.Join(names, ", ") + `) VALUES (` + strings.Join(row, ", ") + `)`)
	if err != nil {
		err = fmt.Errorf("%s: %w", table, err)
	}
	return err
}

// A table with rows that are due at a moment is watched: rows that are not worked off show at /health/ready.
func TestDueRowsAreWatched(t *testing.T) {
	a, modules := program(t)
	due := map[string]bool{}
	err := a.DB.Read(t.Context(), func(tx *db.Tx) error {
		tables, err := dbtest.Tables(tx)
		if err != nil {
			return err
		}
		for _, table := range tables {
			columns, err := dbtest.Columns(tx, table)
			if err != nil {
				return err
			}
			for _, c := range columns {
				due[table] = due[table] || c.Name == "due_at" || c.Name == "next_at"
			}
		}
		for _, index := range outstanding {
			if index == "rum_issue_incomplete" { // worked off before the program serves: rum.Complete
				continue
			}
			table, found, err := dbtest.TableOf(tx, index)
			if err != nil || !found {
				return fmt.Errorf("index %s: found %t, %w", index, found, err)
			}
			due[table] = true
		}
		maps.DeleteFunc(due, func(_ string, is bool) bool { return !is })
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range slices.Sorted(maps.Keys(due)) {
		if modules[owners[table]].Overdue == nil {
			t.Errorf("%s has rows that are due, and the module of %s does not count those that are overdue", table, owners[table])
		}
	}
}
