// Package fault defines the errors of Tocsin: a kind, a sentence for the caller and optionally a private
// cause for the log.
//
// Packages return faults; only internal/api turns kinds into HTTP statuses and wire codes. A private cause
// must never reach a caller, and a public sentence must never hold a secret.
package fault

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Kind classifies a failure in the domain's terms. The table in internal/api/errors.go maps each kind to its
// HTTP status and wire code.
type Kind uint8

// The kinds of docs/api.md, "Errors".
const (
	Internal           Kind = iota // a fault of the program; the caller sees the request id only
	InvalidParameter               // a request field is missing, malformed or out of bounds
	BadRequest                     // the request is wrong in a way that has no field
	InvalidContentType             // the body is not declared as application/json
	NotFound                       // the object does not exist in the caller's account
	ReferenceExist                 // the object cannot be deleted, because others refer to it
	Unauthorized                   // no app key, or one that is unknown, expired or disabled
	AccessDenied                   // the app key is valid, but lacks the permission
	RouteNotFound                  // no operation has this path
	MethodNotAllowed               // the path is known, the method is not POST
	TooLarge                       // the body exceeds the operation's limit
	TooFrequent                    // a rate limit is exceeded
	Unavailable                    // a dependency, such as the database, is down; a retry may help
	Conflict                       // another change came first, or the object is in the wrong state
	Outdated                       // the request was made for an older revision of the object
	NoEdge                         // no edge that could answer is live
	Timeout                        // an edge did not answer in time
	Replaced                       // another process has taken the place of the caller's
)

// Error is a failure with the texts for the caller and for the log.
type Error struct {
	Kind    Kind
	Field   string // path of the offending request field, such as layers[2].rotation_value; may be empty
	Message string // one clause for the caller: the bound and the value received; never a secret
	Text    Clause // what Message was made of; empty: it was made elsewhere
	Object  Ref    // for ReferenceExist: the object that cannot be deleted, by kind and id
	Refs    []Ref  // for ReferenceExist: the objects that refer to it
	Newer   int64  // for Outdated: the object's present revision

	Retry time.Duration // for TooFrequent: when the call may be made again; 0: it is not known
	Cause error         // for the log only
}

// Ref identifies an object of the account, for people and programs.
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

// Clause returns the message as what it was made of.
func (e *Error) Clause() Clause {
	if e.Text.Format == "" {
		return NewClause("%s", e.Message)
	}
	return e.Text
}

// Clause is a text for people as what it was made of, so that it can be shown in another language: a format, which that language
// has in its own words, and its arguments. An argument with a method Clause is a part of the text; Word and Words are words of
// Tocsin; any other is of the caller, or an identifier, and is the same in every language.
type Clause struct {
	Format string
	Args   []any
}

// NewClause returns a clause. The format and its arguments are those of fmt.Sprintf.
func NewClause(format string, args ...any) Clause { return Clause{format, args} }

// String returns the clause in English.
func (c Clause) String() string { return fmt.Sprintf(c.Format, c.Args...) }

// Clause returns the clause itself: a clause may be an argument of another.
func (c Clause) Clause() Clause { return c }

// Word is a word of Tocsin as an argument of a message, such as a kind of objects.
type Word string

// Words are words of Tocsin as an argument of a message, such as all values that a field may have.
type Words []string

// String returns the words with commas between them.
func (w Words) String() string { return strings.Join(w, ", ") }

// Invalid returns the error of a request field that is missing, malformed or out of bounds. The format names
// the bound and the value received, for example Invalid("limit", "must be from 1 to 100, got %d", n).
func Invalid(field, format string, args ...any) error {
	return withMessage(Error{Kind: InvalidParameter, Field: field}, format, args)
}

// Missing returns the error of an object that does not exist in the caller's account. Objects of other accounts
// have the same error, so that it does not reveal whether they exist.
func Missing(kind string, id any) error {
	return New(NotFound, "%s %v does not exist", Word(kind), id)
}

// Denied returns the error of an app key without a permission; the format names the permission it lacks.
func Denied(format string, args ...any) error {
	return withMessage(Error{Kind: AccessDenied}, format, args)
}

// TooSoon returns the error of a call that may be made again after a time.
func TooSoon(after time.Duration, format string, args ...any) error {
	return withMessage(Error{Kind: TooFrequent, Retry: after}, format, args)
}

// New returns an error of any other kind with a sentence for the caller.
func New(kind Kind, format string, args ...any) error {
	return withMessage(Error{Kind: kind}, format, args)
}

// withMessage returns an error with its message.
func withMessage(e Error, format string, args []any) error {
	e.Text = NewClause(format, args...)
	e.Message = e.Text.String()
	return &e
}

// Wrap adds to an unexpected error what the program was doing. Its kind stays Internal, so the caller sees none
// of it. Wrap returns nil for nil.
func Wrap(err error, doing string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf(doing+": %w", append(args, err)...)
}

// KindOf returns the kind of the first fault in the chain of err, Internal for any other error.
func KindOf(err error) Kind {
	var f *Error
	if errors.As(err, &f) {
		return f.Kind
	}
	return Internal
}
