package secret

import (
	"bytes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/crypto/chacha20poly1305"

	"tocsin/internal/platform/id"
)

// header explains the file to its reader.
const header = `# The keys under which secrets in the database are sealed, newest first: ID KEY
# Without them those secrets are lost. Keep a copy, apart from copies of the database.
`

var keyID = regexp.MustCompile(`\A[0-9A-Za-z_-]{1,32}\z`)

// ring holds keys, newest first. A ring is never changed in place.
type ring []key

type key struct {
	id     string
	secret []byte
	aead   cipher.AEAD
}

// with returns the ring with a new random key in front.
func (r ring) with() ring {
	name := id.Token(4)
	for r.find(name) != nil {
		name = id.Token(4)
	}
	secret := make([]byte, chacha20poly1305.KeySize)
	rand.Read(secret)
	return append(ring{makeKey(name, secret)}, r...)
}

// without returns the ring without the named keys. The newest cannot be deleted:
// it is in use.
func (r ring) without(ids []string) (ring, error) {
	for _, id := range ids {
		if r.find(id) == nil {
			return nil, fmt.Errorf("key %s is not in the key ring", id)
		}
		if id == r[0].id {
			return nil, fmt.Errorf("key %s is the newest and in use: rotate first", id)
		}
	}
	return slices.DeleteFunc(slices.Clone(r), func(k key) bool { return slices.Contains(ids, k.id) }), nil
}

func (r ring) find(id string) *key {
	for i := range r {
		if r[i].id == id {
			return &r[i]
		}
	}
	return nil
}

// has reports whether the ring has the key: the same id with the same secret.
func (r ring) has(k key) bool {
	found := r.find(k.id)
	return found != nil && bytes.Equal(found.secret, k.secret)
}

// continues reports whether the ring may follow another one in a rotation: it still has the key that is in use, and no
// key has changed under its id.
func (r ring) continues(before ring) bool {
	changed := func(k key) bool { return r.find(k.id) != nil && !r.has(k) }
	return r.has(before[0]) && !slices.ContainsFunc(before, changed)
}

// same reports whether two rings have the same keys in the same order.
func (r ring) same(other ring) bool {
	return slices.EqualFunc(r, other, func(a, b key) bool { return a.id == b.id && bytes.Equal(a.secret, b.secret) })
}

func (r ring) ids() []string {
	ids := make([]string, len(r))
	for i, k := range r {
		ids[i] = k.id
	}
	return ids
}

func (r ring) format() []byte {
	b := []byte(header)
	for _, k := range r {
		b = fmt.Appendf(b, "%s %s\n", k.id, base64.StdEncoding.EncodeToString(k.secret))
	}
	return b
}

// parse reads the text form of a ring. Its errors name the line and never quote
// it, because it may hold a key.
func parse(s string) (ring, error) {
	var r ring
	n := 0
	for line := range strings.Lines(s) {
		n++
		words := strings.Fields(line)
		if len(words) == 0 || words[0][0] == '#' {
			continue
		}
		k, ok := parseKey(words)
		if !ok {
			return nil, fmt.Errorf("%w: line %d: want an id of 1 to 32 letters, digits, _ or -, a space, and a key of %d bytes in base64",
				ErrMalformed, n, chacha20poly1305.KeySize)
		}
		if r.find(k.id) != nil {
			return nil, fmt.Errorf("%w: line %d: its key id occurs twice", ErrMalformed, n)
		}
		r = append(r, k)
	}
	if r == nil {
		return nil, fmt.Errorf("%w: it has no key", ErrMalformed)
	}
	return r, nil
}

func parseKey(words []string) (k key, ok bool) {
	if len(words) != 2 || !keyID.MatchString(words[0]) {
		return key{}, false
	}
	secret, err := base64.StdEncoding.Strict().DecodeString(words[1])
	if err != nil || len(secret) != chacha20poly1305.KeySize {
		return key{}, false
	}
	return makeKey(words[0], secret), true
}

func makeKey(id string, secret []byte) key {
	aead, err := chacha20poly1305.NewX(secret)
	if err != nil {
		panic(err) // only for another key length, which the callers exclude
	}
	return key{id: id, secret: secret, aead: aead}
}
