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

// Links creates the links in messages. A link that acknowledges is for one person or chat and one incident or one bundle
// of notifications, and valid for a week. It is signed with Key, so that no other link is accepted.
type Links struct {
	Base string // public URL of the server without a slash at its end; empty: messages have no links
	Key  []byte
}

const (
	valid  = 7 * 24 * time.Hour
	fields = 8 + 12 + 8 + 8 // bytes of account, incident or bundle, person, expiry
)

// Ack returns the link with which a person acknowledges an incident; empty when the server has no public URL.
func (l *Links) Ack(account int64, incident string, person int64, now time.Time) string {
	return l.link(toIncident, account, incident, person, now)
}

// AckBundle returns the link with which a person acknowledges the incidents of a bundle of notifications.
func (l *Links) AckBundle(account int64, bundle string, person int64, now time.Time) string {
	return l.link(toBundle, account, bundle, person, now)
}

// AckInChat returns the link with which a person in a chat acknowledges an incident, after choosing its name.
func (l *Links) AckInChat(account int64, incident string, now time.Time) string {
	return l.link(toChat, account, incident, 0, now)
}

// The purposes of links, to which their signatures are bound.
const (
	toIncident = "acknowledge\x00"
	toBundle   = "acknowledge bundle\x00"
	toChat     = "acknowledge in chat\x00"
)

func (l *Links) link(purpose string, account int64, object string, person int64, now time.Time) string {
	id, err := hex.DecodeString(object)
	if l.Base == "" || err != nil || len(id) != 12 {
		return ""
	}
	b := binary.BigEndian.AppendUint64(nil, uint64(account))
	b = append(b, id...)
	b = binary.BigEndian.AppendUint64(b, uint64(person))
	b = binary.BigEndian.AppendUint64(b, uint64(now.Add(valid).Unix()))
	return l.Base + "/ack/" + base64.RawURLEncoding.EncodeToString(append(b, l.sign(purpose, b)...))
}

// sign returns the signature of a link's fields, bound to its purpose.
func (l *Links) sign(purpose string, b []byte) []byte {
	mac := hmac.New(sha256.New, l.Key)
	mac.Write([]byte(purpose))
	mac.Write(b)
	return mac.Sum(nil)[:20]
}

// Ticket holds the fields of a link that acknowledges an incident, or the incidents of a bundle. A link in a chat is for
// no person.
type Ticket struct {
	Account  int64
	Incident string
	Bundle   string
	Person   int64
	Chat     bool // it was sent to a chat: its reader chooses the person
}

// Errors of Redeem.
var (
	ErrForged  = errors.New("this link was not made by this server, or is not complete")
	ErrExpired = errors.New("this link has expired")
)

// Redeem decodes the last part of a link that acknowledges. It returns ErrForged or ErrExpired for one that is not valid.
func (l *Links) Redeem(token string, now time.Time) (t Ticket, err error) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(strings.TrimSpace(token))
	if err != nil || len(b) != fields+20 {
		return t, ErrForged
	}
	t = Ticket{Account: int64(binary.BigEndian.Uint64(b)), Person: int64(binary.BigEndian.Uint64(b[20:]))}
	switch object := hex.EncodeToString(b[8:20]); {
	case hmac.Equal(b[fields:], l.sign(toIncident, b[:fields])):
		t.Incident = object
	case hmac.Equal(b[fields:], l.sign(toBundle, b[:fields])):
		t.Bundle = object
	case hmac.Equal(b[fields:], l.sign(toChat, b[:fields])):
		t.Incident, t.Chat = object, true
	default:
		return Ticket{}, ErrForged
	}
	if now.Unix() > int64(binary.BigEndian.Uint64(b[28:])) {
		return t, ErrExpired
	}
	return t, nil
}
