package notify

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"tocsin/internal/core/sentence"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/id"
	"tocsin/internal/platform/secret"
	"tocsin/internal/sender"
)

// Causes of a notification.
const (
	Page      = "page"         // an escalation has reached the target
	Assigned  = "assign"       // a person was made responsible by another
	Recovery  = "recovery"     // the incident that the target was notified of is over
	Acked     = "acknowledged" // a person acknowledged the incident that the target was notified of
	Fallback  = "fallback"     // no rule notified a person
	Storm     = "storm"        // the incident has grown into a storm of alerts
	Rise      = "rise"         // the severity of an incident with responders rose
	Joined    = "joined"       // alerts joined an acknowledged incident
	Merged    = "merged"       // an incident of which the target was notified was merged into another
	Reminder  = "reminder"     // the incident is still open
	Shift     = "shift"        // an on-call shift begins or ends
	Silence   = "silence"      // a silence ends that holds alerts back
	Silenced  = "silenced"     // a person silenced alerts for a time, or ended that silence: to chats
	SlowRules = "slow_rule"    // a rule costs too much and counts as not matching
	PushTest  = "push_test"    // the person asked for a test message to a browser
	Own       = "own_alert"    // an alert of Tocsin's own that no channel takes has opened or ended
)

// Statuses of a notification. The last three are final.
const (
	Waiting   = "waiting"
	Sending   = "sending"
	Sent      = "sent"
	Failed    = "failed"
	Cancelled = "cancelled"
)

// Address is the target of a notification: an address, a chat, either through an app, or a browser. It is stored sealed as a whole.
type Address struct {
	To     string       `json:"to,omitzero"` // e-mail address, phone number, topic and so on
	Chat   *sender.Chat `json:"chat,omitzero"`
	Direct *Direct      `json:"direct,omitzero"`
	Push   *Browser     `json:"push,omitzero"`
}

// Notification is one message to one target over one method.
type Notification struct {
	Account  int64
	ID       string
	Key      string // identifies content, target and method: the same key is never stored twice
	Incident string // empty: it is about no incident
	Schedule int64  // of a notification about a shift
	Event    string // what happened, such as i_new
	Cause    string // Page and so on
	Severity string // of what it is about; read by Put only
	Rose     int64  // when the severity rose, Unix milliseconds, of a message about a rise; read by PutNeeded only
	Late     bool   // its moment has long passed, because the program was stopped; read by Put only
	Person   int64  // 0: a chat, or an address that belongs to no person of the account
	Method   string // email, sms, voice, push:ID of a browser, slack, slack_app:ID and so on
	Queue    string // the queue it waits in, see queue; set by Put
	Address  Address
	Reason   sentence.Value // why this target is notified
	Detail   Detail
	Status   string
	Attempts int64
	Due      int64 // Unix milliseconds, as all times here
	Created  int64
	Settled  int64
	Outcome  sentence.Value
	Delivery string // what the telephone service reported last; read by OfIncident only

	budget string // the budget that the notification uses, see budgetKey; read by OfIncident only
}

// Detail holds the further data of a notification.
type Detail struct {
	Run      int64  `json:"run,omitzero"` // of an escalation: which, its layer, and how often the layer was notified before
	Layer    int    `json:"layer,omitzero"`
	Repeat   int    `json:"repeat,omitzero"`
	Forced   bool   `json:"forced,omitzero"`   // the notification is sent although the incident is acknowledged
	Severity string `json:"severity,omitzero"` // severity of the incident when the notification was stored
	Merged   string `json:"merged,omitzero"`   // title of the incident that was merged, of a message about a merge
	By       int64  `json:"by,omitzero"`       // the person who merged the incident
	Rule     string `json:"rule_id,omitzero"`
	RuleName string `json:"rule_name,omitzero"`
	Template string `json:"template_id,omitzero"`
	Subject  string `json:"subject,omitzero"` // of a notification about no incident: the message itself
	Text     string `json:"text,omitzero"`
	Moment   int64  `json:"moment,omitzero"`     // when the shift begins or ends, or the silence ends, Unix seconds
	Until    int64  `json:"until,omitzero"`      // after this it is stale, Unix seconds
	Request  int64  `json:"request_id,omitzero"` // for cover, which the person answers by a link
	Expire   int64  `json:"expire_at,omitzero"`  // of that request, Unix seconds
	Question string `json:"question,omitzero"`   // the question to the person about the incident: reminder or snooze; empty: none
}

// catchUp is how long late notifications are collected into one message.
const catchUp = 5 * time.Second

