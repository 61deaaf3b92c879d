// Package fault is how the rest of Tocsin says that something went wrong: an error with a kind, a
// sentence for the caller and, where there is one, a private cause for the log.
//
// Rooms return faults; the frame alone turns kinds into statuses and wire codes. A private cause must
// never reach a caller, and a public sentence must never hold a secret.
package fault

import (
	"errors"
	"fmt"
)

// Kind says what sort of failure it is, in the domain's terms. The frame's table in
// internal/api/errors.go gives each kind its HTTP status and wire code.
type Kind uint8

// The kinds of docs/api.md, "Errors".
const (
	Internal           Kind = iota // a fault of ours; the caller learns nothing but the request id
	InvalidParameter               // a request field is missing, malformed or out of bounds
	BadRequest                     // the request is wrong in a way that has no field
	InvalidContentType             // the body is not declared as application/json
	NotFound                       // the object does not exist in the caller's account
	ReferenceExist                 // a delete is blocked by what refers to the object
	Unauthorized                   // no app key, or one that is unknown, expired or disabled
	AccessDenied                   // the key is good, its permissions do not reach this far
	RouteNotFound                  // no operation has this path
	MethodNotAllowed               // the path is known, the method is not POST
	TooLarge                       // the body is over the operation's cap
	TooFrequent                    // a rate limit is used up
	Unavailable                    // something this needs is down; trying again may help
	Conflict                       // the change lost against another one, or the object is in the wrong state
)

// Error is a failure with everything both audiences need.
type Error struct {
	Kind    Kind
	Field   string // path of the offending request field, such as layers[2].rotation_value; may be empty
	Message string // one clause for the caller: the bound and what came; never a secret
	Object  Ref    // of a ReferenceExist: what could not be deleted, by kind and id
	Refs    []Ref  // of a ReferenceExist: what refers to the object
	Cause   error  // for the log only
}

// Ref names an object of the account for people and programs.
type Ref struct {
	Kind string `json:"kind" doc:"What it is, such as schedule, team or escalate_rule."`
	ID   string `json:"id" doc:"Its identifier; numbers in decimal."`
	Name string `json:"name" doc:"What people call it."`
}

func (e *Error) Error() string {
	text := e.Message
	if e.Field != "" {
		text = e.Field + ": " + text
	}
	if e.Cause != nil {
		text += ": " + e.Cause.Error()
	}
	return text
}

func (e *Error) Unwrap() error { return e.Cause }

// Invalid reports a request field that is missing, malformed or out of bounds. The format names the
// bound and what came, for example Invalid("limit", "must be from 1 to 100, got %d", n).
func Invalid(field, format string, args ...any) error {
	return &Error{Kind: InvalidParameter, Field: field, Message: fmt.Sprintf(format, args...)}
}

// Missing reports that a named object does not exist in the caller's account: of another account's
// objects nothing else is ever said.
func Missing(kind string, id any) error {
	return &Error{Kind: NotFound, Message: fmt.Sprintf("%s %v does not exist", kind, id)}
}

// Denied reports that the key may not do this; the format says what it would have needed.
func Denied(format string, args ...any) error {
	return &Error{Kind: AccessDenied, Message: fmt.Sprintf(format, args...)}
}

// New is any other failure with a sentence for the caller.
func New(kind Kind, format string, args ...any) error {
	return &Error{Kind: kind, Message: fmt.Sprintf(format, args...)}
}

// Wrap adds what was being done to an unexpected error; it stays Internal, so the caller sees none of
// it. Wrapping nil is nil.
func Wrap(err error, doing string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf(doing+": %w", append(args, err)...)
}

// KindOf gives the kind of the first fault in the chain, Internal for any other error.
func KindOf(err error) Kind {
	var f *Error
	if errors.As(err, &f) {
		return f.Kind
	}
	return Internal
}
