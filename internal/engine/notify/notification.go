package notify

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/id"
	"tocsin/internal/platform/secret"
	"tocsin/internal/sender"
)

// Why a notice was made.
const (
	Page      = "page"      // an escalation has come to the target
	Assigned  = "assign"    // a person was made responsible by another
	Recovery  = "recovery"  // what the target was told of is over
	Owner     = "owner"     // nobody else was told
	Storm     = "storm"     // the incident has grown into a storm of alerts
	Shift     = "shift"     // a turn on call begins or ends
	Silence   = "silence"   // a silence ends that holds alerts back
	SlowRules = "slow_rule" // a rule costs too much and counts as not matching
)

// The stations of a notice.
const (
	Waiting   = "waiting"
	Sending   = "sending"
	Sent      = "sent"
	Failed    = "failed"
	Cancelled = "cancelled"
)

// Address is where a notice goes: to an address, to a chat, or to either through an app. It is sealed
// as a whole where it is stored.
type Address struct {
	To     string       `json:"to,omitzero"` // e-mail address, phone number, topic and so on
	Chat   *sender.Chat `json:"chat,omitzero"`
	Direct *Direct      `json:"direct,omitzero"`
}

// Notification is something that somebody is to be told.
type Notification struct {
	Account  int64
	ID       string
	Key      string // what is told, to whom and how: the same is never told twice
	Incident string // empty: it is about no incident
	Schedule int64  // of a notice about a shift
	Event    string // what happened, such as i_new
	Cause    string // Page and so on
	Person   int64  // 0: a chat, or an address of nobody known
	Method   string // email, sms, voice, slack, slack_app:ID and so on
	Lane     string // who is asked to take it, see lane; settled by Put
	Address  Address
	Reason   string // why this one is told, in words
	Detail   Detail
	Status   string
	Attempts int64
	Due      int64 // Unix milliseconds, as all times here
	Created  int64
	Settled  int64
	Outcome  string
}

// Detail is what else is known of a notice.
type Detail struct {
	Run      int64  `json:"run,omitzero"` // of an escalation: which, its layer and how often it was told before
	Layer    int    `json:"layer,omitzero"`
	Repeat   int    `json:"repeat,omitzero"`
	Forced   bool   `json:"forced,omitzero"` // it is told although the incident is acknowledged
	Rule     string `json:"rule_id,omitzero"`
	RuleName string `json:"rule_name,omitzero"`
	Template string `json:"template_id,omitzero"`
	Subject  string `json:"subject,omitzero"` // of a notice about no incident: the message itself
	Text     string `json:"text,omitzero"`
	Moment   int64  `json:"moment,omitzero"` // when the turn begins or ends, or the silence ends, Unix seconds
	Until    int64  `json:"until,omitzero"`  // it need not be told after this, Unix seconds
}

// Put stores a notice that is due at n.Due, or at once. One with the same key is told already, and stays as
// it is.
func (r *Service) Put(tx *db.Tx, n Notification, now time.Time) error {
	n.ID, n.Created, n.Status, n.Lane = id.Object(now), now.UnixMilli(), Waiting, n.lane()
	if n.Due < n.Created {
		n.Due = n.Created
	}
	target, err := r.sealed(&n)
	if err != nil {
		return err
	}
	detail, err := json.Marshal(n.Detail)
	if err != nil {
		return err
	}
	_, err = tx.Exec(`INSERT INTO notice (account_id, `+columns+`) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19) ON CONFLICT DO NOTHING`,
		n.Account, n.ID, n.Key, n.Incident, n.Schedule, n.Event, n.Cause, n.Person, n.Method, n.Lane, target, n.Reason, string(detail), n.Status, 0, n.Due, n.Created, n.Settled, n.Outcome)
	tx.OnCommit(r.runner.Wake)
	return err
}

// Told tells whether a person was told of something, over whatever way: whether Tell was called with a key.
func Told(tx *db.Tx, account int64, key string) (bool, error) {
	_, found, err := db.One(tx, db.Column[int64], `SELECT 1 FROM notice WHERE account_id = $1 AND notice_key >= $2 AND notice_key < $3 LIMIT 1`,
		account, key+"/", key+"0") // 0 comes after the slash
	return found, err
}

