package schedule

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"tocsin/internal/console/page"
)

// mostParts bounds the layers, groups and persons that a form may hold.
const mostParts = 1000

// formDraft reads what was entered.
func formDraft(v *page.Visit) (d draft, err error) {
	if text := v.Field("draft"); text != "" {
		err = json.Unmarshal([]byte(text), &d)
		return d, err
	}
	d = draft{
		Name: v.Field("name"), Description: v.Field("description"), Zone: v.Field("zone"), WhenAbsent: v.Field("when_absent"),
		Revision: v.Number("revision"), Team: v.Number("team"), ManagedOnly: v.Field("self_service") == "no",
		Notices: readNotices(v),
	}
	for i := range mostParts {
		at := fmt.Sprintf("l%d.", i)
		if !v.Request.PostForm.Has(at + "name") {
			break
		}
		get := func(name string) string { return v.Field(at + name) }
		l := draftLayer{
			Raw: get("raw"), Name: get("name"), Override: get("mode") == "override", Unit: get("unit"), Value: get("value"),
			Start: get("start"), End: get("end"), Zone: get("zone"),
			HoursFrom: get("hours_from"), HoursUntil: get("hours_until"), HoursKept: get("hours_kept") != "",
			HandoffDay: get("handoff_day"), HandoffFor: get("handoff_time"),
			Fair: get("fair") != "", Continuous: get("continuous") != "", Hidden: get("hidden") != "",
			Skip: v.Request.PostForm[at+"skip"], Only: v.Request.PostForm[at+"only"],
		}
		for _, day := range v.Request.PostForm[at+"day"] {
			if n := page.Number(day); n >= 0 && n < 7 {
				l.Days[n] = true
			}
		}
		l.Groups = formGroups(v, at)
		d.Layers = append(d.Layers, l)
	}
	return d, nil
}

func formGroups(v *page.Visit, layer string) (groups []draftGroup) {
	for j := range mostParts {
		at := fmt.Sprintf("%sg%d.", layer, j)
		if !v.Request.PostForm.Has(at + "name") {
			break
		}
		g := draftGroup{Name: v.Field(at + "name")}
		for k := range mostParts {
			member := fmt.Sprintf("%sp%d", at, k)
			if !v.Request.PostForm.Has(member) {
				break
			}
			if person := v.Number(member); person != 0 {
				g.Members = append(g.Members, draftMember{person, v.Number(member + ".role")})
			}
		}
		groups = append(groups, g)
	}
	return groups
}

// edit changes the draft as a button of the form asks: what:layer:group.
func (d *draft) edit(button string, start string) {
	parts := strings.Split(button+"::", ":")
	i, j := int(page.Number(parts[1])), int(page.Number(parts[2]))
	if parts[0] == "layer" {
		d.Layers = append(d.Layers, draftLayer{Unit: "week", Value: "1", Start: start, Groups: []draftGroup{{}}})
		return
	}
	if i < 0 || i >= len(d.Layers) {
		return
	}
	l := &d.Layers[i]
	switch parts[0] {
	case "up":
		swap(d.Layers, i, i-1)
	case "down":
		swap(d.Layers, i, i+1)
	case "remove":
		d.Layers = slices.Delete(d.Layers, i, i+1)
	case "group":
		l.Groups = append(l.Groups, draftGroup{})
	case "group-up":
		swap(l.Groups, j, j-1)
	case "group-down":
		swap(l.Groups, j, j+1)
	case "group-remove":
		if j >= 0 && j < len(l.Groups) {
			l.Groups = slices.Delete(l.Groups, j, j+1)
		}
	}
}

// swap exchanges two items, if both exist.
func swap[T any](list []T, i, j int) {
	if min(i, j) >= 0 && max(i, j) < len(list) {
		list[i], list[j] = list[j], list[i]
	}
}
