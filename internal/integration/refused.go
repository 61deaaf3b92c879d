package integration

import (
	"fmt"
	"strings"
	"time"

	"tocsin/internal/core/event"
	"tocsin/internal/core/sentence"
	"tocsin/internal/platform/db"
)

// Why events of an integration are not taken.
const (
	Malformed = "malformed" // 400: the event cannot be read
	TooMany   = "too_many"  // the request holds more alerts than the server takes
	TooLarge  = "too_large" // 413: the body is longer than the server reads
	Rate      = "rate"      // 429: the integration sends too often
	WrongKey  = "key"       // the key was replaced, or is for something else
	Disabled  = "disabled"  // the integration is disabled
	Busy      = "busy"      // 503: other bodies used all memory that is set aside for them
	TooMuch   = "too_much"  // 429: the integration has sent far more bytes than it may in a day
	Truncated = "truncated" // the sender itself left them out
)

// words are the reasons in words.
var words = map[string]string{
	Malformed: "malformed events",
	TooMany:   "too many alerts in a request",
	TooLarge:  "requests too large",
	Rate:      "too many requests",
	WrongKey:  "wrong key",
	Disabled:  "the integration is disabled",
	Busy:      "the server was busy",
	TooMuch:   "too many bytes in a day",
	Truncated: "left out by the sender",
}

// Refused counts the events of an integration that were refused for one reason.
type Refused struct {
	Reason string         `json:"reason" enum:"malformed,too_many,too_large,rate,key,disabled,busy,too_much,truncated" doc:"Why: malformed; too_many alerts or bytes (too_large) in a request; rate: too many requests; key: replaced or for something else; disabled; busy: too many large requests at once; too_much: ten times the bytes of a day; truncated: the sender left them out."`
	Events int64          `json:"events" doc:"How many events within 24 hours; a request whose events are not known counts as one."`
	LastAt int64          `json:"last_at" doc:"The minute of the last one, Unix seconds."`
	Detail sentence.Words `json:"detail" doc:"What was wrong with the last one."`
}

// Words returns why the events were refused.
func (r *Refused) Words() string { return words[r.Reason] }

// maxRefusedDetail bounds a stored reason, in characters.
const maxRefusedDetail = 300

// refusedKept is for how long refused events are counted.
const refusedKept = 24 * time.Hour

// cutDetail shortens a text of a detail.
func cutDetail(text string) string { return event.Cut(text, maxRefusedDetail) }

// AddRefused adds events of an integration that were refused in the minute of now.
func AddRefused(tx *db.Tx, account, integration int64, reason string, events int64, detail sentence.Value, now time.Time) error {
	return tx.Do(`INSERT INTO refused (account_id, integration_id, minute, reason, events, detail) VALUES ($1, $2, $3, $4, $5, $6)
		ON CONFLICT (account_id, integration_id, minute, reason) DO UPDATE
			SET events = refused.events + excluded.events, detail = excluded.detail`,
		account, integration, now.Unix()/60, reason, events, detail.Edit(cutDetail))
}

// RefusedOf returns the refused events of an integration since a moment, by reason.
func RefusedOf(tx *db.Tx, account, integration int64, since time.Time) ([]Refused, error) {
	return db.All(tx, func(scan db.Scan) (r Refused, err error) { return r, scan(&r.Reason, &r.Events, &r.LastAt, &r.Detail) },
		`SELECT reason, sum(events), max(minute) * 60, (SELECT l.detail FROM refused l WHERE l.account_id = $1 AND l.integration_id = $2
				AND l.reason = refused.reason ORDER BY l.minute DESC LIMIT 1)
			FROM refused WHERE account_id = $1 AND integration_id = $2 AND minute > $3 GROUP BY reason ORDER BY reason`,
		account, integration, since.Unix()/60)
}

// Refusing is an integration of any account whose events are refused.
type Refusing struct {
	Integration int64  `json:"integration_id"`
	Reason      string `json:"reason"`
	Events      int64  `json:"events"`
}

// maxRefusing bounds how many integrations and reasons RefusedSince returns.
const maxRefusing = 100

// RefusedSince returns the integrations of all accounts whose events were refused since a moment, those with the most
// first.
func RefusedSince(tx *db.Tx, since time.Time) ([]Refusing, error) {
	return db.All(tx, func(scan db.Scan) (r Refusing, err error) { return r, scan(&r.Integration, &r.Reason, &r.Events) },
		`SELECT integration_id, reason, sum(events) FROM refused WHERE minute > $1
			GROUP BY account_id, integration_id, reason ORDER BY sum(events) DESC, integration_id, reason LIMIT $2 + 0`,
		since.Unix()/60, maxRefusing)
}

// pruneRefused deletes the counts that are no longer shown.
func pruneRefused(tx *db.Tx, now time.Time) (more bool, err error) {
	err = tx.Do(`DELETE FROM refused WHERE minute <= $1`, now.Add(-refusedKept).Unix()/60)
	return false, err
}

// Count returns a number with a comma for each thousand, as people read it.
func Count(n int64) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// Sum returns how many events were refused, and why, in words.
func Sum(list []Refused) (events int64, why string) {
	var reasons []string
	for i := range list {
		events += list[i].Events
		reasons = append(reasons, list[i].Words())
	}
	return events, strings.Join(reasons, ", ")
}
