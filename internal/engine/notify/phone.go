package notify

import (
	"context"
	"crypto/hmac"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"tocsin/internal/core/sentence"
	"tocsin/internal/incident"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/sender"
)

// phoneFields are the bytes of the account, the message and the expiry in a telephone link.
const phoneFields = 8 + 12 + 8

// toPhone is the purpose of telephone links.
const toPhone = "telephone\x00"

// Phone returns the link to which a telephone service posts the digits and the delivery states of a message; empty when
// the server has no public URL.
func (l *Links) Phone(account int64, message string, now time.Time) string {
	id, err := hex.DecodeString(message)
	if l.Base == "" || err != nil || len(id) != 12 {
		return ""
	}
	b := append(binary.BigEndian.AppendUint64(nil, uint64(account)), id...)
	b = binary.BigEndian.AppendUint64(b, uint64(now.Add(valid).Unix()))
	return l.Base + "/phone/" + base64.RawURLEncoding.EncodeToString(append(b, l.sign(toPhone, b)...))
}

// RedeemPhone decodes the token of a telephone link. It returns ErrForged or ErrExpired for one that is not valid.
func (l *Links) RedeemPhone(token string, now time.Time) (account int64, message string, err error) {
	b, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || len(b) != phoneFields+20 || !hmac.Equal(b[phoneFields:], l.sign(toPhone, b[:phoneFields])) {
		return 0, "", ErrForged
	}
	if now.Unix() > int64(binary.BigEndian.Uint64(b[20:])) {
		return 0, "", ErrExpired
	}
	return int64(binary.BigEndian.Uint64(b)), hex.EncodeToString(b[8:20]), nil
}

// phone returns what a telephone service needs besides a message; nil for other methods.
func (r *Service) phone(f *attempt, sent []*member, m *sender.Message, now time.Time) *sender.Phone {
	if f.Method != "voice" && f.Method != "sms" || f.Person == 0 || r.Links == nil {
		return nil
	}
	callback := r.Links.Phone(f.Account, f.message(), now)
	if callback == "" {
		return nil
	}
	ack := m.AckLink != ""
	escalate := ack && len(sent) == 1 && sent[0].Detail.Run > 0
	return &sender.Phone{Callback: callback, Code: replyCode(f.message()), Ack: ack, Escalate: escalate, Asks: m.Asks && len(sent) == 1}
}

// replyCode returns the four digits by which a reply names a text message.
func replyCode(message string) string {
	h := fnv.New32a()
	h.Write([]byte(message))
	return fmt.Sprintf("%04d", h.Sum32()%10000)
}

// PhonePage is a call or text message that was sent to a person, with the notifications that it was about.
type PhonePage struct {
	Notification        // the first of them
	bundle       string // empty: it was about one
	members      []*member
}

// One reports whether the page is about one notification.
func (p *PhonePage) One() bool { return len(p.members) == 1 }

// Asks reports whether the page asks its person a question about one incident.
func (p *PhonePage) Asks() bool { return p.One() && p.Detail.Question != "" }

// SentTo returns the number that the page was sent to.
func (r *Service) SentTo(p *PhonePage) (string, error) {
	n := p.Notification
	err := r.opened(&n, p.members[0].target)
	return n.Address.To, err
}

// attempt returns the page as an attempt to send it, without its outcome.
func (p *PhonePage) attempt() *attempt {
	return &attempt{Notification: p.Notification, members: p.members, bundle: p.bundle}
}

// PageOf returns the page of a message, which is the id of a bundle or of a notification; found is false when there is
// none.
func PageOf(tx *db.Tx, account int64, message string) (p PhonePage, found bool, err error) {
	rows, err := db.All(tx, scanWaiting, `SELECT account_id, `+waitingColumns+` FROM notice
		WHERE account_id = $1 AND bundle = $2 AND bundle <> '' AND status <> 'cancelled' ORDER BY urgency, created_at, notice_id`,
		account, message)
	if err == nil && len(rows) > 0 {
		p.bundle = message
	} else if err == nil {
		rows, err = db.All(tx, scanWaiting, `SELECT account_id, `+waitingColumns+` FROM notice
			WHERE account_id = $1 AND notice_id = $2`, account, message)
	}
	for _, w := range rows {
		if err := json.Unmarshal([]byte(w.detail), &w.Detail); err != nil {
			return p, false, err
		}
		p.members = append(p.members, w.member)
	}
	if err != nil || len(rows) == 0 {
		return p, false, err
	}
	p.Notification = p.members[0].Notification
	return p, true, nil
}

// maxTexts is how many notifications by text message a reply may be about.
const maxTexts = 1000

// Replied returns the text message of the last week to which a person replies: the latest that asks the person to act, or
// the latest of them with a code if that is not empty. at is when it was sent, Unix milliseconds.
func Replied(tx *db.Tx, account, person int64, code string, now time.Time) (p PhonePage, at int64, found bool, err error) {
	type text struct {
		message, status string
		at              int64
	}
	since := fmt.Sprintf("%08x", now.Add(-valid).Unix()) // ids begin with the time
	texts, err := db.All(tx, func(scan db.Scan) (t text, err error) { return t, scan(&t.message, &t.status, &t.at) },
		`SELECT CASE WHEN bundle = '' THEN notice_id ELSE bundle END, status, settled_at FROM notice
		WHERE account_id = $1 AND person_id = $2 AND way = 'sms' AND notice_id >= $3 AND incident_id <> '' AND urgency <= $5
			AND status IN ('sent', 'sending', 'failed') ORDER BY notice_id DESC LIMIT $4 + 0`,
		account, person, since, maxTexts, lastPage)
	if err != nil {
		return p, 0, false, err
	}
	latest := text{}
	for _, t := range texts {
		if t.status == Sending {
			t.at = now.UnixMilli()
		}
		wanted := code == "" && t.status != Failed || code == replyCode(t.message)
		if wanted && t.at > latest.at {
			latest = t
		}
	}
	if latest.message == "" {
		return p, 0, false, nil
	}
	p, found, err = PageOf(tx, account, latest.message)
	return p, latest.at, found, err
}

