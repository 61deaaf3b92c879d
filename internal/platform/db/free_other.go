//go:build !linux

package db

// Free returns -1: on this system it is not known how much the disk still takes.
func (d *DB) Free() int64 { return -1 }