// Put stores a notification that is due at n.Due, or at once. If one with the same key is stored already, that one stays
// as it is and nothing is added.
func (r *Service) Put(tx *db.Tx, n Notification, now time.Time) error {
	n.ID, n.Created = id.Object(now), now.UnixMilli()
	n.Status, n.Attempts = Waiting, 0
	n.Due = max(n.Due, n.Created)
	if n.Late {
		n.Due = max(n.Due, now.Add(catchUp).UnixMilli())
	}
	if n.Incident != "" && n.Detail.Merged == "" { // a merge is about two incidents
		n.Detail.Severity = n.Severity
	}
	if err := r.insert(tx, &n); err != nil {
		return err
	}
	batchOf(tx).put(&n)
	tx.OnCommit(r.runner.Wake)
	return nil
}

// PutSent stores a notification that counts as sent at n.Settled: a past that is made up, of which nothing is sent.
func (r *Service) PutSent(tx *db.Tx, n Notification) error {
	n.ID, n.Created = id.Object(time.UnixMilli(n.Settled)), n.Settled
	n.Status, n.Attempts = Sent, 1
	n.Due = n.Settled
	return r.insert(tx, &n)
}

// insert stores a notification, unless one with the same key is stored already.
func (r *Service) insert(tx *db.Tx, n *Notification) error {
	n.Queue, n.budget = n.queue(), n.budgetKey()
	target, err := r.sealed(n)
	if err != nil {
		return err
	}
	detail, err := json.Marshal(n.Detail)
	if err != nil {
		return err
	}
	late := 0
	if n.Late {
		late = 1
	}
	return tx.Do(`INSERT INTO notice (account_id, `+columns+`, recipient, urgency, late)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22)
		ON CONFLICT DO NOTHING`,
		n.Account, n.ID, n.Key, n.Incident, n.Schedule, n.Event, n.Cause, n.Person, n.Method, n.Queue, target, string(n.Reason),
		string(detail), n.Status, n.Attempts, n.Due, n.Created, n.Settled, string(n.Outcome), n.budget, urgencyOf(n), late)
}

// Stored reports whether a person has a notification with a key over any method: whether PutFor was called with that key.
func Stored(tx *db.Tx, account int64, key string) (bool, error) {
	_, found, err := db.One(tx, db.Column[int64],
		`SELECT 1 FROM notice WHERE account_id = $1 AND notice_key >= $2 AND notice_key < $3
			LIMIT 1`, account, key+"/", key+"0") // 0 comes after the slash
	return found, err
}

// Result is what became of the notifications whose keys have one beginning.
type Result struct {
	Sent bool  // a person got one
	Open int64 // when the next unfinished one is due, Unix milliseconds; 0: none is left
}

// The list is read first, and the notifications of each prefix by their keys.
const results = `SELECT prefix.value, n.status, n.due_at, n.settled_at FROM json_each($2) AS prefix CROSS JOIN notice AS n
	WHERE n.account_id = $1 AND n.notice_key >= prefix.value || '/' AND n.notice_key < prefix.value || '0'` // 0 comes after the slash

// Results returns what became of notifications, by what their keys begin with.
func Results(tx *db.Tx, account int64, prefixes []string) (all map[string]Result, err error) {
	all = map[string]Result{}
	if len(prefixes) == 0 {
		return all, nil
	}
	_, err = db.All(tx, func(scan db.Scan) (prefix string, err error) {
		var status string
		var due, settled int64
		err = scan(&prefix, &status, &due, &settled)
		one := all[prefix]
		one.Sent = one.Sent || status == Sent
		due = max(due, 1)
		if settled == 0 && (one.Open == 0 || due < one.Open) {
			one.Open = due
		}
		all[prefix] = one
		return prefix, err
	}, results, account, db.JSON(prefixes))
	return all, err
}

// WithKey returns the notifications whose keys begin with prefix and a slash, in the order of their keys.
func WithKey(tx *db.Tx, account int64, prefix string) ([]Notification, error) {
	return db.All(tx, scanDelivered, ofIncidents+`notice_key >= $2 AND notice_key < $3 ORDER BY notice_key`,
		account, prefix+"/", prefix+"0") // 0 comes after the slash
}