// ticket returns what a page is about as a link to it does.
func (p *PhonePage) ticket() Ticket {
	if p.bundle != "" {
		return Ticket{Account: p.Account, Bundle: p.bundle, Person: p.Person}
	}
	return Ticket{Account: p.Account, Incident: p.Incident, Person: p.Person}
}

// Acknowledge acknowledges what a page is about, as its link does, and returns the answer to the person.
func (r *Service) Acknowledge(ctx context.Context, p *PhonePage, now time.Time) string {
	return r.answer(ctx, p, "ack", "Acknowledged: %s.", "Not acknowledged: %s.", now)
}

// Answer answers the question of a page, as its link does, and returns the reply to the person. incident.Writer.Answer
// defines the answers.
func (r *Service) Answer(ctx context.Context, p *PhonePage, answer string, now time.Time) string {
	done := map[string]string{
		incident.Still: "You are still on it: %s.", incident.Later: "You are asked again in 4 hours: %s.",
		incident.Never: "You are not asked again: %s.", incident.Back: "You have given it back: %s.",
	}[answer]
	return r.answer(ctx, p, answer, done, "Not done: %s.", now)
}

// answer performs the action of a button of a page's link. It returns the sentence that holds for the person: done or
// refused.
func (r *Service) answer(ctx context.Context, p *PhonePage, do, done, refused string, now time.Time) string {
	status, view := r.acknowledge(ctx, p.ticket(), button{do: do}, now)
	if status != http.StatusOK {
		return fmt.Sprintf(refused, strings.TrimSuffix(view.Problem, "."))
	}
	return fmt.Sprintf(done, strings.TrimSuffix(view.Title, "."))
}

// Readable returns the incident of a page, or the incident that it was merged into. The person of the page must be able to
// read that incident now, or be responsible for it. Errors are fault.NotFound, also for a person who has left, and
// fault.AccessDenied.
func (r *Service) Readable(tx *db.Tx, p *PhonePage) (i incident.Incident, err error) {
	_, known, err := Find(tx, p.Account, p.Person)
	if err != nil {
		return i, err
	}
	if !known {
		return i, fault.Missing("person", p.Person)
	}
	who, err := Reader(tx, p.Account, p.Person)
	if err != nil {
		return i, err
	}
	t, _, err := lead(tx, Ticket{Account: p.Account, Incident: p.Incident, Person: p.Person})
	if err != nil {
		return i, err
	}
	i, err = incident.Permit(tx, who, t.Incident)
	return i, unlessResponsible(err, &i, p.Person)
}

// Again returns a page as it would be sent now; stale is why it is not needed any more.
func (r *Service) Again(ctx context.Context, p *PhonePage, now time.Time) (m sender.Message, stale sentence.Value, err error) {
	f, o := p.attempt(), outcome{}
	if err := r.DB.Snapshot(ctx, func(tx *db.Tx) (err error) { o.sent, err = led(tx, p); return err }); err != nil {
		return m, "", err
	}
	f.Notification = o.sent[0].Notification
	m, err = store{r}.build(ctx, f, &o)
	if err != nil {
		return m, "", err
	}
	if len(o.sent) == 0 {
		return m, o.ended[0].why, nil
	}
	m.Phone = r.phone(f, o.sent, &m, now)
	return m, "", nil
}

// Delivered stores what a telephone service reports about a page that it took. If it will not reach its person, its
// notifications have failed, and the person's other methods are used. known is false if the service means another
// message, such as that of an attempt whose reply was lost.
func (r *Service) Delivered(tx *db.Tx, p *PhonePage, d sender.Delivery, now time.Time) (known bool, err error) {
	if p.Status == Sent && !strings.HasSuffix(p.Outcome.English(), d.ID) {
		return false, nil
	}
	changed, err := p.setDelivery(tx, d)
	if err != nil || changed == 0 || d.Failed == "" {
		return true, err
	}
	f := p.attempt()
	f.shared = len(p.members)
	var failed []*member
	for _, m := range p.members {
		if m.Status != Sent && m.Status != Sending {
			continue
		}
		// It counted as sent when the service took it.
		if err := tx.Do(`UPDATE notice SET settled_at = 0 WHERE account_id = $1 AND notice_id = $2`, m.Account, m.ID); err != nil {
			return true, err
		}
		if _, err := r.settle(tx, f, m, Failed, sentence.Raw(d.Failed), m.Attempts, now); err != nil {
			return true, err
		}
		failed = append(failed, m)
	}
	return true, r.replace(tx, failed, now)
}

// setDelivery stores a delivery state, unless a later one is stored, and returns how many notifications got it.
func (p *PhonePage) setDelivery(tx *db.Tx, d sender.Delivery) (changed int64, err error) {
	if p.bundle != "" {
		return tx.Exec(`UPDATE notice SET delivery = $3, delivery_stage = $4
			WHERE account_id = $1 AND bundle = $2 AND bundle <> '' AND delivery_stage < $4`, p.Account, p.bundle, d.State, d.Stage)
	}
	return tx.Exec(`UPDATE notice SET delivery = $3, delivery_stage = $4
		WHERE account_id = $1 AND notice_id = $2 AND delivery_stage < $4`, p.Account, p.ID, d.State, d.Stage)
}
