package db

import "golang.org/x/sys/unix"

// Free returns how many bytes the disk of the database still takes; -1: not known.
func (d *DB) Free() int64 {
	var s unix.Statfs_t
	if unix.Statfs(d.path, &s) != nil {
		return -1
	}
	return int64(s.Bavail) * s.Bsize
}
