package secret

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// maxFile is how much of the file is read, in bytes: far more than any key ring needs.
const maxFile = 1 << 20

// read returns the ring in the file at path.
func read(path string) (ring, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readFrom(f)
}

func readFrom(f *os.File) (ring, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if mode := info.Mode().Perm(); exposed(mode, ownerOf(info), os.Geteuid()) {
		return nil, fmt.Errorf("%s has mode %04o, so that %w: set it to 0600", f.Name(), mode, ErrExposed)
	}
	b, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return nil, err
	}
	r, err := parse(string(b))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name(), err)
	}
	return r, nil
}

// exposed reports whether a key file can be read or changed by others. Its group may read a file of another owner: so
// systemd and Kubernetes, whose mounted files belong to root, pass a secret on to the user of a service.
func exposed(mode fs.FileMode, owner, self int) bool {
	if owner != self {
		mode &^= 0o040
	}
	return mode&0o077 != 0
}

// ownerOf returns the user that owns a file.
func ownerOf(info fs.FileInfo) int {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(s.Uid)
	}
	return os.Geteuid()
}

// create writes a new file at path, whole or not at all. If another process has
// created it meanwhile, that file stays: unlike a rename, a link never replaces.
func create(path string, r ring) error {
	temp, err := writeTemp(path, r)
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(temp) }() // the second name of the file, or a leftover
	if err := os.Link(temp, path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncDir(path)
}

// update replaces the file at path by what f makes of its ring. One process at a
// time does so. At any time, and after a crash, the file is either the old one
// or the new one.
func update(path string, f func(ring) (ring, error)) (ring, error) {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	old, err := lock(path)
	if err != nil {
		return nil, err
	}
	defer old.Close() // releases the lock
	r, err := readFrom(old)
	if err != nil {
		return nil, err
	}
	r, err = f(r)
	if err != nil {
		return nil, err
	}
	temp, err := writeTemp(path, r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.Remove(temp) }() // there only if the rename was not reached
	if err := sameOwner(temp, old); err != nil {
		return nil, err
	}
	if err := os.Rename(temp, path); err != nil {
		return nil, err
	}
	return r, syncDir(path)
}

// lock opens the file at path and waits until no other process is replacing
// it. The lock is the kernel's and ends with the process, so that a crash leaves
// none behind.
func lock(path string) (*os.File, error) {
	for {
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			return nil, err
		}
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
			f.Close()
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		locked, lockedErr := f.Stat()
		current, currentErr := os.Stat(path)
		if err := errors.Join(lockedErr, currentErr); err != nil {
			f.Close()
			return nil, err
		}
		if os.SameFile(locked, current) {
			return f, nil
		}
		f.Close() // it was replaced while we waited: the lock is on the old one
	}
}

// writeTemp writes the ring to a file beside path that only the owner can
// read, down to the disk, and returns its name.
func writeTemp(path string, r ring) (name string, err error) {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return "", err
	}
	_, err = f.Write(r.format())
	err = errors.Join(err, f.Sync(), f.Close())
	if err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), nil
}

// sameOwner sets the owner of the file at name to that of f, because an
// administrator may rotate the keys of a service that runs as another user.
func sameOwner(name string, f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok || int(owner.Uid) == os.Geteuid() {
		return nil
	}
	return os.Chown(name, int(owner.Uid), int(owner.Gid))
}

// syncDir makes the name of the file at path as durable as its content.
func syncDir(path string) error {
	d, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
