package audit

import "tocsin/internal/db"

// entry is one call as the audit log shows it.
type entry struct {
	CreatedAt     int64   `json:"created_at" doc:"When, in Unix milliseconds."`
	AccountID     uint64  `json:"account_id" doc:"The account."`
	MemberID      uint64  `json:"member_id" doc:"The person whose key it was."`
	MemberName    string  `json:"member_name" doc:"The person's name at that time."`
	RequestID     string  `json:"request_id" doc:"The call's request_id."`
	IP            string  `json:"ip" doc:"The address it came from."`
	Operation     string  `json:"operation" doc:"What it was, such as schedule:write:create."`
	OperationName string  `json:"operation_name" doc:"The same in words, in the language of the account's owner."`
	Body          string  `json:"body" doc:"The request's body as JSON, without credentials; cut when it was long."`
	Params        []param `json:"params" doc:"What else is known: error, the code with which the call was refused; empty when it was done."`
	IsDangerous   bool    `json:"is_dangerous" doc:"The operation deletes or reveals."`
	IsWrite       bool    `json:"is_write" doc:"The operation changes something."`
	id            string
}

type param struct {
	Key   string `json:"Key" doc:"Its name."`
	Value string `json:"Value" doc:"Its value."`
}

const columns = `created_at, audit_id, account_id, person_id, person_name, request_id, ip, operation, outcome, body, is_dangerous, is_write`

func scan(row db.Scan) (e entry, err error) {
	var account, person int64
	var outcome string
	err = row(&e.CreatedAt, &e.id, &account, &person, &e.MemberName, &e.RequestID, &e.IP, &e.Operation, &outcome, &e.Body, &e.IsDangerous, &e.IsWrite)
	e.AccountID, e.MemberID = uint64(account), uint64(person)
	if outcome != "" {
		e.Params = []param{{"error", outcome}}
	}
	return e, err
}

// place is where an entry stands in the list, and what a cursor holds of it.
type place struct {
	CreatedAt int64  `json:"created_at"`
	ID        string `json:"audit_id"`
}

func (e entry) place() place { return place{e.CreatedAt, e.id} }

// before is the order of the list: newest first.
func before(a, b entry) bool {
	return a.CreatedAt > b.CreatedAt || a.CreatedAt == b.CreatedAt && a.id > b.id
}
