// Package preference stores how persons want to be notified: by which methods for each severity, and their quiet hours.
//
// It must never suppress a notification: quiet hours delay it, and a person without a method that works gets an e-mail.
package preference

import (
	"tocsin/internal/module"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/secret"
)

// Module returns the package's operations, resealing of secrets and sections of an account file.
func (r *Service) Module() module.Module {
	return module.Module{
		Name:     "preference",
		Ops:      r.Ops(),
		Reseal:   []func(*db.Tx, secret.Renew) (int, error){Kind.Reseal},
		Sections: []string{"preferences"},
	}
}
