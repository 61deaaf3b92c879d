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

	"tocsin/internal/incident"
)

// Links creates the links in messages. A link that acknowledges is for one person or chat and one incident or one bundle
// of notifications, and valid for a week. One that answers a request for cover is valid as long as the request. Each is
// signed with Key, so that no other link is accepted.
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

// Open returns the link to an incident in the console, or to the list of incidents if id is empty. It is empty when the
// server has no public URL.
func (l *Links) Open(id string) string {
	switch {
	case l == nil || l.Base == "":
		return ""
	case id == "":
		return l.Base + "/incidents"
	}
	return incident.PageURL(l.Base, id)
}

// AckBundle returns the link with which a person acknowledges the incidents of a bundle of notifications.
func (l *Links) AckBundle(account int64, bundle string, person int64, now time.Time) string {
	return l.link(toBundle, account, bundle, person, now)
}

// AckInChat returns the link with which a person in a chat acknowledges an incident, after choosing its name.
func (l *Links) AckInChat(account int64, incident string, now time.Time) string {
	return l.link(toChat, account, incident, 0, now)
}

// AckOnce returns the link with which a person acknowledges what a message to a browser is about, once.
func (l *Links) AckOnce(account int64, message string, person int64, now time.Time) string {
	return l.link(toMessage, account, message, person, now)
}

// Cover returns the link with which a person answers a request for cover; until is when the request expires, Unix seconds.
func (l *Links) Cover(account, request, person, until int64) string {
	if l.Base == "" {
		return ""
	}
	return l.Base + "/cover/" + l.token(toCover, account, binary.BigEndian.AppendUint64(make([]byte, 4), uint64(request)), person, until)
}

// The purposes of links, to which their signatures are bound.
const (
	toIncident = "acknowledge\x00"
	toBundle   = "acknowledge bundle\x00"
	toChat     = "acknowledge in chat\x00"
	toMessage  = "acknowledge a message, once\x00"
	toCover    = "answer a request for cover\x00"
)

func (l *Links) link(purpose string, account int64, object string, person int64, now time.Time) string {
	id, err := hex.DecodeString(object)
	if l.Base == "" || err != nil || len(id) != 12 {
		return ""
	}
	return l.Base + "/ack/" + l.token(purpose, account, id, person, now.Add(valid).Unix())
}

// token returns the last part of a link: its fields and their signature.
func (l *Links) token(purpose string, account int64, object []byte, person, until int64) string {
	b := binary.BigEndian.AppendUint64(nil, uint64(account))
	b = append(b, object...)
	b = binary.BigEndian.AppendUint64(b, uint64(person))
	b = binary.BigEndian.AppendUint64(b, uint64(until))
	return base64.RawURLEncoding.EncodeToString(append(b, l.sign(purpose, b)...))
}

// sign returns the signature of a link's fields, bound to its purpose.
func (l *Links) sign(purpose string, b []byte) []byte {
	mac := hmac.New(sha256.New, l.Key)
	mac.Write([]byte(purpose))
	mac.Write(b)
	return mac.Sum(nil)[:20]
}

// Ticket holds the fields of a link that acknowledges an incident, or the incidents of a bundle or a message, or answers a request for
// cover. A link in a chat is for no person.
type Ticket struct {
	Account  int64
	Request  int64 // for cover, which the link answers
	Incident string
	Bundle   string
	Message  string // a notification or a bundle, whose link acts once
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
	t, err = l.redeem(token, now)
	if err == nil && t.Request != 0 {
		return Ticket{}, ErrForged
	}
	return t, err
}

// RedeemCover is Redeem for a link that answers a request for cover.
func (l *Links) RedeemCover(token string, now time.Time) (t Ticket, err error) {
	t, err = l.redeem(token, now)
	if t.Request == 0 {
		return Ticket{}, ErrForged
	}
	return t, err
}

// redeem decodes the last part of a link for any purpose.
func (l *Links) redeem(token string, now time.Time) (t Ticket, err error) {
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
	case hmac.Equal(b[fields:], l.sign(toMessage, b[:fields])):
		t.Message = object
	case hmac.Equal(b[fields:], l.sign(toChat, b[:fields])):
		t.Incident, t.Chat = object, true
	case hmac.Equal(b[fields:], l.sign(toCover, b[:fields])):
		t.Request = int64(binary.BigEndian.Uint64(b[12:]))
	default:
		return Ticket{}, ErrForged
	}
	if now.Unix() > int64(binary.BigEndian.Uint64(b[28:])) {
		return t, ErrExpired
	}
	return t, nil
}
