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

// PathOf is the path of the element of a section at index, counted from 0.
func PathOf(section string, index int) RecordPath {
	return RecordPath(section + "[" + strconv.Itoa(index) + "]")
}

// Element is the path of the element at index of a member that is an array.
func (a RecordPath) Element(member string, index int) RecordPath {
	return PathOf(string(a.Member(member)), index)
}

// Member is the path of a member.
func (a RecordPath) Member(member string) RecordPath {
	if a == "" {
		return RecordPath(member)
	}
	return a + RecordPath("."+member)
}

// FirstError is the first error that is not nil, so that a record's checks read as a list.
func FirstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// Invalid reports a member of the record, or with an empty member the record itself; the format names the
// bound and what came.
func (a RecordPath) Invalid(member, format string, args ...any) error {
	if member != "" {
		a = a.Member(member)
	}
	return fault.Invalid(string(a), format, args...)
}

// Twice reports a record whose identifier another one of its section has.
func (a RecordPath) Twice(member string, id any) error {
	return a.Invalid(member, "%v is given twice", id)
}

// Account refuses a record of another account; 0 is one that does not say.
func (a RecordPath) Account(got, want int64) error {
	if got != 0 && got != want {
		return a.Invalid("account_id", "must be %d, the account of the file, got %d", want, got)
	}
	return nil
}

// Object asks for an object id.
func (a RecordPath) Object(member, value string) error {
	if !id.IsObject(value) {
		return a.Invalid(member, "must be 24 hexadecimal digits, got %s", shown(value))
	}
	return nil
}

// OneOf asks for one of the listed values; the empty one, if it is among them, comes first.
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

// Length asks for a text of least to most characters.
func (a RecordPath) Length(member, value string, least, most int) error {
	if n := utf8.RuneCountInString(value); n < least || n > most {
		return a.Invalid(member, "must have %d to %d characters, got %d", least, most, n)
	}
	return nil
}

// Email wants an e-mail address: something on both sides of an @, and nothing that a mail's header would read as its
// own. Whether it exists only a mail can tell.
func (a RecordPath) Email(member, value string) error {
	before, after, found := strings.Cut(value, "@")
	if !found || before == "" || after == "" || strings.ContainsAny(value, " \t\r\n<>,") {
		return a.Invalid(member, "must be an e-mail address, got %.80q", value)
	}
	return nil
}

// AtLeast asks for a number of at least least.
func (a RecordPath) AtLeast(member string, value, least int64) error {
	if value < least {
		return a.Invalid(member, "must be at least %d, got %d", least, value)
	}
	return nil
}

// shown quotes a value, shortened: an error says what was wrong, not all of it.
func shown(value string) string {
	if n := utf8.RuneCountInString(value); n > 60 {
		return "a text of " + strconv.Itoa(n) + " characters"
	}
	return strconv.Quote(value)
}
