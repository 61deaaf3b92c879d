// Package module defines what a package adds to the program: one value with its operations, its background jobs and
// everything that the program does with all packages alike. internal/app has one list of modules and ranges over it, so
// a package cannot be known to one part of the program and missing in another.
//
// It must never depend on the packages that use it, nor do anything itself.
package module

import (
	"time"

	"tocsin/internal/activity"
	"tocsin/internal/api"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/jobs"
	"tocsin/internal/platform/secret"
)

// Module is a package's part in the program. All members but the name may be left out.
type Module struct {
	Name     string // the package's path below internal
	Ops      []api.Op
	Jobs     []jobs.Job
	Handle   func(*db.Tx, activity.Item) error             // subscribes to domain events
	Handles  func(*db.Tx, []activity.Item) error           // likewise, to events of one account that come together
	Reseal   []func(*db.Tx, secret.Renew) (int, error)     // pass stored secrets through a function and count them
	Prune    []Retention                                   // of rows that grow with what happens
	Complete func(*db.Tx, *secret.Keyring) error           // does for older databases what migrations cannot
	Overdue  func(*db.Tx, time.Time) (jobs.Overdue, error) // counts the work that is due and not done
	Sends    bool                                          // its work waits while the server is held
	Release  func(*db.Tx, time.Time) error                 // settles what must not be sent when a held server is released
	Gauges   []Gauge                                       // read from the database when metrics are collected
	Sections []string                                      // of an account file: what an export holds of the package
	Records  []string                                      // names of audit entries that are not of operations
}

// Gauge is a metric that is read from the database whenever metrics are collected: often, so its queries must be cheap
// however much has happened.
type Gauge struct {
	Name, Help string
	Labels     []string
	Read       func(tx *db.Tx, now time.Time) ([]Sample, error)
}

// Sample is one value of a gauge, with the values of its labels.
type Sample struct {
	Value  float64
	Labels []string
}

// Retention deletes rows that are older than a period, a batch at a time. Of deletes those of an account while no one else
// writes it. Prune deletes those of all accounts beside their writes: it is for rows that are only inserted, or that no
// write reads once they are so old. Tables are those of which the database may drop whole parts first.
type Retention struct {
	Period Period
	Prune  func(tx *db.Tx, before time.Time) (more bool, err error)
	Of     func(tx *db.Tx, account int64, before time.Time) (more bool, err error)
	Tables []db.Droppable
}

// Period names a configured number of days, after which rows are deleted.
type Period int

// The periods.
const (
	Deliveries Period = iota // of webhooks
	Audit                    // entries of the audit log
	Events                   // with their verdicts and notifications; changes
	Dropped                  // verdicts on events that became no part of an alert
	Incidents                // closed ones, and ended alerts, with their feeds
	Ended                    // no days: what carries its own end is deleted when that is past
)
