package sqlite

import "golang.org/x/sys/unix"

// freeSpace returns how many bytes the disk of a file still takes; -1: not known.
func freeSpace(path string) int64 {
	var s unix.Statfs_t
	if unix.Statfs(path, &s) != nil {
		return -1
	}
	return int64(s.Bavail) * s.Bsize
}
