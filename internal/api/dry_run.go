package api

import (
	"errors"

	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
)

// DryRun is embedded in the request of a write that can be tried out. The frame runs such a call as it
// would any other, in a write transaction, and rolls it back: what a dry run answers is what the call would
// have done, not a guess. Dry runs are not recorded in the audit log, because they are no writes.
type DryRun struct {
	DryRun bool `json:"dry_run,omitzero" doc:"Do nothing, and answer what would happen."`
}

func (d DryRun) rehearsal() bool { return d.DryRun }

func rehearsed(in any) bool {
	d, ok := in.(interface{ rehearsal() bool })
	return ok && d.rehearsal()
}

// Removal is the reply of an operation that deletes: {} when it did. The frame fills it in for a dry run.
type Removal struct {
	DryRun  bool        `json:"dry_run,omitzero" doc:"Nothing was done; the other members tell what would have been."`
	Allowed *bool       `json:"allowed,omitzero" doc:"With dry_run: whether it would be done."`
	Error   *errorBody  `json:"error,omitzero" doc:"With dry_run: why it would not be."`
	Refs    []fault.Ref `json:"refs,omitzero" doc:"With dry_run: what refers to it and keeps it from being deleted, at most 100."`
	Removes []fault.Ref `json:"removes,omitzero" doc:"With dry_run: what would go away, with all that belongs to it."`
	Warnings
}

var errRehearsal = errors.New("only rehearsed")

// dryRun runs a write, encodes what would come of it and rolls it back. That something refers to the
// object, or that its state forbids deleting it, is what the caller wants to know and no failure.
func (f *Frame) dryRun(x *exchange, do func(*db.Tx) error, data *any) error {
	err := f.DB.Write(x.call.Ctx, func(tx *db.Tx) error {
		err := do(tx)
		_, removal := (*data).(*Removal)
		switch kind := fault.KindOf(err); {
		case err == nil && removal:
			allowed := true
			*data = &Removal{DryRun: true, Allowed: &allowed, Removes: x.call.removed}
		case removal && (kind == fault.ReferenceExist || kind == fault.Conflict):
			_, body, refs := failure(err, x.r.Header.Get("Accept-Language"))
			r := Removal{DryRun: true, Allowed: new(bool), Error: &body}
			if refs != nil {
				r.Refs = refs.Refs
			}
			*data = &r
		case err != nil:
			return err
		}
		if err := x.encode(*data); err != nil {
			return err
		}
		return errRehearsal
	})
	if errors.Is(err, errRehearsal) {
		return nil
	}
	return err
}
