// Package machine watches the machine that the program runs on: the room that is left for the database, and the file of the sealing
// keys. What is wrong is an alert of Tocsin's own, a line of the server's health and a metric.
//
// It must never stop the program: what is wrong may pass.
package machine

import (
	"log/slog"

	"tocsin/internal/engine/selfalert"
	"tocsin/internal/module"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/jobs"
	"tocsin/internal/platform/secret"
)

// Service watches. It holds the dependencies.
type Service struct {
	DB       *db.DB
	Keyring  *secret.Keyring
	KeyText  bool // the keys were given as text: there is no file
	Alerts   *selfalert.Service
	Log      *slog.Logger
	Host     string       // the name of the machine
	Measured func() int64 // what Free returns; nil: the database is asked
	MaxBytes int64        // how large a database on a server may become; 0: not known

	disk disk
	keys keyFile
}

// Module returns the package's jobs.
func (s *Service) Module() module.Module {
	m := module.Module{Name: "engine/machine", Jobs: []jobs.Job{s.diskJob()}}
	if !s.KeyText {
		m.Jobs = append(m.Jobs, s.keyFileJob())
	}
	return m
}

// Problems describes what is wrong; a text that is empty is none.
func (s *Service) Problems() []string { return []string{s.keys.problem(), s.disk.problem()} }

// KeyFile returns the kind of trouble with the key file; empty: none.
func (s *Service) KeyFile() string { return s.keys.state() }

// FullAt returns when the disk will be full, in Unix seconds; 0: not within a day.
func (s *Service) FullAt() int64 { return s.disk.fullAt() }
