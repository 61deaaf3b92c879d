// Package configstore holds the checks that packages share for the records of an account file and for requests.
//
// Each check returns nil or a fault.Invalid that names the record, the member, the bound and what came, such
// as "silence_rules[3].rule_id: must be 24 hexadecimal digits, got "x"". It must never be given a secret.
package configstore

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/id"
)

// RecordPath is the path of the record that is checked, such as "silence_rules[3]". It is empty for a request, in which the
// name of a member is its path.
type RecordPath string

// PathOf returns the path of the element of a section at index, counted from 0.
func PathOf(section string, index int) RecordPath {
	return RecordPath(section + "[" + strconv.Itoa(index) + "]")
}

// Element returns the path of the element at index of a member that is an array.
func (a RecordPath) Element(member string, index int) RecordPath {
	return PathOf(string(a.Member(member)), index)
}

// Member returns the path of a member.
func (a RecordPath) Member(member string) RecordPath {
	if a == "" {
		return RecordPath(member)
	}
	return a + RecordPath("."+member)
}

// FirstError returns the first error that is not nil, so that a record's checks read as a list. All of them are computed.
func FirstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// Invalid returns the error for a member of the record, or for the record itself if member is empty. The format names
// the bound and what came.
func (a RecordPath) Invalid(member, format string, args ...any) error {
	if member != "" {
		a = a.Member(member)
	}
	return fault.Invalid(string(a), format, args...)
}

// Twice returns the error for a record that has the same identifier as another record of its section.
func (a RecordPath) Twice(member string, id any) error {
	return a.Invalid(member, "%v is given twice", id)
}

// Account rejects a record of another account; 0 is a record without an account.
func (a RecordPath) Account(got, want int64) error {
	if got != 0 && got != want {
		return a.Invalid("account_id", "must be %d, the account of the file, got %d", want, got)
	}
	return nil
}

// Object rejects a value that is no object id of 24 hexadecimal digits.
func (a RecordPath) Object(member, value string) error {
	if !id.IsObject(value) {
		return a.Invalid(member, "must be 24 hexadecimal digits, got %s", shown(value))
	}
	return nil
}

// OneOf rejects a value that is not allowed. An empty value, if it is allowed, must be the first of allowed.
func (a RecordPath) OneOf(member, value string, allowed ...string) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	list := strings.Join(allowed, ", ")
	if allowed[0] == "" {
		list = `""` + list
	}
	return a.Invalid(member, "must be one of %s, got %s", list, shown(value))
}

// Length rejects a text that has not least to most characters.
func (a RecordPath) Length(member, value string, least, most int) error {
	if n := utf8.RuneCountInString(value); n < least || n > most {
		return a.Invalid(member, "must have %d to %d characters, got %d", least, most, n)
	}
	return nil
}

// Email rejects a value that is no e-mail address: text on both sides of an @, and no character with a meaning in the
// header of a mail. It does not check whether the address exists.
func (a RecordPath) Email(member, value string) error {
	before, after, found := strings.Cut(value, "@")
	if !found || before == "" || after == "" || strings.ContainsAny(value, " \t\r\n<>,") {
		return a.Invalid(member, "must be an e-mail address, got %.80q", value)
	}
	return nil
}

// AtLeast rejects a number below least.
func (a RecordPath) AtLeast(member string, value, least int64) error {
	if value < least {
		return a.Invalid(member, "must be at least %d, got %d", least, value)
	}
	return nil
}

// shown quotes a value of at most 60 characters. Of a longer value it returns only the length, so that errors stay
// short.
func shown(value string) string {
	if n := utf8.RuneCountInString(value); n > 60 {
		return "a text of " + strconv.Itoa(n) + " characters"
	}
	return strconv.Quote(value)
}
