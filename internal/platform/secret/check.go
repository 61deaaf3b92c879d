package secret

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"tocsin/internal/platform/redact"
)

// The kinds of trouble with the file, besides those of the file system.
var (
	ErrExposed   = errors.New("others than its owner have access")
	ErrMalformed = errors.New("it holds no valid keys")
	ErrOtherKeys = errors.New("it has other keys than those in use")
)

// Trouble returns why the file is not what the keyring uses, as of the last time that it was read; nil: it is. The keys
// in memory are used meanwhile.
func (b *Keyring) Trouble() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err
}

// Check reads the file again if it was not read within the last second. If it has other keys than those in use, right
// decides, by their fingerprints, whether stored secrets are sealed under them: then they are used, otherwise the keys in
// memory are kept. right is asked once about the same keys. A program calls Check more than once a second, so that no key
// of a rotation is missed.
func (b *Keyring) Check(right func(fingerprints map[string]string) (bool, error)) error {
	other := b.unjudged()
	if other == nil {
		return nil
	}
	prints, err := other.fingerprints()
	if err != nil {
		return err
	}
	is, err := right(prints) // without the lock: it waits for the database, whose readers may wait for a key
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case !b.other.same(other): // the file has changed meanwhile
	case is:
		b.use(other)
	default:
		b.refused = true
	}
	return nil
}

// unjudged returns the other keys that the file has and that nothing is known about; nil: none.
func (b *Keyring) unjudged() ring {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.refresh(&b.checked)
	if b.refused {
		return nil
	}
	return b.other
}

// use makes a ring the one that is used.
func (b *Keyring) use(r ring) {
	b.ring, b.err = r, nil
	b.other, b.refused = nil, false
}

// refresh reads the file again, unless it was read less than maxAge ago for the same purpose.
func (b *Keyring) refresh(last *time.Time) {
	if b.path == "" {
		return
	}
	now := b.now()
	if since := now.Sub(*last); since >= 0 && since < maxAge {
		return
	}
	*last = now
	r, err := read(b.path)
	switch {
	case err != nil:
		b.err = fmt.Errorf("key ring: %w", err)
	case r.continues(b.ring):
		b.use(r)
	default:
		b.err = fmt.Errorf("key ring: %s: %w", b.path, ErrOtherKeys)
		if !r.same(b.other) {
			b.other, b.refused = r, false
		}
	}
}

// secretive are parts of names under which chats have addresses, and requests what signs them in.
var secretive = []string{"url", "uri", "hook", "header", "param"}

// Secretive reports whether a member of a free-form object may hold a credential. It goes by the name, or by a URL in
// the text, because knowing the address of a webhook is enough to post to the chat. Text that looks sealed counts as
// well: once stored, no text but a sealed one may look so. A reference to a secret stored elsewhere never counts.
func Secretive(name, text string) bool {
	if text == "" || IsReference(text) {
		return false
	}
	name = strings.ToLower(name)
	return redact.Hides(name) || slices.ContainsFunc(secretive, func(part string) bool { return strings.Contains(name, part) }) ||
		strings.Contains(text, "://") || IsSealed(text)
}
