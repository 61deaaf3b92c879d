package api

import (
	"context"
	"time"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/redact"
)

// AuditEntry is one call that wrote, or tried to, as the audit log stores it.
type AuditEntry struct {
	At         time.Time
	AccountID  int64
	PersonID   int64
	PersonName string // as it was at that moment
	RequestID  string
	IP         string
	Operation  string // such as schedule:write:create
	Outcome    string // empty when the call succeeded, else the error code of the refusal
	Body       string // redacted JSON
	Dangerous  bool
	Write      bool
	Touched    []fault.Ref // the objects that it changed; empty when it was refused
	Channels   []int64     // the channels that its permission was checked for, refused or not
}

// auditBody is the largest part of a request body that the audit log stores, in bytes.
const auditBody = 16 << 10

// record writes the call into the account's audit log. It runs in the transaction of the change itself, so that a
// committed change is always recorded and a rolled back one never. body is the redacted request body, see kept.
func (f *Frame) record(tx *db.Tx, x *exchange, body, outcome string) error {
	touched := x.call.touched
	if outcome != "" {
		touched = nil // the changes were rolled back
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

// notRead is what the audit log stores of a call that was refused before its body was read.
const notRead = `{"redacted":"not read"}`

// kept returns what the audit log stores of the call's body, which is redacted once if it is large; nil: it was not read.
func (f *Frame) kept(x *exchange, body []byte) string {
	if x.known != "" {
		return x.known
	}
	return f.redacted(x.op, body)
}

// redacted returns a body of an operation without its secrets.
func (f *Frame) redacted(op *mounted, body []byte) string {
	if body == nil {
		return notRead
	}
	f.prepare(op)
	return redact.JSON(body, op.shape, auditBody)
}

// recordRefusal records a write that was refused. It needs a transaction of its own, because the call's was rolled
// back. If recording fails, the error is only logged: the caller must still see why the call was refused.
func (f *Frame) recordRefusal(x *exchange, body []byte, refused error) {
	code, known := wire[fault.KindOf(refused)].code, f.kept(x, body)
	err := f.DB.WriteOf(context.WithoutCancel(x.call.Ctx), x.call.Who.AccountID, func(tx *db.Tx) error {
		return f.record(tx, x, known, code)
	})
	if err != nil {
		f.Log.Error("a refused write is missing from the audit log", "request_id", x.call.RequestID, "error", err)
	}
}
