package secret

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"
)

// maxAge is how long a keyring uses the keys it has read before it reads the file again.
const maxAge = time.Second

// Keyring seals and opens secrets under a key ring. It is safe for concurrent use,
// and several processes may share one key ring file.
type Keyring struct {
	path string // "" if the ring came from text
	now  func() time.Time

	mu      sync.Mutex
	ring    ring
	checked time.Time // when Seal last read the file for a newer key
	sought  time.Time // when Open last read the file for an unknown key
	err     error     // of the last read of the file
}

// Open returns a keyring whose keys are in the file at path. It creates the file
// with one new key if there is none; its directory must exist. A file that
// group or others can read is an error. now returns the time; it only limits
// how often the file is read again.
func Open(path string, now func() time.Time) (*Keyring, error) {
	r, err := read(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err = create(path, ring(nil).with()); err == nil {
			r, err = read(path)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("seal: key ring: %w", err)
	}
	at := now()
	return &Keyring{path: path, now: now, ring: r, checked: at, sought: at.Add(-maxAge)}, nil
}

// FromText returns a keyring from text in the form of the file, as a secret
// store or the environment holds it: lines of an id, a space and a key of 32
// bytes in base64, newest first. Such a ring is rotated where it comes from.
func FromText(s string) (*Keyring, error) {
	r, err := parse(s)
	if err != nil {
		return nil, fmt.Errorf("seal: key ring: %w", err)
	}
	return &Keyring{ring: r}, nil
}

// Rotate adds a new key to the file and returns its id. Every later Seal uses
// it; other processes that share the file use it at most a second later. To
// retire the older keys: rotate, wait for a second, seal every secret again
// (see KeyID), then Forget them.
func (b *Keyring) Rotate() (id string, err error) {
	err = b.change(func(r ring) (ring, error) { return r.with(), nil })
	if err != nil {
		return "", err
	}
	return b.KeyIDs()[0], nil
}

// Forget deletes keys from the file. Text that is still sealed under them is
// lost. It fails, and deletes none, if one of them is the newest or missing.
func (b *Keyring) Forget(ids ...string) error {
	return b.change(func(r ring) (ring, error) { return r.without(ids) })
}

// NewKey returns a new random key in the form of a line of the file.
func NewKey() string {
	k := ring(nil).with()[0]
	return k.id + " " + base64.StdEncoding.EncodeToString(k.secret)
}

// Refresh reads the file again if it was not read within the last second, as Seal does before it seals.
func (b *Keyring) Refresh() error {
	_, err := b.newest()
	return err
}

// KeyIDs returns the ids of the keyring's keys, newest first.
func (b *Keyring) KeyIDs() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.ring.ids()
}

// Format keeps the keys out of anything that a keyring is printed to.
func (b *Keyring) Format(s fmt.State, _ rune) { fmt.Fprint(s, "secret.Keyring") }

// newest returns the key to seal under. When the file cannot be read it returns
// an error: the known key may be gone from the file already, and the secret
// would be lost with this process.
func (b *Keyring) newest() (key, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.refresh(&b.checked); err != nil {
		return key{}, err
	}
	return b.ring[0], nil
}

// find returns the key to open with, nil if the ring has none of this id. It
// reads the file again only for a key that it does not know.
func (b *Keyring) find(id string) (*key, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	k := b.ring.find(id)
	if k == nil {
		if err := b.refresh(&b.sought); err != nil {
			return nil, err
		}
		k = b.ring.find(id)
	}
	return k, nil
}

// refresh reads the file again, unless it was read less than maxAge ago for the
// same purpose. Until then it returns the result of the last read.
func (b *Keyring) refresh(last *time.Time) error {
	if b.path == "" {
		return nil
	}
	now := b.now()
	if since := now.Sub(*last); since >= 0 && since < maxAge {
		return b.err
	}
	*last = now
	r, err := read(b.path)
	if err != nil {
		b.err = fmt.Errorf("key ring: %w", err)
		return b.err
	}
	b.ring, b.err = r, nil
	return nil
}

// change replaces the file by what f makes of its ring.
func (b *Keyring) change(f func(ring) (ring, error)) error {
	if b.path == "" {
		return errors.New("seal: the key ring was given as text and is changed where it comes from")
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	r, err := update(b.path, f)
	if err != nil {
		return fmt.Errorf("seal: key ring: %w", err)
	}
	b.ring, b.err = r, nil
	return nil
}