// lane is who is asked to take a notice: the mail server, the gateway, a service, or the host of an address that
// somebody entered, whose trouble is nobody else's.
func (n *Notification) lane() string {
	switch n.Method {
	case "email":
		return "smtp"
	case "sms", "voice":
		return "gateway"
	}
	addresses := []string{n.Address.To}
	if c := n.Address.Chat; c != nil {
		addresses = []string{c.URL, c.Token}
	}
	for _, address := range addresses {
		if u, err := url.Parse(address); err == nil && u.Host != "" {
			return n.Method + " " + strings.ToLower(u.Host)
		}
	}
	return n.Method
}

// Refuse stores a notice that cannot be sent at all, with the reason: so that it can be seen who should have
// been told.
func (r *Service) Refuse(tx *db.Tx, n Notification, why string, now time.Time) error {
	if err := r.Put(tx, n, now); err != nil {
		return err
	}
	_, err := tx.Exec(`UPDATE notice SET status = 'failed', settled_at = $3, outcome = $4 WHERE account_id = $1 AND notice_key = $2 AND settled_at = 0`, n.Account, n.Key, now.UnixMilli(), why)
	return err
}

// Cancel settles what is waiting about an incident for one of some causes, with the reason.
func (r *Service) Cancel(tx *db.Tx, account int64, incident, why string, now time.Time, causes ...string) error {
	_, err := tx.Exec(`UPDATE notice SET status = 'cancelled', settled_at = $4, outcome = $5 WHERE account_id = $1 AND incident_id = $2 AND status = 'waiting' AND $3 LIKE '%,' || cause || ',%'`,
		account, incident, db.List(causes), now.UnixMilli(), why)
	return err
}

// OfIncident lists the notices about an incident in the order in which they were made.
func OfIncident(tx *db.Tx, account int64, incident string) ([]Notification, error) {
	all, err := db.All(tx, scanNotice, `SELECT account_id, `+columns+` FROM notice WHERE account_id = $1 AND incident_id = $2 ORDER BY created_at, notice_id`, account, incident)
	return all, err
}

const columns = `notice_id, notice_key, incident_id, schedule_id, event, cause, person_id, way, lane, target, reason, detail, status, attempts, due_at, created_at, settled_at, outcome`

// scanNotice leaves the address sealed.
func scanNotice(scan db.Scan) (n Notification, err error) {
	n, _, err = scanSealed(scan)
	return n, err
}

func scanSealed(scan db.Scan) (n Notification, target string, err error) {
	n, target, detail, err := scanStored(scan)
	if err != nil {
		return n, "", err
	}
	return n, target, json.Unmarshal([]byte(detail), &n.Detail)
}

func scanStored(scan db.Scan) (n Notification, target, detail string, err error) {
	err = scan(&n.Account, &n.ID, &n.Key, &n.Incident, &n.Schedule, &n.Event, &n.Cause, &n.Person, &n.Method, &n.Lane, &target, &n.Reason, &detail, &n.Status, &n.Attempts, &n.Due, &n.Created, &n.Settled, &n.Outcome)
	return n, target, detail, err
}

func (n *Notification) place() string { return fmt.Sprintf("notice/%d/%s", n.Account, n.Key) }

// sealed is the address as it is stored.
func (r *Service) sealed(n *Notification) (string, error) {
	plain, err := json.Marshal(n.Address)
	if err != nil {
		return "", err
	}
	return r.Keyring.Seal(string(plain), n.place())
}

func (r *Service) opened(n *Notification, target string) error {
	plain, err := r.Keyring.Open(target, n.place())
	if err != nil {
		return err
	}
	return json.Unmarshal([]byte(plain), &n.Address)
}

// Closed says of a notice that it cannot be sent because its address cannot be opened.
func Closed(err error) string { return "its address cannot be opened: " + err.Error() }

// Reseal passes the addresses of all notices through renew and counts them: those that were sent will be told the
// end. An error of renew ends it.
func Reseal(tx *db.Tx, renew secret.Renew) (int, error) {
	type row struct {
		Notification
		target string
	}
	rows, err := db.All(tx, func(scan db.Scan) (w row, err error) {
		w.Notification, w.target, err = scanSealed(scan)
		return w, err
	}, `SELECT account_id, `+columns+` FROM notice WHERE target <> ''`)
	for i := 0; i < len(rows) && err == nil; i++ {
		n := &rows[i]
		var sealed string
		if sealed, err = renew(n.target, n.place()); err == nil {
			_, err = tx.Exec(`UPDATE notice SET target = $3 WHERE account_id = $1 AND notice_id = $2`, n.Account, n.ID, sealed)
		}
	}
	return len(rows), err
}
