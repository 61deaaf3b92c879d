package app

import (
	"github.com/prometheus/client_golang/prometheus"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/secret"
	"tocsin/internal/sealkey"
)

// offline returns the modules of a program that has no database and no keys.
func offline(c Config) *App {
	a := &App{Config: c, metrics: prometheus.NewRegistry()}
	a.assemble(nil, nil, nil)
	return a
}

// SealKeys returns the source of the keys that seal the stored secrets of the configured database. Its Reseal works before there is
// a program, so it asks the modules of a program without a database.
func (c Config) SealKeys() sealkey.Source {
	s := sealkey.Source{DB: c.DB, File: c.SealKeyFile, Text: c.SealKey, New: c.NewSealKey, Reseal: func(tx *db.Tx, renew secret.Renew) error {
		for _, m := range offline(c).Modules {
			for _, each := range m.Reseal {
				if _, err := each(tx, renew); err != nil {
					return err
				}
			}
		}
		return nil
	}}
	if c.Clock != nil {
		s.Now = c.Clock.Now
	}
	return s
}
