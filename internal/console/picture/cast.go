package picture

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"tocsin/internal/console/locale"
)

// Mark is a person as pictures show them: the name, shorter forms for narrow bars, and a colour.
type Mark struct {
	ID              int64
	Name            string
	Short, Initials string
	Hue             int
	Striped         bool // half of the persons of a colour are striped
	Fit             string
	Me              bool
}

// hues is how many colours of persons there are.
const hues = 8

// MarkOf returns the mark of a person: the identifier decides the colour, so a person has the same one on every page.
func MarkOf(id int64, name string) Mark {
	mixed := uint64(id) // identifiers are near each other, so all their digits must count
	for range 2 {
		mixed *= 0xc4ceb9fe1a85ec53
		mixed ^= mixed >> 32
	}
	return Mark{
		ID: id, Name: name, Short: shortName(name), Initials: initials(name), Fit: fit(name),
		Hue: int(mixed % hues), Striped: mixed/hues%2 == 1,
	}
}

// Cast holds the names of persons, in the order in which they were added.
type Cast struct {
	in    locale.Setting
	me    int64
	Order []int64
	names map[int64]string
}

// NewCast returns an empty cast, for the person me.
func NewCast(in locale.Setting, me int64) *Cast {
	return &Cast{in: in, me: me, names: map[int64]string{}}
}

// AddPersons adds persons that are not there yet. 0 is none.
func (c *Cast) AddPersons(ids ...int64) {
	for _, id := range ids {
		if id != 0 && !slices.Contains(c.Order, id) {
			c.Order = append(c.Order, id)
		}
	}
}

// Persons returns the persons of the cast in the order in which they were added.
func (c *Cast) Persons() []int64 { return c.Order }

// SetName names a person.
func (c *Cast) SetName(id int64, name string) { c.names[id] = name }

// Named reports whether a person was named.
func (c *Cast) Named(id int64) bool {
	_, known := c.names[id]
	return known
}

// Mark returns a person.
func (c *Cast) Mark(id int64) Mark {
	name := c.names[id]
	if name == "" {
		name = c.in.T("person %d", id)
	}
	m := MarkOf(id, name)
	m.Me = id == c.me
	return m
}

// Marks returns persons in their order.
func (c *Cast) Marks(ids []int64) []Mark {
	all := make([]Mark, len(ids))
	for i, id := range ids {
		all[i] = c.Mark(id)
	}
	return all
}

// shortName returns the first word of a name, which is what fits where the whole does not.
func shortName(name string) string {
	if first, _, found := strings.Cut(strings.TrimSpace(name), " "); found {
		return first
	}
	return name
}

// initials returns the first letters of the first and last word; of a name in Chinese characters the first one.
func initials(name string) string {
	words := strings.Fields(name)
	if len(words) == 0 {
		return "?"
	}
	first, _ := utf8.DecodeRuneInString(words[0])
	if len(words) == 1 || wide(first) {
		return string(unicode.ToUpper(first))
	}
	last, _ := utf8.DecodeRuneInString(words[len(words)-1])
	return string(unicode.ToUpper(first)) + string(unicode.ToUpper(last))
}

// wide reports whether a character is as wide as two others.
func wide(r rune) bool { return r >= 0x2e80 }

// fit returns the class by which the stylesheet decides whether a text fits into a bar: its length in steps of two.
func fit(text string) string {
	quarters := 0
	for _, r := range text {
		switch {
		case wide(r):
			quarters += 8
		case r > unicode.MaxLatin1: // the font of the system, which is wider than ours
			quarters += 5
		default:
			quarters += 4
		}
	}
	n := min((quarters+3)/4, 22)
	return "f" + []string{"4", "4", "4", "6", "8", "10", "12", "14", "16", "18", "22", "22"}[min((n+1)/2, 11)]
}
