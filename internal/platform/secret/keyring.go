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

// Keyring seals and opens secrets under a key ring. It is safe for concurrent use, and several processes may share one
// key ring file. What becomes of the file while the program runs stops neither: the keys in memory are kept.
type Keyring struct {
	path string // "" if the ring came from text
	now  func() time.Time

	mu      sync.Mutex
	ring    ring
	checked time.Time // when Seal or Check last read the file for a newer key
	sought  time.Time // when Open last read the file for an unknown key
	err     error     // why the file is not what is used; nil: it is
	other   ring      // what the file had instead of the key in use; nil: nothing else
	refused bool      // other is known to be wrong
}

// Open returns a keyring whose keys are in the file at path. It creates the file
// with one new key if there is none; its directory must exist. A file that
// group or others can read is an error. now returns the time; it only limits
// how often the file is read again.
func Open(path string, now func() time.Time) (*Keyring, error) {
	r, err := read(path)
	if errors.Is(err, fs.ErrNotExist) {
		err = create(path, ring(nil).with())
		if err == nil {
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

// KeyIDs returns the ids of the keyring's keys, newest first.
func (b *Keyring) KeyIDs() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.ring.ids()
}

// Format keeps the keys out of anything that a keyring is printed to.
func (b *Keyring) Format(s fmt.State, _ rune) { fmt.Fprint(s, "secret.Keyring") }

// newest returns the key to seal under. A file that cannot be read leaves the key in memory: all other secrets need that
// key as well, so the program does not start without it. It is an error while the file has other keys that nothing is
// known about: they may come from a rotation that this process has missed, and the secret would be lost with it.
func (b *Keyring) newest() (key, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.refresh(&b.checked)
	if b.other != nil && !b.refused {
		return key{}, b.err
	}
	return b.ring[0], nil
}

// find returns the key to open with, nil if the ring has none of this id. It reads the file again only for a key that it
// does not know. An error means that the file may have the key.
func (b *Keyring) find(id string) (*key, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if k := b.ring.find(id); k != nil {
		return k, nil
	}
	b.refresh(&b.sought)
	if k := b.ring.find(id); k != nil {
		return k, nil
	}
	if k := b.other.find(id); k != nil && !b.refused {
		return k, nil
	}
	return nil, b.err
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
	b.use(r)
	return nil
}
