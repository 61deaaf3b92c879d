package sqlite

import (
	"os"
	"time"

	"golang.org/x/sys/unix"

	"tocsin/internal/platform/db/driver"
)

// fileID reads the identity of a file. Not every file system stores when a file was created.
func fileID(path string) (driver.FileID, error) {
	var s unix.Statx_t
	if err := unix.Statx(unix.AT_FDCWD, path, 0, unix.STATX_INO|unix.STATX_BTIME, &s); err != nil {
		return driver.FileID{}, &os.PathError{Op: "statx", Path: path, Err: err}
	}
	id := driver.FileID{Inode: int64(s.Ino)}
	if s.Mask&unix.STATX_BTIME != 0 {
		id.Born = time.Unix(s.Btime.Sec, int64(s.Btime.Nsec)).UnixNano()
	}
	return id, nil
}
