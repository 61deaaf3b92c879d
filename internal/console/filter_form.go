package console

import (
	"fmt"
	"net/http"
	"strings"

	"tocsin/internal/alert"
	"tocsin/internal/api"
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
func (v *visit) readFilter(name string) filterForm {
	form := filterForm{Name: name}
	for g := range filter.MaxGroups {
		var group []conditionForm
		for c := range filter.MaxConditions {
			at := fmt.Sprintf("%s.%d.%d.", name, g, c)
			if !v.r.PostForm.Has(at + "key") {
				break
			}
			if v.field("do") != fmt.Sprintf("remove:%s.%d.%d", name, g, c) {
				group = append(group, conditionForm{v.field(at + "key"), v.field(at + "oper"), strings.ReplaceAll(v.r.PostFormValue(at+"vals"),
					"\r\n", "\n")})
			}
		}
		if !v.r.PostForm.Has(fmt.Sprintf("%s.%d.0.key", name, g)) {
			break
		}
		if v.field("do") == fmt.Sprintf("and:%s.%d", name, g) {
			group = append(group, conditionForm{Oper: filter.In})
		}
		if len(group) > 0 {
			form.Groups = append(form.Groups, group)
		}
	}
	if v.field("do") == "or:"+name {
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
				conditions = append(conditions, filter.Condition{Key: c.Key, Oper: c.Oper, Vals: values(c.Vals)})
			}
		}
		if len(conditions) > 0 {
			all = append(all, conditions)
		}
	}
	return all
}

// values returns the values of a condition, one from each line.
func values(text string) []string {
	vals := []string{}
	for line := range strings.Lines(text) {
		line = strings.Trim(line, "\r\n")
		if line != "" {
			vals = append(vals, line)
		}
	}
	return vals
}

// Sentence returns a filter in words.
func (v *visit) Sentence(f filter.Filter) string {
	var groups []string
	for _, group := range f {
		var conditions []string
		for _, c := range group {
			conditions = append(conditions, v.Condition(c))
		}
		groups = append(groups, strings.Join(conditions, v.T(" and ")))
	}
	return cut(strings.Join(groups, v.T(", or ")), 600)
}

// Condition returns a condition in words.
func (v *visit) Condition(c filter.Condition) string {
	key, all := strings.TrimPrefix(c.Key, "labels."), c.Vals
	if strings.HasSuffix(key, "severity") {
		all = nil
		for _, val := range c.Vals {
			all = append(all, v.T(val))
		}
	}
	vals := strings.Join(all, ", ")
	switch {
	case c.Oper == filter.NotIn && len(c.Vals) == 1:
		return v.T("%s is not %s", key, vals)
	case c.Oper == filter.NotIn:
		return v.T("%s is none of %s", key, vals)
	case len(c.Vals) == 1:
		return v.T("%s is %s", key, vals)
	}
	return v.T("%s is one of %s", key, vals)
}

// cut returns a text of at most n characters.
func cut(text string, n int) string {
	if all := []rune(text); len(all) > n {
		return string(all[:n]) + "…"
	}
	return text
}

// fieldLines returns lists of fields as text: a list on each line, its fields joined by commas.
func fieldLines(lists [][]string) string {
	var text []string
	for _, list := range lists {
		text = append(text, strings.Join(list, ", "))
	}
	return strings.Join(text, "\n")
}

// fieldLists is the reverse of fieldLines.
func fieldLists(text string) [][]string {
	lists := [][]string{}
	for line := range strings.Lines(text) {
		if list := commas(line); len(list) > 0 {
			lists = append(lists, list)
		}
	}
	return lists
}

// commas returns the parts of a text between commas or line ends.
func commas(text string) []string {
	parts := []string{}
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ',' || r == '\n' || r == '\r' }) {
		part = strings.TrimSpace(part)
		if part != "" {
			parts = append(parts, part)
		}
	}
	return parts
}

// tryFilter asks which alerts of the last week a filter matches, and why it matches the alert that the form names.
func (v *visit) tryFilter(channel int64, f filter.Filter) (t alert.Tried, err error) {
	request := alert.TryRequest{ChannelIDs: []int64{channel}, Filters: f}
	if pasted := v.field("pasted"); pasted != "" {
		described, err := v.pasted(pasted)
		if err != nil {
			return t, err
		}
		request.Alert = described
	} else {
		request.AlertID = v.field("alert")
	}
	return call[alert.Tried](v, "/alert/filter/try", request)
}

// guard refuses a filter that would hold back everything, and asks before one that would hold back much: the person
// enters how many alerts of the last week that would have been, as the page showed it for this very filter. In a storm the
// number grows meanwhile; that is no reason to ask again.
func (v *visit) guard(t alert.Tried, f filter.Filter) error {
	switch {
	case t.MatchesEmpty:
		return wrong(v.T(
			"This filter matches an alert without any label, so it would hold back everything. Add a condition that names what you mean."))
	case t.Broad && (v.field("guarded") != v.Guarded(f) || v.field("shown") == "" || v.field("count") != v.field("shown")):
		return wrong(v.T("This filter would have held back many alerts of the last 7 days. Enter their number below to go on."))
	}
	return nil
}

// Guarded identifies the filter that a page showed a number for: one that was changed since is asked about again.
func (v *visit) Guarded(f filter.Filter) string { return identity(f) }

// wrong returns the error of a form that was not filled in well.
func wrong(message string) error {
	return &api.Refusal{Status: http.StatusBadRequest, Code: "InvalidParameter", Message: message}
}

// notHere returns the error of an address that shows nothing.
func notHere(v *visit) error {
	return &api.Refusal{Status: http.StatusNotFound, Code: "RouteNotFound", Message: v.T("There is no such page.")}
}
