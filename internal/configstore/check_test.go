package configstore_test

import (
	"errors"
	"strings"
	"testing"

	"tocsin/internal/configstore"
	"tocsin/internal/platform/fault"
)

const hex = "663a1b2c3d4e5f6789abcdef"

func TestChecks(t *testing.T) {
	at := configstore.PathOf("things", 3)
	for _, c := range []struct {
		err  error
		want string // empty: no error
	}{
		{at.Account(0, 7), ""},
		{at.Account(7, 7), ""},
		{at.Account(8, 7), "things[3].account_id: must be 7, the account of the file, got 8"},
		{at.Object("id", hex), ""},
		{at.Object("id", strings.ToUpper(hex)), ""},
		{at.Object("id", hex[1:]), `things[3].id: must be 24 hexadecimal digits, got "` + hex[1:] + `"`},
		{at.Object("id", strings.Repeat("é", 61)), "things[3].id: must be 24 hexadecimal digits, got a text of 61 characters"},
		{at.OneOf("mode", "b", "a", "b"), ""},
		{at.OneOf("mode", "", "", "b"), ""},
		{at.OneOf("mode", "", "a", "b"), `things[3].mode: must be one of a, b, got ""`},
		{at.OneOf("mode", "c", "", "b"), `things[3].mode: must be one of "", b, got "c"`},
		{at.Length("name", "éé", 1, 2), ""},
		{at.Length("name", "", 0, 2), ""},
		{at.Length("name", "", 1, 2), "things[3].name: must have 1 to 2 characters, got 0"},
		{at.Length("name", "ééé", 1, 2), "things[3].name: must have 1 to 2 characters, got 3"},
		{at.AtLeast("n", 5, 5), ""},
		{at.AtLeast("n", 4, 5), "things[3].n: must be at least 5, got 4"},
		{at.Twice("id", 9), "things[3].id: 9 is given twice"},
		{at.Element("parts", 2).Invalid("size", "is %d", 1), "things[3].parts[2].size: is 1"},
		{at.Element("parts", 2).Invalid("", "is odd"), "things[3].parts[2]: is odd"},
		{configstore.FirstError(), ""},
		{configstore.FirstError(nil, at.AtLeast("a", 0, 1), at.AtLeast("b", 0, 1)), "things[3].a: must be at least 1, got 0"},
	} {
		var f *fault.Error
		switch {
		case c.want == "" && c.err != nil:
			t.Errorf("%v, want none", c.err)
		case c.want != "" && (!errors.As(c.err, &f) || f.Kind != fault.InvalidParameter || f.Error() != c.want):
			t.Errorf("%v, want %q", c.err, c.want)
		}
	}
}
