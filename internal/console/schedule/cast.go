package schedule

import (
	"slices"
	"strings"
	"time"

	"tocsin/internal/console/page"
	"tocsin/internal/console/picture"
	schedules "tocsin/internal/schedule"
)

// cast holds the names and colours of the persons of schedules.
type cast struct {
	*page.Visit
	*picture.Cast
}

func newCast(v *page.Visit) *cast { return &cast{v, picture.NewCast(v.Setting, v.Who.PersonID)} }

// add adds the persons of a schedule.
func (c *cast) add(s schedule) {
	for _, l := range s.Layers() {
		for _, g := range l.Groups {
			for _, m := range g.Members {
				c.AddPersons(m.PersonIDs...)
			}
		}
	}
	for _, e := range s.final() {
		c.AddPersons(personsOf(e.Group)...)
	}
	for _, e := range []*schedules.OncallEntry{s.CurOncall, s.NextOncall} {
		if e != nil {
			c.AddPersons(personsOf(e.Group)...)
		}
	}
	c.addOverrides(s.Overrides())
}

func (c *cast) addOverrides(list []schedules.Override) {
	for _, o := range list {
		c.AddPersons(o.By, o.PersonID)
	}
}

// load reads the persons' names.
func (c *cast) load() error {
	for some := range slices.Chunk(c.Persons(), 1000) {
		found, err := c.Visit.People(some)
		if err != nil {
			return err
		}
		for id, p := range found {
			c.SetName(id, p.Name)
		}
	}
	return nil
}

// final returns the timeline of a schedule as pieces.
func (c *cast) final(s schedule) []picture.Piece {
	pieces := piecesOf(s.final())
	for i := range pieces {
		pieces[i].Origin, pieces[i].Override = c.origin(s, pieces[i])
	}
	return pieces
}

// piecesOf returns entries in which someone is on call.
func piecesOf(entries []schedules.Entry) []picture.Piece {
	pieces := make([]picture.Piece, 0, len(entries))
	for _, e := range entries {
		if persons := personsOf(e.Group); len(persons) > 0 {
			pieces = append(pieces, picture.Piece{Start: e.Start, End: e.End, Persons: persons})
		}
	}
	return pieces
}

// origin names the override or the layers that a piece comes from.
func (c *cast) origin(s schedule, p picture.Piece) (from string, overridden bool) {
	for _, o := range s.Overrides() {
		if o.Start < p.End && o.End > p.Start && slices.Contains(p.Persons, o.By) {
			if o.Reason == "" {
				return c.T("override"), true
			}
			return c.T("override: %s", o.Reason), true
		}
	}
	var names []string
	for i, l := range page.ValueOf(s.ScheduleLayers) {
		if slices.ContainsFunc(page.ValueOf(l.Schedules), func(e schedules.Entry) bool {
			return e.Start < p.End && e.End > p.Start && picture.Meet(personsOf(e.Group), p.Persons)
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

// painter draws the pictures of schedules.
type painter struct {
	*page.Visit
	*picture.Painter
	cast *cast
	zone *time.Location // of the texts
}

func newPainter(v *page.Visit, c *cast, zone *time.Location) *painter {
	return &painter{v, picture.NewPainter(v.Setting, &v.Placed, c.Cast, zone), c, zone}
}
