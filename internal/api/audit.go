package api

import (
	"context"
	"time"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/redact"
)

// AuditEntry is one call that wrote, or tried to, as the audit log keeps it.
type AuditEntry struct {
	At         time.Time
	AccountID  int64
	PersonID   int64
	PersonName string // as it was at that moment
	RequestID  string
	IP         string
	Operation  string // such as schedule:write:create
	Outcome    string // empty when it was done, else the error code it was refused with
	Body       string // redacted JSON
	Dangerous  bool
	Write      bool
	Touched    []fault.Ref // what it changed; empty when it was refused
	Channels   []int64     // for which it asked permission, refused or not
}

// auditBody is how much of a request the audit log keeps, in bytes.
const auditBody = 16 << 10

// record writes the call into the account's audit log, in the transaction of the change itself: what is
// changed is recorded, what is rolled back is not. body is what is kept of the request's.
func (f *Frame) record(tx *db.Tx, x *exchange, body, outcome string) error {
	touched := x.call.touched
	if outcome != "" {
		touched = nil // it was rolled back
	}
	return f.Audit(tx, AuditEntry{
		At:        x.call.Now,
		AccountID: x.call.Who.AccountID, PersonID: x.call.Who.PersonID, PersonName: x.call.Who.PersonName,
		RequestID: x.call.RequestID, IP: x.call.IP,
		Operation: x.op.Audit, Outcome: outcome,
		Body:      body,
		Dangerous: x.op.Danger, Write: true, Touched: touched, Channels: x.asked,
	})
}

// kept is what the audit log keeps of a body; of a call that was refused before its body was read there is
// none.
func kept(body []byte) string {
	if body == nil {
		return `{"redacted":"not read"}`
	}
	return redact.JSON(body, auditBody)
}

// recordRefusal writes down a write that was tried and refused, in a transaction of its own because the
// call's was rolled back. That it cannot be written must not hide why the call was refused.
func (f *Frame) recordRefusal(x *exchange, body []byte, refused error) {
	code, known := wire[fault.KindOf(refused)].code, kept(body)
	err := f.DB.Write(context.WithoutCancel(x.call.Ctx), func(tx *db.Tx) error { return f.record(tx, x, known, code) })
	if err != nil {
		f.Log.Error("a refused write is missing from the audit log", "request_id", x.call.RequestID, "error", err)
	}
}