// queue returns the queue in which a notification waits: the mail server, the gateway, a service, or the host of a
// configured URL. Each host has a queue of its own, so that one that hangs cannot block the others.
func (n *Notification) queue() string {
	switch n.Method {
	case "email":
		return "smtp"
	case "sms", "voice":
		return "gateway"
	}
	if n.Address.Push != nil {
		return "push " + n.Address.To
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

// budgetKey identifies who gets a notification, for the limit of messages in a minute. It is empty for programs, for which
// there is no limit: each of their requests is about one incident.
func (n *Notification) budgetKey() string {
	switch {
	case n.Method == "webhook":
		return ""
	case n.Person != 0:
		return fmt.Sprintf("p%d/%s", n.Person, n.Method)
	}
	return fmt.Sprintf("a%s/%s", digest(n.Address), n.Method)
}

// Refuse stores a notification that cannot be sent at all, as failed, with the reason: the history then shows who should
// have been notified.
func (r *Service) Refuse(tx *db.Tx, n Notification, why sentence.Value, now time.Time) error {
	if err := r.Put(tx, n, now); err != nil {
		return err
	}
	batchOf(tx).forget(n.Account, n.Incident)
	return tx.Do(`UPDATE notice SET status = 'failed', settled_at = $3, outcome = $4
		WHERE account_id = $1 AND notice_key = $2 AND settled_at = 0`, n.Account, n.Key, now.UnixMilli(), string(why))
}

// Cancel cancels the waiting notifications about incidents that have one of some causes, with the reason.
func (r *Service) Cancel(tx *db.Tx, account int64, incidents []string, why sentence.Value, now time.Time, causes ...string) error {
	batchOf(tx).forget(account, incidents...)
	return tx.Do(`UPDATE notice SET status = 'cancelled', settled_at = $4, outcome = $5
		WHERE account_id = $1 AND incident_id IN (SELECT value FROM json_each($2)) AND status = 'waiting' AND $3 LIKE '%,' || cause || ',%'`,
		account, db.JSON(incidents), db.List(causes), now.UnixMilli(), string(why))
}

// OfIncident returns the notifications about an incident in the order in which they were stored.
func OfIncident(tx *db.Tx, account int64, incident string) ([]Notification, error) {
	if all, known := batchOf(tx)[subject{account, incident}]; known {
		return all, nil
	}
	return db.All(tx, scanDelivered, ofIncidents+`incident_id = $2 ORDER BY created_at, notice_id`, account, incident)
}

const ofIncidents = `SELECT account_id, ` + columns + `, delivery, recipient FROM notice WHERE account_id = $1 AND `

func scanDelivered(scan db.Scan) (n Notification, err error) {
	delivery, budget := "", ""
	n, err = scanNotification(func(to ...any) error { return scan(append(to, &delivery, &budget)...) })
	n.Delivery, n.budget = delivery, budget
	return n, err
}

const columns = `notice_id, notice_key, incident_id, schedule_id, event, cause, person_id, way, lane, target, reason, detail,
	status, attempts, due_at, created_at, settled_at, outcome`

// scanNotification reads a row and leaves the address sealed, which OfIncident's callers do not need.
func scanNotification(scan db.Scan) (n Notification, err error) {
	n, _, err = scanSealed(scan)
	return n, err
}

// scanSealed reads a row and returns its address still sealed. A corrupt detail counts as an empty one: it must not keep
// the incident from being closed.
func scanSealed(scan db.Scan) (n Notification, target string, err error) {
	n, target, detail, err := scanStored(scan)
	if err != nil {
		return n, "", err
	}
	if json.Unmarshal([]byte(detail), &n.Detail) != nil {
		n.Detail = Detail{}
	}
	return n, target, nil
}

// scanStored reads a row and decodes nothing, so that one corrupt row cannot block the others of its query.
func scanStored(scan db.Scan) (n Notification, target, detail string, err error) {
	err = scan(&n.Account, &n.ID, &n.Key, &n.Incident, &n.Schedule, &n.Event, &n.Cause, &n.Person, &n.Method, &n.Queue, &target,
		(*string)(&n.Reason), &detail, &n.Status, &n.Attempts, &n.Due, &n.Created, &n.Settled, (*string)(&n.Outcome))
	return n, target, detail, err
}

// context is what the sealed address is bound to: moved to another row, it cannot be opened.
func (n *Notification) context() string { return fmt.Sprintf("notice/%d/%s", n.Account, n.Key) }

// sealed returns the address as it is stored.
func (r *Service) sealed(n *Notification) (string, error) {
	plain, err := json.Marshal(n.Address)
	if err != nil {
		return "", err
	}
	return r.Keyring.Seal(string(plain), n.context())
}

// opened decodes a stored address into n.
func (r *Service) opened(n *Notification, target string) error {
	plain, err := r.Keyring.Open(target, n.context())
	if err != nil {
		return err
	}
	return json.Unmarshal([]byte(plain), &n.Address)
}

// Closed returns the outcome of a notification whose address cannot be opened.
func Closed(err error) sentence.Value { return sentence.New("address_closed", err) }

// Reseal passes the addresses of all notifications through renew and returns their number. Those that were sent are
// among them: their recovery goes to the same address. It stops at the first error.
func Reseal(tx *db.Tx, renew secret.Renew) (int, error) {
	type row struct {
		Notification
		target string
	}
	rows, err := db.All(tx, func(scan db.Scan) (w row, err error) {
		w.Notification, w.target, err = scanSealed(scan)
		return w, err
	}, `SELECT account_id, `+columns+` FROM notice WHERE target <> ''`)
	if err != nil {
		return 0, err
	}
	for i := range rows {
		n := &rows[i]
		sealed, err := renew(n.target, n.context())
		if err != nil {
			return i, err
		}
		if err := tx.Do(`UPDATE notice SET target = $3 WHERE account_id = $1 AND notice_id = $2`, n.Account, n.ID, sealed); err != nil {
			return i, err
		}
	}
	return len(rows), nil
}
