package channel

import (
	"fmt"
	"strings"

	"tocsin/internal/alert"
	"tocsin/internal/console/page"
	"tocsin/internal/core/filter"
)

// This file has the form of a filter: groups joined by OR, of conditions joined by AND. Buttons of the form add and remove
// rows; the page is drawn again with them, so that it needs no script.

// filterForm is a filter as the form holds it.
type filterForm struct {
	Name   string // prefix of its fields, to have two in one form
	Groups [][]conditionForm
	Single bool // there is one group alone
}

type conditionForm struct {
	Key, Oper, Vals string // Vals: one on each line
}

// formOf returns the form of a stored filter.
func formOf(name string, f filter.Filter) filterForm {
	form := filterForm{Name: name}
	for _, g := range f {
		var group []conditionForm
		for _, c := range g {
			group = append(group, conditionForm{c.Key, c.Oper, strings.Join(c.Vals, "\n")})
		}
		form.Groups = append(form.Groups, group)
	}
	return form.atLeastOne()
}

// atLeastOne returns the form with a row to begin with.
func (f filterForm) atLeastOne() filterForm {
	if len(f.Groups) == 0 {
		f.Groups = [][]conditionForm{{{Oper: filter.In}}}
	}
	return f
}

// readFilter returns what the form holds, with the row that a button adds or removes.
func readFilter(v *page.Visit, name string) filterForm {
	form := filterForm{Name: name}
	for g := range filter.MaxGroups {
		var group []conditionForm
		for c := range filter.MaxConditions {
			at := fmt.Sprintf("%s.%d.%d.", name, g, c)
			if !v.Request.PostForm.Has(at + "key") {
				break
			}
			if v.Field("do") != fmt.Sprintf("remove:%s.%d.%d", name, g, c) {
				group = append(group, conditionForm{v.Field(at + "key"), v.Field(at + "oper"), strings.ReplaceAll(v.Request.PostFormValue(at+"vals"),
					"\r\n", "\n")})
			}
		}
		if !v.Request.PostForm.Has(fmt.Sprintf("%s.%d.0.key", name, g)) {
			break
		}
		if v.Field("do") == fmt.Sprintf("and:%s.%d", name, g) {
			group = append(group, conditionForm{Oper: filter.In})
		}
		if len(group) > 0 {
			form.Groups = append(form.Groups, group)
		}
	}
	if v.Field("do") == "or:"+name {
		form.Groups = append(form.Groups, []conditionForm{{Oper: filter.In}})
	}
	return form.atLeastOne()
}

// filter returns the filter of the form. Rows without key and values are left out.
func (f filterForm) filter() filter.Filter {
	all := filter.Filter{}
	for _, group := range f.Groups {
		var conditions filter.Group
		for _, c := range group {
			if c.Key != "" || strings.TrimSpace(c.Vals) != "" {
				conditions = append(conditions, filter.Condition{Key: c.Key, Oper: c.Oper, Vals: page.Values(c.Vals)})
			}
		}
		if len(conditions) > 0 {
			all = append(all, conditions)
		}
	}
	return all
}

// tryFilter asks which alerts of the last week a filter matches, and why it matches the alert that the form names.
func tryFilter(v *page.Visit, channel int64, f filter.Filter) (t alert.Tried, err error) {
	request := alert.TryRequest{ChannelIDs: []int64{channel}, Filters: f}
	if pasted := v.Field("pasted"); pasted != "" {
		described, err := readPasted(v, pasted)
		if err != nil {
			return t, err
		}
		request.Alert = described
	} else {
		request.AlertID = v.Field("alert")
	}
	return page.Call[alert.Tried](v, "/alert/filter/try", request)
}

// guard refuses a filter that would hold back everything, and asks before one that would hold back much: the person
// enters how many alerts of the last week that would have been, as the page showed it for this very filter. In a storm the
// number grows meanwhile; that is no reason to ask again.
func guard(v *page.Visit, t alert.Tried, f filter.Filter) error {
	switch {
	case t.MatchesEmpty:
		return page.Wrong(v.T(
			"This filter matches an alert without any label, so it would hold back everything. Add a condition that names what you mean."))
	case t.Broad && (v.Field("guarded") != guarded(v, f) || v.Field("shown") == "" || v.Field("count") != v.Field("shown")):
		return page.Wrong(v.T("This filter matches many alerts of the last 7 days. Enter their number below to go on."))
	}
	return nil
}

// guarded identifies the filter that a page showed a number for: one that was changed since is asked about again.
func guarded(v *page.Visit, f filter.Filter) string { return page.Identity(f) }
