package notify

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"strings"
	"time"
)

// Links creates the links in messages. A link that acknowledges is for one person and one incident, and valid for a
// week. It is signed with Key, so that no other link is accepted.
type Links struct {
	Base string // public URL of the server without a slash at its end; empty: messages have no links
	Key  []byte
}

const (
	valid  = 7 * 24 * time.Hour
	fields = 8 + 12 + 8 + 8 // bytes of account, incident, person, expiry
)

// Ack returns the link with which a person acknowledges an incident; empty when the server has no public URL.
func (l *Links) Ack(account int64, incident string, person int64, now time.Time) string {
	id, err := hex.DecodeString(incident)
	if l.Base == "" || err != nil || len(id) != 12 {
		return ""
	}
	b := binary.BigEndian.AppendUint64(nil, uint64(account))
	b = append(b, id...)
	b = binary.BigEndian.AppendUint64(b, uint64(person))
	b = binary.BigEndian.AppendUint64(b, uint64(now.Add(valid).Unix()))
	return l.Base + "/ack/" + base64.RawURLEncoding.EncodeToString(append(b, l.sign(b)...))
}

// sign returns the signature of a link's fields, bound to the purpose of acknowledging.
func (l *Links) sign(b []byte) []byte {
	mac := hmac.New(sha256.New, l.Key)
	mac.Write([]byte("acknowledge\x00"))
	mac.Write(b)
	return mac.Sum(nil)[:20]
}

// Ticket holds the fields of a link that acknowledges.
type Ticket struct {
	Account  int64
	Incident string
	Person   int64
}

// Errors of Redeem.
var (
	ErrForged  = errors.New("this link was not made by this server, or is not complete")
	ErrExpired = errors.New("this link has expired")
)

// Redeem decodes the last part of a link that acknowledges. It returns ErrForged or ErrExpired for one that is not valid.
func (l *Links) Redeem(token string, now time.Time) (t Ticket, err error) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(strings.TrimSpace(token))
	if err != nil || len(b) != fields+20 || !hmac.Equal(b[fields:], l.sign(b[:fields])) {
		return t, ErrForged
	}
	t = Ticket{int64(binary.BigEndian.Uint64(b)), hex.EncodeToString(b[8:20]), int64(binary.BigEndian.Uint64(b[20:]))}
	if now.Unix() > int64(binary.BigEndian.Uint64(b[28:])) {
		return t, ErrExpired
	}
	return t, nil
}
