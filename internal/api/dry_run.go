package api

import (
	"errors"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fair"
	"tocsin/internal/platform/fault"
)

// DryRun is embedded in the request of a write that supports dry runs. The frame runs such a call like any other, in a
// write transaction, and rolls it back: so the reply is what the call would have done, not a guess. Dry runs are not
// recorded in the audit log, because they change nothing.
//
// A reply that takes long to compute has the method Completion() func(*Call) error, which returns nil if nothing is to be
// computed. The frame calls the function after the transaction, also of a write that is stored, when other writers wait no more,
// in the account's turn. The function may use Call.Read.
type DryRun struct {
	Only bool `json:"dry_run,omitzero" doc:"Change nothing, and answer what would happen."`
}

func (d DryRun) isDryRun() bool { return d.Only }

func wantsDryRun(in any) bool {
	d, ok := in.(interface{ isDryRun() bool })
	return ok && d.isDryRun()
}

// Removal is the reply of an operation that deletes: {} when it did. For a dry run the frame fills in the members.
type Removal struct {
	DryRun  bool        `json:"dry_run,omitzero" doc:"Nothing was changed; the other members describe what would have been."`
	Allowed *bool       `json:"allowed,omitzero" doc:"With dry_run: whether it would be done."`
	Error   *errorBody  `json:"error,omitzero" doc:"With dry_run: why it would not be."`
	Refs    []fault.Ref `json:"refs,omitzero" doc:"With dry_run: what refers to it and keeps it from being deleted, at most 100."`
	Removes []fault.Ref `json:"removes,omitzero" doc:"With dry_run: what would be deleted, with all that belongs to it."`
	Changes []fault.Ref `json:"changes,omitzero" doc:"With dry_run: what would be changed because it names what would be deleted."`
	Warnings
}

var errDryRun = errors.New("rolled back: a dry run")

// completer is a reply that is completed after its transaction, see DryRun.
type completer interface{ Completion() func(c *Call) error }

// dryRun runs a write, rolls it back and encodes its reply. A refusal because the object is referenced, or because its
// state forbids deleting it, is the result that the caller asked for and not a failure.
func (f *Frame) dryRun(x *exchange, do func(*db.Tx) error, data *any) error {
	err := f.DB.WriteOf(x.call.Ctx, x.call.Who.AccountID, func(tx *db.Tx) error {
		err := do(tx)
		if err == nil {
			err = tx.Flush()
		}
		if err == nil && x.after != nil {
			x.moved, err = x.after(&x.call)
		}
		_, removal := (*data).(*Removal)
		switch kind := fault.KindOf(err); {
		case err == nil && removal:
			allowed := true
			*data = &Removal{DryRun: true, Allowed: &allowed, Removes: x.call.removed, Changes: x.call.changed}
		case removal && (kind == fault.ReferenceExist || kind == fault.Conflict):
			_, body, details := failure(err, x.r.Header.Get("Accept-Language"))
			r := Removal{DryRun: true, Allowed: new(bool), Error: &body}
			if details != nil {
				r.Refs = details.Refs
			}
			*data = &r
		case err != nil:
			return err
		}
		return errDryRun
	})
	if !errors.Is(err, errDryRun) {
		return err
	}
	if completion := x.completionOf(*data); completion != nil {
		if err := f.complete(x, completion); err != nil {
			return err
		}
	}
	return x.encode(*data)
}

// complete computes the rest of a reply in the account's turn.
func (f *Frame) complete(x *exchange, completion func(*Call) error) error {
	leave, err := f.Turns.Enter(x.call.Ctx, fair.Of(x.call.Who.AccountID), callerKey(x.call.Who))
	if err != nil {
		return err
	}
	defer leave()
	x.call.Tx, x.call.read = nil, f.DB.Snapshot
	return completion(&x.call)
}
