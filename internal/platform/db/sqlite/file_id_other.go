//go:build !linux

package sqlite

import "tocsin/internal/platform/db/driver"

// fileID returns no identity: on this system a copy is not recognised.
func fileID(string) (driver.FileID, error) { return driver.FileID{}, nil }
