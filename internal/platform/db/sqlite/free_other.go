//go:build !linux

package sqlite

// freeSpace returns -1: on this system it is not known how much the disk still takes.
func freeSpace(string) int64 { return -1 }
