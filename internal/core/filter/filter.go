// Package filter decides whether an alert, an event or an incident meets the
// conditions of a rule (the specification, 2.7, which defines only their
// shape). It is pure: it must never know what a rule does, nor where the fields
// come from.
//
// A filter is an OR of ANDs: it matches if any group matches, and a group
// matches if all of its conditions do. A filter without groups matches
// everything; a rule that must have a filter checks that itself.
package filter

import "tocsin/internal/platform/fault"

// Filter is the wire form: groups of conditions.
type Filter []Group

// MaxItems returns the bound of groups, for the schema.
func (Filter) MaxItems() int { return MaxGroups }

// Group is conditions that must all be met.
type Group []Condition

// MaxItems returns the bound of conditions, for the schema.
func (Group) MaxItems() int { return MaxConditions }

// Condition compares one field with some values. IN is true if any of them
// matches, NOTIN if none does. An absent field never meets IN and always meets
// NOTIN.
//
// Key is a field, an alias of one, or "labels." and the name of a label; any
// other key is the name of a label too (see Fields). Each of Vals is
// one of
//
//	/re/                     a regular expression (RE2), found anywhere
//	cidr:10.0.0.0/24         a network that the value, an IP address, is in
//	num:gt:5                 a bound for the value, a decimal number: gt, ge, lt
//	                         or le; compared in double precision
//	a*b?                     a wildcard for the whole value: "*" stands for any
//	                         characters, "?" for one; "*" alone matches a
//	                         field that is present
//	anything else            the value itself, in the same case; "" is a value
type Condition struct {
	Key  string   `json:"key" maxLength:"255" doc:"Field such as severity, or labels. with the name of a label."`
	Oper string   `json:"oper" maxLength:"5" doc:"IN: one of the values matches; NOTIN: none does."`
	Vals []string `json:"vals" maxItems:"1000" maxLength:"2048" doc:"Texts, where * and ? stand for any characters and for one; /re/ for a regular expression, cidr:10.0.0.0/24 for a network, num:gt:5 (gt, ge, lt, le) for a bound."`
}

// The operators.
const (
	In    = "IN"
	NotIn = "NOTIN"
)

// Fields is what a filter reads. Both methods report whether the field is
// present; a present field may be empty.
type Fields interface {
	// Field returns a built-in field: severity, status, title, description,
	// integration_id (in digits), alert_key, title_rule or dedup_key. A kind
	// of object that lacks one of them reports it as absent.
	Field(name string) (value string, ok bool)
	// Label returns the label of that name.
	Label(name string) (value string, ok bool)
}

// builtin maps every key that is not a label to the field that it reads.
var builtin = map[string]string{
	"severity":       "severity",
	"status":         "status",
	"title":          "title",
	"description":    "description",
	"integration_id": "integration_id",
	"alert_key":      "alert_key",
	"title_rule":     "title_rule",
	"group_key":      "group_key",
	"dedup_key":      "dedup_key",

	"alert_severity":    "severity",
	"event_severity":    "severity",
	"incident_severity": "severity",
	"alert_status":      "status",
	"event_status":      "status",
	"incident_status":   "status",
	"data_source_id":    "integration_id",
}

// Error is what is wrong with a filter.
type Error struct {
	Path   string       // from the filter on: "[0][1].vals[2]"
	Value  string       // the value, or how many there are
	Want   fault.Clause // what is allowed, as in "must be IN or NOTIN"
	number bool         // Value is a number and stands without quotes
}

func (e *Error) Error() string { return e.Path + ": " + e.Reason() }

// Reason returns the error without its path: what is allowed, and what came.
func (e *Error) Reason() string { return e.Clause().String() }

// Clause returns the reason as what it is made of.
func (e *Error) Clause() fault.Clause {
	if e.number {
		return fault.NewClause("%s, got %s", e.Want, e.Value)
	}
	return fault.NewClause("%s, got %.100q", e.Want, e.Value)
}

// Check returns the first bound that f is beyond, else its first malformed
// part, as an *Error: a group without conditions, which would match
// everything, a condition without key or values, an unknown operator, or a
// malformed value of a special form (/re/, cidr:, num:).
func Check(f Filter) error {
	if beyond := within(f); beyond != nil {
		return beyond
	}
	_, err := compile(f, Instructions)
	return err
}
