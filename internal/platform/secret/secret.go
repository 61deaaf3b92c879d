// Package secret keeps secrets at rest: passwords, keys and tokens that the
// database stores but must not reveal to whoever gets hold of a copy of it.
//
// Sealed text is XChaCha20-Poly1305 under a key of a key ring that lives
// outside the database. It is bound to its context, so that text copied from
// one row or column to another does not open there. What it does not hide is
// the length of the secret, and which of two stored secrets is the newer one
// if the key changed in between.
//
// The package must never write a secret or a key anywhere but into its result
// and into the key ring, nor name one in an error.
package secret

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// version begins sealed text and says how the rest is made.
const version = "s1."

// text encodes the sealed bytes. Strict, so that no two texts mean the same.
var text = base64.RawURLEncoding.Strict()

// Seal encrypts plain under the newest key, for this context only: a path
// that names where the secret is stored, such as "datasource/12/password". The
// result is "s1.KEYID." and base64url of nonce and ciphertext. Two things stay
// as they are: the empty string, which is no secret, and a reference (see
// IsReference), which only names one. It fails only if the key ring's file has
// changed and cannot be read.
func (b *Keyring) Seal(plain, context string) (string, error) {
	if plain == "" || IsReference(plain) {
		return plain, nil
	}
	key, err := b.newest()
	if err != nil {
		return "", fmt.Errorf("seal: %s: %w", context, err)
	}
	nonce := make([]byte, key.aead.NonceSize(), key.aead.NonceSize()+len(plain)+key.aead.Overhead())
	rand.Read(nonce)
	sealed := key.aead.Seal(nonce, nonce, []byte(plain), bind(key.id, context))
	return version + key.id + "." + text.EncodeToString(sealed), nil
}

// Open decrypts what Seal returned for the same context. It fails if the text
// was not made by Seal, was changed by as little as one character, belongs to
// another context or was sealed under a key that the ring does not hold; the
// error names the context and the key, never the text.
func (b *Keyring) Open(sealed, context string) (string, error) {
	if sealed == "" || IsReference(sealed) {
		return sealed, nil
	}
	id, raw, ok := split(sealed)
	if !ok {
		return "", &lostError{context + ": not sealed text"}
	}
	key, err := b.find(id)
	if err != nil {
		return "", fmt.Errorf("seal: %s: %w", context, err)
	}
	if key == nil {
		return "", &lostError{context + ": the key ring has no key " + id}
	}
	if len(raw) < key.aead.NonceSize() {
		return "", &lostError{context + ": not sealed text"}
	}
	nonce, ciphertext := raw[:key.aead.NonceSize()], raw[key.aead.NonceSize():]
	plain, err := key.aead.Open(nil, nonce, ciphertext, bind(id, context))
	if err != nil {
		return "", &lostError{fmt.Sprintf("%s: altered, moved from another place, or sealed under another key than %s", context, id)}
	}
	return string(plain), nil
}

// lostError says why sealed text cannot be opened, now or later with the same key ring.
type lostError struct{ why string }

func (e *lostError) Error() string { return "seal: " + e.why }

// Renew is what nouns pass their stored secrets through, to seal them under the newest key: Box.Renew, or a function
// that only looks at them.
type Renew func(sealed, context string) (string, error)

// Renew opens what Seal returned and seals it under the newest key.
func (b *Keyring) Renew(sealed, context string) (string, error) {
	plain, err := b.Open(sealed, context)
	if err != nil {
		return "", err
	}
	return b.Seal(plain, context)
}

// Show is Open for what is shown to people: a secret that is lost, because its key is gone or its text was altered,
// is empty and reported, so that it does not hide the object it belongs to. A key ring that cannot be read stays an
// error: with it nothing is lost.
func (b *Keyring) Show(report func(error)) Renew {
	return func(sealed, context string) (string, error) {
		plain, err := b.Open(sealed, context)
		var lost *lostError
		if errors.As(err, &lost) {
			report(err)
			return "", nil
		}
		return plain, err
	}
}

// IsSealed reports whether s has the form of sealed text. It is for stored
// text; a user may type anything, so it must not decide what is sealed.
func IsSealed(s string) bool {
	_, _, ok := split(s)
	return ok
}

// KeyID returns the id of the key that s was sealed under, or "" if s is not
// sealed text. Whatever is not under the first of Box.KeyIDs wants re-sealing
// after a rotation.
func KeyID(s string) string {
	id, _, _ := split(s)
	return id
}

var reference = regexp.MustCompile(`\A\$\{env:[A-Z_][A-Z0-9_]*\}\z`)

// IsReference reports whether s stands for a secret kept elsewhere:
// "${env:NAME}", where NAME is an environment variable of the program.
// References are not secrets and are stored, shown and exported in clear. This
// package does not follow them; whoever does must restrict which variables an
// API caller may name, because the caller chooses where the value is sent.
func IsReference(s string) bool { return reference.MatchString(s) }

// Masked is what is shown of a stored secret to those who may not see it, and exported without secrets:
// nothing, unless it is a reference.
func Masked(stored string) string {
	if IsReference(stored) {
		return stored
	}
	return ""
}

// bind returns the associated data: the text that is not encrypted but must
// not change. Neither version nor id contains a further dot, so that no two
// pairs of id and context give the same bytes.
func bind(id, context string) []byte { return []byte(version + id + "." + context) }

func split(s string) (id string, raw []byte, ok bool) {
	rest, ok := strings.CutPrefix(s, version)
	if !ok {
		return "", nil, false
	}
	id, encoded, ok := strings.Cut(rest, ".")
	// The decoder skips line ends, which would make two texts mean the same.
	if !ok || !keyID.MatchString(id) || encoded == "" || strings.ContainsAny(encoded, "\r\n") {
		return "", nil, false
	}
	raw, err := text.DecodeString(encoded)
	if err != nil {
		return "", nil, false
	}
	return id, raw, true
}
