package page

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"tocsin/internal/api"
	"tocsin/internal/channel"
	"tocsin/internal/schedule"
	"tocsin/internal/team"
)

// This file has the one way to choose several persons, teams, schedules or channels: what is chosen stands as chips, and names are
// typed to add more. A list of check boxes does not work with hundreds of them.

// Choice is what a picker can add.
type Choice struct {
	ID    int64
	Name  string // no other choice of the offer has it
	About string // by which similar names differ
}

// Offer is the list behind pickers. All pickers of a page for the same kind share it.
type Offer struct {
	ID      string // of its element in the page
	Choices []Choice
}

// NewOffer returns an offer whose choices have different names: the same name is followed by what the choice is about.
func NewOffer(id string, choices []Choice) Offer {
	count := map[string]int{}
	for _, c := range choices {
		count[strings.ToLower(c.Name)]++
	}
	for i, c := range choices {
		if count[strings.ToLower(c.Name)] > 1 {
			choices[i].Name = fmt.Sprintf("%s (%s)", c.Name, cmp.Or(c.About, strconv.Itoa(i+1)))
		}
	}
	slices.SortStableFunc(choices, func(a, b Choice) int { return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)) })
	return Offer{id, choices}
}

// PeopleOffer offers all persons of the account.
func (v *Visit) PeopleOffer() (Offer, error) {
	people, err := v.Accounts("")
	choices := make([]Choice, len(people))
	for i, p := range people {
		choices[i] = Choice{p.MemberID, p.MemberName, p.Email}
		if p.MemberName == "" {
			choices[i] = Choice{p.MemberID, p.Email, ""}
		}
	}
	return NewOffer("people", choices), err
}

// TeamOffer offers all teams.
func (v *Visit) TeamOffer() (Offer, error) {
	var choices []Choice
	err := ByPage[team.Listed](v, "/team/list", team.ListRequest{}, func(items []team.Team) bool {
		for _, t := range items {
			choices = append(choices, Choice{t.TeamID, t.TeamName, t.Description})
		}
		return true
	})
	return NewOffer("teams", choices), err
}

// ScheduleOffer offers all schedules.
func (v *Visit) ScheduleOffer() (Offer, error) {
	var choices []Choice
	err := ByPage[schedule.Page](v, "/schedule/list", schedule.ListRequest{}, func(items []schedule.Schedule) bool {
		for _, s := range items {
			choices = append(choices, Choice{s.ScheduleID, ValueOf(s.Name), ValueOf(s.Description)})
		}
		return true
	})
	return NewOffer("schedules", choices), err
}

// ChannelOffer offers all channels that the visitor may read.
func (v *Visit) ChannelOffer() (Offer, error) {
	var choices []Choice
	err := ByPage[api.CursorPage[channel.Shown]](v, "/channel/list", channel.ListRequest{IsBrief: true}, func(items []channel.Shown) bool {
		for _, c := range items {
			choices = append(choices, Choice{c.ChannelID, c.ChannelName, c.Description})
		}
		return true
	})
	return NewOffer("channels", choices), err
}

// Named returns the choice that a text names: by its whole name or, if no other choice has it, by a part.
func (o Offer) Named(text string) (found Choice, ok bool) {
	text = strings.ToLower(strings.TrimSpace(text))
	if text == "" {
		return Choice{}, false
	}
	parts := 0
	for _, c := range o.Choices {
		name := strings.ToLower(c.Name)
		if name == text || strings.ToLower(c.About) == text {
			return c, true
		}
		if strings.Contains(name, text) {
			found = c
			parts++
		}
	}
	return found, parts == 1
}

// pick is what the button of a picker does: the form is shown again with what was typed among what is chosen.
const pick = "pick"

// typedIn is the field of what is typed into a picker.
func typedIn(field string) string { return field + ".add" }

// Read returns what was chosen in the picker of a field, in its order, with the name that was typed last. The error is that of an
// unknown name.
func (o Offer) Read(v *Visit, field string) ([]int64, error) {
	chosen := []int64{}
	for _, id := range v.Numbers(field) {
		if !slices.Contains(chosen, id) {
			chosen = append(chosen, id)
		}
	}
	typed := v.Field(typedIn(field))
	if typed == "" {
		return chosen, nil
	}
	named, ok := o.Named(typed)
	if !ok {
		return chosen, Wrong(v.T("No entry of the list is named “%s”. Type more of the name.", Cut(typed, 60)))
	}
	if !slices.Contains(chosen, named.ID) {
		chosen = append(chosen, named.ID)
	}
	return chosen, nil
}

// Picker is the input of a form in which several choices of an offer are chosen.
type Picker struct {
	Field, Label, Hint string
	Chosen             []Choice
	List               string // the element of the offer
	Typed              string // what was typed and names nothing
	Fixed              bool   // nothing can be added or removed
}

// Input returns the field's name of what is typed.
func (p Picker) Input() string { return typedIn(p.Field) }

// Picker returns the picker of a field with what is chosen in it. What the visitor may not see stays chosen.
func (o Offer) Picker(v *Visit, field, label string, chosen []int64) Picker {
	p := Picker{Field: field, Label: label, List: o.ID}
	for _, id := range chosen {
		at := slices.IndexFunc(o.Choices, func(c Choice) bool { return c.ID == id })
		if at < 0 {
			p.Chosen = append(p.Chosen, Choice{ID: id, Name: v.T("not visible to you")})
			continue
		}
		p.Chosen = append(p.Chosen, o.Choices[at])
	}
	if typed := v.Field(typedIn(field)); typed != "" {
		if _, ok := o.Named(typed); !ok {
			p.Typed = typed
		}
	}
	return p
}
