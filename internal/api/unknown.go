package api

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// warns reports whether the reply names the unknown members of the request. A write would not store them. A list would
// return everything, as if the filter had matched.
func (op Op) warns() bool {
	return op.Effect == Write || strings.HasPrefix(path.Base(op.Path), "list")
}

// unknown returns a warning for each member of a checked body that its schema does not have. Such members are accepted,
// because clients may be newer than this server, but most are typing errors whose setting would silently be missing.
// Only the first maxWarnings are listed; more is the number of the others.
func (c *checker) unknown(body any) (list []string, more int) {
	c.walkUnknown(nil, body, func(at *jsonPath, nearest string) {
		if len(list) == maxWarnings {
			more++
			return
		}
		text := at.String() + ": is not known here and is ignored"
		if nearest != "" {
			text += fmt.Sprintf("; did you mean %s?", nearest)
		}
		list = append(list, text)
	})
	return list, more
}

// walkUnknown calls report with each unknown member and the known one that is spelled like it, or an empty text. Members
// of one object are reported by name, so that the same body always gets the same warnings.
func (c *checker) walkUnknown(at *jsonPath, v any, report func(at *jsonPath, nearest string)) {
	if c.forms != nil {
		c = c.form(v)
	}
	switch v := v.(type) {
	case []any:
		if c.items == nil {
			return
		}
		for i, item := range v {
			c.items.walkUnknown(&jsonPath{up: at, index: i}, item, report)
		}
	case map[string]any:
		known := 0
		for _, m := range c.fields {
			if value, given := v[m.name]; given {
				known++
				m.walkUnknown(&jsonPath{up: at, name: m.name}, value, report)
			}
		}
		if known == len(v) || c.Type != huma.TypeObject {
			return
		}
		names := make([]string, 0, len(v)-known)
		for name := range v {
			if c.Properties[name] == nil {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		for _, name := range names {
			here := &jsonPath{up: at, name: name}
			if c.values != nil {
				c.values.walkUnknown(here, v[name], report)
			} else {
				report(here, c.nearest(name))
			}
		}
	}
}

// nearest returns the field that is spelled most like a name; empty when none is close.
func (c *checker) nearest(name string) (nearest string) {
	if len(name) > 64 {
		return "" // no field is that long
	}
	least := len(name)/3 + 2 // a third of the letters may differ, and one more
	for _, m := range c.fields {
		if d := distance(folded(name), folded(m.name)); d < least {
			nearest, least = m.name, d
		}
	}
	return nearest
}

// folded makes rotationUnit, rotation-unit and rotation_unit the same.
func folded(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name))
}

// distance returns how many bytes must be inserted, deleted or replaced to turn a into b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
