// Package secret encrypts secrets for storage: passwords, keys and tokens that
// the database stores but that a copy of the database must not reveal.
//
// Sealed text is XChaCha20-Poly1305 under a key of a key ring that is stored
// outside the database. It is bound to its context, so that text copied from
// one row or column to another does not open there. It does not hide the length
// of the secret, nor which of two stored secrets is newer if the key changed in
// between.
//
// The package must never write a secret or a key anywhere but into its result
// and into the key ring, and no error may contain one.
package secret

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// version is the prefix of sealed text. It identifies the format of the rest.
const version = "s1."

// text encodes the sealed bytes. It is strict, so that no two texts decode to the same bytes.
var text = base64.RawURLEncoding.Strict()

// Seal encrypts plain under the newest key, for this context only: a path
// that names where the secret is stored, such as "datasource/12/password". The
// result is "s1.KEYID." and base64url of nonce and ciphertext. Seal returns two
// things unchanged: the empty string, which is no secret, and a reference (see
// IsReference), which only names one. It fails only while the key ring's file has
// other keys and Check has not decided about them.
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

// lostError is the error of sealed text that can never be opened with this key ring.
type lostError struct{ why string }

func (e *lostError) Error() string { return "seal: " + e.why }

// Renew is a function through which packages pass their stored secrets: Keyring.Renew, which seals them under the
// newest key, or a function that only reads them.
type Renew func(sealed, context string) (string, error)

// Renew opens what Seal returned and seals it under the newest key.
func (b *Keyring) Renew(sealed, context string) (string, error) {
	plain, err := b.Open(sealed, context)
	if err != nil {
		return "", err
	}
	return b.Seal(plain, context)
}

// Show returns an Open for replies to people. For a secret that is lost, because its key is gone or its text was
// altered, it calls report and returns the empty string, so that the rest of the object can be shown. A key ring that
// cannot be read is an error: its secrets are not lost.
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

// IsSealed reports whether s has the form of sealed text. It is for stored text.
// It must not decide whether input is sealed already: a user may type anything.
func IsSealed(s string) bool {
	_, _, ok := split(s)
	return ok
}

// KeyID returns the id of the key that s was sealed under, or "" if s is not
// sealed text. After a rotation, text that is not under the first of
// Keyring.KeyIDs must be sealed again.
func KeyID(s string) string {
	id, _, _ := split(s)
	return id
}

var reference = regexp.MustCompile(`\A\$\{env:[A-Z_][A-Z0-9_]*\}\z`)

// IsReference reports whether s stands for a secret kept elsewhere:
// "${env:NAME}", where NAME is an environment variable. References are not
// secrets and are stored, shown and exported in clear. What resolves them, as
// package querier does, must restrict which variables an API caller may name,
// because the caller chooses where the value is sent; see Reserved.
func IsReference(s string) bool { return reference.MatchString(s) }

var reserved = regexp.MustCompile(`\$\{env:TOCSIN_[A-Z0-9_]{0,100}\}?`)

// Reserved returns the first reference in a text to a variable whose name
// begins with TOCSIN_, or an empty text. These variables are the configuration
// of the server itself, its keys and passwords among them: a datasource that
// names one would send it to an address that an API caller chose.
func Reserved(s string) string { return reserved.FindString(s) }

// Masked returns the form of a stored secret for callers who may not see it, and for exports without secrets: the empty
// string, unless it is a reference.
func Masked(stored string) string {
	if IsReference(stored) {
		return stored
	}
	return ""
}

// bind returns the associated data: text that is not encrypted but must not
// change. Neither version nor id contains a further dot, so that no two pairs
// of id and context have the same bytes.
func bind(id, context string) []byte { return []byte(version + id + "." + context) }

// split returns the key id and the encrypted bytes of sealed text; ok is false for any other text.
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
