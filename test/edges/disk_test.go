package edges

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// disk is the directory of an edge: a small file system where the tests may mount one.
type disk struct {
	dir   string
	small bool
}

const diskSize = "8m"

func newDisk(t *testing.T) *disk {
	t.Helper()
	d := &disk{dir: t.TempDir()}
	if syscall.Mount("tmpfs", d.dir, "tmpfs", 0, "size="+diskSize) == nil {
		d.small = true
		t.Cleanup(func() {
			if err := syscall.Unmount(d.dir, syscall.MNT_DETACH); err != nil {
				t.Error(err)
			}
		})
	}
	return d
}

// fill fills the file system. Without one of its own the process may write to no file: below the length of its journal it would write a
// shorter one in its place, and go on.
func (d *disk) fill(process *os.Process) error {
	if !d.small {
		return limit(process, 0)
	}
	file, err := os.Create(filepath.Join(d.dir, "filler"))
	if err != nil {
		return err
	}
	for block := make([]byte, 1000); ; {
		_, err := file.Write(block)
		if errors.Is(err, syscall.ENOSPC) {
			return file.Close()
		}
		if err != nil {
			return errors.Join(err, file.Close())
		}
	}
}

func (d *disk) free(process *os.Process) error {
	if !d.small {
		return limit(process, unix.RLIM_INFINITY)
	}
	return os.Remove(filepath.Join(d.dir, "filler"))
}

// limit sets how long files of a process may become.
func limit(process *os.Process, size uint64) error {
	return unix.Prlimit(process.Pid, unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: size, Max: unix.RLIM_INFINITY}, nil)
}
