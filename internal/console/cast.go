package console

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	schedules "tocsin/internal/schedule"
)

// mark is a person as pictures show them: the name, shorter forms for narrow bars, and a colour.
type mark struct {
	profile
	Short, Initials string
	Hue             int
	Striped         bool // the colour is another person's too
	Fit             string
	Me              bool
}

// hues is how many colours of persons there are. Neighbours in the stylesheet's order are far apart.
const hues = 8

// cast holds the names and colours of the persons of schedules. The order in which the layers name them decides, so that a person
// keeps the colour in every window, and those who hand over to each other have colours that are far apart.
type cast struct {
	*visit
	order  []int64
	places map[int64]int
	people map[int64]profile
}

func (v *visit) newCast() *cast { return &cast{visit: v, places: map[int64]int{}} }

// add adds the persons of a schedule.
func (c *cast) add(s schedule) {
	for _, l := range s.Layers() {
		for _, g := range l.Groups {
			for _, m := range g.Members {
				c.addPersons(m.PersonIDs...)
			}
		}
	}
	for _, e := range s.final() {
		c.addPersons(personsOf(e.Group)...)
	}
	for _, e := range []*schedules.OncallEntry{s.CurOncall, s.NextOncall} {
		if e != nil {
			c.addPersons(personsOf(e.Group)...)
		}
	}
	c.addOverrides(s.Overrides())
}

func (c *cast) addOverrides(list []schedules.Override) {
	for _, o := range list {
		c.addPersons(o.By, o.PersonID)
	}
}

func (c *cast) addPersons(ids ...int64) {
	for _, id := range ids {
		if _, known := c.places[id]; !known && id != 0 {
			c.places[id] = len(c.order)
			c.order = append(c.order, id)
		}
	}
}

// load reads the persons' names.
func (c *cast) load() error {
	c.people = map[int64]profile{}
	for some := range slices.Chunk(c.order, 1000) {
		found, err := c.visit.people(some)
		if err != nil {
			return err
		}
		for id, p := range found {
			c.people[id] = p
		}
	}
	return nil
}

// mark returns a person.
func (c *cast) mark(id int64) mark {
	p, known := c.people[id]
	if !known || p.Name == "" {
		p = profile{ID: id, Name: c.T("person %d", id)}
	}
	place := c.places[id]
	m := mark{profile: p, Hue: place % hues, Striped: place >= hues, Me: id == c.who.PersonID}
	m.Short, m.Initials = shortName(p.Name), initials(p.Name)
	m.Fit = fit(p.Name)
	return m
}

func (c *cast) marks(ids []int64) []mark {
	all := make([]mark, len(ids))
	for i, id := range ids {
		all[i] = c.mark(id)
	}
	return all
}

// names returns the names of persons in one text.
func (c *cast) names(ids []int64) string {
	all := make([]string, len(ids))
	for i, id := range ids {
		all[i] = c.mark(id).Name
	}
	return strings.Join(all, ", ")
}

// final returns the timeline of a schedule as pieces.
func (c *cast) final(s schedule) []piece {
	pieces := c.pieces(s.final())
	for i := range pieces {
		pieces[i].Origin, pieces[i].Override = c.origin(s, pieces[i])
	}
	return pieces
}

// pieces returns entries in which someone is on call.
func (c *cast) pieces(entries []schedules.Entry) []piece {
	pieces := make([]piece, 0, len(entries))
	for _, e := range entries {
		if persons := personsOf(e.Group); len(persons) > 0 {
			pieces = append(pieces, piece{Start: e.Start, End: e.End, Persons: persons})
		}
	}
	return pieces
}

// origin names the override or the layers that a piece comes from.
func (c *cast) origin(s schedule, p piece) (from string, overridden bool) {
	for _, o := range s.Overrides() {
		if o.Start < p.End && o.End > p.Start && slices.Contains(p.Persons, o.By) {
			if o.Reason == "" {
				return c.T("override"), true
			}
			return c.T("override: %s", o.Reason), true
		}
	}
	var names []string
	for i, l := range valueOf(s.ScheduleLayers) {
		if slices.ContainsFunc(valueOf(l.Schedules), func(e schedules.Entry) bool {
			return e.Start < p.End && e.End > p.Start && meet(personsOf(e.Group), p.Persons)
		}) {
			name := l.LayerName
			if name == "" {
				name = c.T("layer %d", i+1)
			}
			if l.Mode == overriding {
				return c.T("override: %s", name), true
			}
			names = append(names, name)
		}
	}
	return strings.Join(names, " + "), false
}

// meet reports whether two lists of persons have one in common.
func meet(a, b []int64) bool {
	return slices.ContainsFunc(a, func(id int64) bool { return slices.Contains(b, id) })
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
