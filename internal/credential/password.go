package credential

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"strings"
	"time"

	"golang.org/x/crypto/argon2"

	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// The bounds of a password, in characters. The lower one is what NIST SP 800-63B asks of a password that may be guessed
// online; the upper one keeps a request small.
const (
	minPassword = 12
	maxPassword = 256
)

// CheckPassword returns fault.Invalid for a password that is too short, too long, or one character over and over. The
// error never repeats the password.
func CheckPassword(field, password string) error {
	if err := configstore.RecordPath("").Length(field, password, minPassword, maxPassword); err != nil {
		return err
	}
	if first := []rune(password)[0]; strings.Trim(password, string(first)) == "" {
		return fault.Invalid(field, "must not be one character over and over")
	}
	return nil
}

// cost holds the parameters of Argon2id.
type cost struct {
	memory uint32 // KiB
	time   uint32
	lanes  uint8
}

// present is the cost of new hashes: the first choice of the OWASP password storage cheat sheet. A hash names the cost
// that it was made with, so this can be raised.
var present = cost{memory: 19 << 10, time: 2, lanes: 1}

// The bounds of a stored cost: a row that was altered must not take the server's memory.
const (
	maxMemory = 256 << 10
	maxTime   = 16
	keyLength = 32
)

var base64Text = base64.RawStdEncoding.Strict()

// Hash returns the Argon2id hash of a password with a salt of its own. It takes 19 MiB and tens of milliseconds, so
// callers must bound how many run at once, and must not call it in a transaction.
func Hash(password string) string {
	salt := make([]byte, 16)
	rand.Read(salt)
	return present.format(salt, present.key(password, salt))
}

func (c cost) key(password string, salt []byte) []byte {
	return argon2.IDKey([]byte(password), salt, c.time, c.memory, c.lanes, keyLength)
}

func (c cost) format(salt, key []byte) string {
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, c.memory, c.time, c.lanes,
		base64Text.EncodeToString(salt), base64Text.EncodeToString(key))
}

// parseHash returns the parts of a hash; ok is false for text that Hash has not made.
func parseHash(hash string) (c cost, salt, key []byte, ok bool) {
	parts := strings.Split(hash, "$")
	if len(parts) != 6 || parts[1] != "argon2id" || parts[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return c, nil, nil, false
	}
	if _, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &c.memory, &c.time, &c.lanes); err != nil {
		return c, nil, nil, false
	}
	salt, err := base64Text.DecodeString(parts[4])
	if err != nil {
		return c, nil, nil, false
	}
	key, err = base64Text.DecodeString(parts[5])
	ok = err == nil && len(key) == keyLength && c.memory > 0 && c.memory <= maxMemory && c.time > 0 && c.time <= maxTime && c.lanes > 0
	return c, salt, key, ok
}

// absent is the hash that a password is compared with where there is none, so that the answer takes as long.
var absent = present.format(make([]byte, 16), make([]byte, keyLength))

// Matches reports whether a hash is that of a password. An empty hash, which is that of a person without a password,
// takes as long as any other. What holds for Hash holds here too.
func Matches(hash, password string) bool {
	c, salt, want, ok := parseHash(hash)
	if !ok {
		c, salt, want, _ = parseHash(absent)
	}
	same := subtle.ConstantTimeCompare(c.key(password, salt), want) == 1
	return same && ok
}

// Password is what is stored of a person's password.
type Password struct {
	Hash  string // empty: the person has none
	SetAt int64  // Unix seconds
}

// PasswordOf returns a person's password; its hash is empty when there is none.
func PasswordOf(tx *db.Tx, account, person int64) (Password, error) {
	p, _, err := db.One(tx, func(scan db.Scan) (p Password, err error) { return p, scan(&p.Hash, &p.SetAt) },
		`SELECT hash, set_at FROM password WHERE account_id = $1 AND person_id = $2`, account, person)
	return p, err
}

// SetPassword stores the hash of a person's new password. All links of the person end: they have
// served their purpose.
func SetPassword(tx *db.Tx, account, person int64, hash string, now time.Time) error {
	err := tx.Do(`INSERT INTO password (account_id, person_id, hash, set_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (account_id, person_id) DO UPDATE SET hash = excluded.hash, set_at = excluded.set_at`, account, person, hash, now.Unix())
	if err != nil {
		return err
	}
	return forgetLinks(tx, account, person)
}
