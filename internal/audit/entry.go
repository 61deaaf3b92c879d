package audit

import (
	"slices"
	"strings"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// Entry is one call as the audit log shows it.
type Entry struct {
	CreatedAt     int64   `json:"created_at" doc:"When, in Unix milliseconds."`
	AccountID     uint64  `json:"account_id" doc:"The account."`
	MemberID      uint64  `json:"member_id" doc:"The person whose key it was."`
	MemberName    string  `json:"member_name" doc:"The person's name at that time."`
	RequestID     string  `json:"request_id" doc:"The call's request_id."`
	IP            string  `json:"ip" doc:"The address it came from."`
	Operation     string  `json:"operation" doc:"The operation, such as schedule:write:create."`
	OperationName string  `json:"operation_name" doc:"The same in words, in the language of the account's owner."`
	Body          string  `json:"body" doc:"The request's body as JSON, without credentials; cut when it was long."`
	Params        []Param `json:"params" doc:"Further facts: error is the code with which the call was refused; empty when it succeeded."`
	IsDangerous   bool    `json:"is_dangerous" doc:"The operation deletes or reveals."`
	IsWrite       bool    `json:"is_write" doc:"The operation changes something."`

	Resources []fault.Ref `json:"resources" doc:"What it changed, by kind and id, with the names of that time; at most 100, empty when it was refused."`

	id string
}

// Param is a further fact about a call.
type Param struct {
	Key   string `json:"Key" doc:"Its name."`
	Value string `json:"Value" doc:"Its value."`
}

const columns = `created_at, audit_id, account_id, person_id, person_name, request_id, ip, operation, outcome, body, is_dangerous, is_write`

var columnsOfL = "l." + strings.ReplaceAll(columns, ", ", ", l.")

func scan(row db.Scan) (e Entry, err error) {
	var account, person int64
	var outcome string
	err = row(&e.CreatedAt, &e.id, &account, &person, &e.MemberName, &e.RequestID, &e.IP,
		&e.Operation, &outcome, &e.Body, &e.IsDangerous, &e.IsWrite)
	e.AccountID, e.MemberID = uint64(account), uint64(person)
	if outcome != "" {
		e.Params = []Param{{"error", outcome}}
	}
	return e, err
}

// position is an entry's position in the list. Cursors hold it.
type position struct {
	CreatedAt int64  `json:"created_at"`
	ID        string `json:"audit_id"`
}

func (e Entry) position() position { return position{e.CreatedAt, e.id} }

// before orders the list: newest first.
func before(a, b Entry) bool {
	return a.CreatedAt > b.CreatedAt || a.CreatedAt == b.CreatedAt && a.id > b.id
}

// shown is the largest number of resources that an entry shows.
const shown = 100

// touched orders by an expression on purpose. Else SQLite would read all rows of the account in the order of another
// key, instead of sorting the few rows of one entry.
const touched = `SELECT kind, object_id, object_name FROM audit_touched
	WHERE account_id = $1 AND audit_id = $2 ORDER BY kind || '', object_id LIMIT $3 + 0`

const channelsOf = `SELECT channel_id FROM audit_channel WHERE account_id = $1 AND audit_id = $2`

// shownTo completes the entry for a caller who may not read the hidden channels and what is private otherwise. An entry
// about one of these loses its body and resources. A refused call may have ended before its channel was known; then it
// counts as being about a hidden one.
func (e *Entry) shownTo(tx *db.Tx, hidden []int64, private func(string, []fault.Ref) (bool, error)) error {
	if err := e.withResources(tx); err != nil {
		return err
	}
	if concealed, err := private(e.Operation, e.Resources); err != nil {
		return err
	} else if concealed {
		e.Body, e.Resources = `{"redacted":"private application"}`, []fault.Ref{}
		return nil
	}
	if len(hidden) == 0 {
		return nil
	}
	about, err := db.All(tx, db.Column[int64], channelsOf, int64(e.AccountID), e.id)
	if err != nil {
		return err
	}
	refused := len(e.Params) > 0
	if refused && len(about) == 0 || slices.ContainsFunc(about, func(id int64) bool { return slices.Contains(hidden, id) }) {
		e.Body, e.Resources = `{"redacted":"private channel"}`, []fault.Ref{}
	}
	return nil
}

// withResources adds the objects that the entry's call changed.
func (e *Entry) withResources(tx *db.Tx) (err error) {
	e.Resources, err = db.All(tx, func(scan db.Scan) (r fault.Ref, err error) { return r, scan(&r.Kind, &r.ID, &r.Name) },
		touched, int64(e.AccountID), e.id, shown)
	return err
}
