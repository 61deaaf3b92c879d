package schedulefeed

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"time"

	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
)

// feed is a feed as it is stored, without its history.
type feed struct {
	Account            int64
	ID, Kind           string
	Target             int64
	Zone, Hash         string
	Expires            int64
	CreatedAt, Creator int64
	ReadAt             int64
}

const columns = `account_id, feed_id, kind, target_id, time_zone, secret_hash, expires_at, created_at, created_by, read_at`

func scan(scan db.Scan) (f feed, err error) {
	return f, scan(&f.Account, &f.ID, &f.Kind, &f.Target, &f.Zone, &f.Hash, &f.Expires, &f.CreatedAt, &f.Creator, &f.ReadAt)
}

func find(tx *db.Tx, account int64, id string) (feed, bool, error) {
	return db.One(tx, scan, `SELECT `+columns+` FROM ical_feed WHERE account_id = $1 AND feed_id = $2`, account, id)
}

func (f *feed) insert(tx *db.Tx) error {
	return tx.Do(`INSERT INTO ical_feed (account_id, feed_id, kind, target_id, time_zone, secret_hash, expires_at, history, created_at,
		created_by, read_at) VALUES ($1, $2, $3, $4, $5, $6, $7, '', $8, $9, 0)`,
		f.Account, f.ID, f.Kind, f.Target, f.Zone, f.Hash, f.Expires, f.CreatedAt, f.Creator)
}

// Put stores the feed of a schedule that a person has made at a moment: a past that is made up. No one has its address.
func Put(tx *db.Tx, account int64, id string, scheduleID, person int64, at time.Time) error {
	f := feed{Account: account, ID: id, Kind: configstore.Schedule, Target: scheduleID, Hash: newToken(account, id).hash(),
		CreatedAt: at.Unix(), Creator: person}
	return f.insert(tx)
}

const secretSize = 32

// token is what an address names: the account, the feed and the secret.
type token struct {
	account int64
	feed    string
	secret  [secretSize]byte
}

// newToken returns a token with a new secret.
func newToken(account int64, feed string) token {
	t := token{account: account, feed: feed}
	rand.Read(t.secret[:]) //nolint:errcheck // it never fails
	return t
}

func (t token) text() string {
	b := binary.BigEndian.AppendUint64(nil, uint64(t.account))
	id, _ := hex.DecodeString(t.feed) // it was made by id.Object
	return base64.RawURLEncoding.EncodeToString(append(append(b, id...), t.secret[:]...))
}

// parseToken reads a token; ok is false if the text is none.
func parseToken(text string) (t token, ok bool) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(b) != 8+12+secretSize {
		return t, false
	}
	t.account, t.feed = int64(binary.BigEndian.Uint64(b)), hex.EncodeToString(b[8:20])
	copy(t.secret[:], b[20:])
	return t, true
}

func (t token) hash() string {
	sum := sha256.Sum256(t.secret[:])
	return hex.EncodeToString(sum[:])
}

// opens reports whether the token has the feed's secret, in constant time.
func (t token) opens(f feed) bool {
	return subtle.ConstantTimeCompare([]byte(t.hash()), []byte(f.Hash)) == 1
}
