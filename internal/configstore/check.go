package configstore

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/id"
)

// RecordPath is the path of the record under check, such as "silence_rules[3]"; empty for a request, whose members
// are paths by themselves.
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

// FirstError returns the first error that is not nil, so that a record's checks read as a list.
func FirstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// Invalid returns fault.Invalid for a member of the record; with an empty member, for the record itself. The format names
// the bound and the value.
func (a RecordPath) Invalid(member, format string, args ...any) error {
	if member != "" {
		a = a.Member(member)
	}
	return fault.Invalid(string(a), format, args...)
}

// Twice returns fault.Invalid for a record with the identifier of another record of its section.
func (a RecordPath) Twice(member string, id any) error {
	return a.Invalid(member, "%v is given twice", id)
}

// Account returns fault.Invalid for a record of another account; 0 is valid.
func (a RecordPath) Account(got, want int64) error {
	if got != 0 && got != want {
		return a.Invalid("account_id", "must be %d, the account of the file, got %d", want, got)
	}
	return nil
}

// Object returns fault.Invalid unless the value is an object id.
func (a RecordPath) Object(member, value string) error {
	if !id.IsObject(value) {
		return a.Invalid(member, "must be 24 hexadecimal digits, got %s", shown(value))
	}
	return nil
}

// OneOf returns fault.Invalid unless the value is one of those listed; the empty one, if it is among them, comes first.
func (a RecordPath) OneOf(member, value string, allowed ...string) error {
	if slices.Contains(allowed, value) {
		return nil
	}
	list := slices.Clone(allowed)
	if list[0] == "" {
		list[0] = `""`
	}
	return a.Invalid(member, "must be one of %s, got %s", fault.Words(list), shown(value))
}

// Length returns fault.Invalid unless a text has least to most characters.
func (a RecordPath) Length(member, value string, least, most int) error {
	if n := utf8.RuneCountInString(value); n < least || n > most {
		return a.Invalid(member, "must have %d to %d characters, got %d", least, most, n)
	}
	return nil
}

// Email returns fault.Invalid unless the value has the form of an e-mail address: text on both sides of an @, and no
// character that has a meaning in a mail's header. It cannot check that the address exists.
func (a RecordPath) Email(member, value string) error {
	before, after, found := strings.Cut(value, "@")
	if !found || before == "" || after == "" || strings.ContainsAny(value, " \t\r\n<>,") {
		return a.Invalid(member, "must be an e-mail address, got %.80q", value)
	}
	return nil
}

// AtLeast returns fault.Invalid unless a number is at least least.
func (a RecordPath) AtLeast(member string, value, least int64) error {
	if value < least {
		return a.Invalid(member, "must be at least %d, got %d", least, value)
	}
	return nil
}

// shown returns a quoted and shortened value for errors.
func shown(value string) string {
	if n := utf8.RuneCountInString(value); n > 60 {
		return "a text of " + strconv.Itoa(n) + " characters"
	}
	return strconv.Quote(value)
}
