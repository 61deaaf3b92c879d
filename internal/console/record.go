package console

import (
	"net/http"
	"strconv"
)

// This file has the list and the form that objects of few fields share.

// recordList is a list of objects.
type recordList struct {
	titled
	pager
	Intro, None  string
	New, NewText string // the address of the form of a new one; empty: none may be made
	Search       string
	Searchable   bool
	Rows         []recordRow
	Parts        []pageLink // other lists of the same kind
}

type pageLink struct{ Path, Text string }

// recordRow is an object in a list.
type recordRow struct {
	Path, Name, About string
	Tags, Warnings    []string
	At                int64
	Delete            string // the address that deletes it
}

// recordForm is the form of an object.
type recordForm struct {
	titled
	Path, Back string
	Fields     []formField
	More       []formField // those that are seldom needed
	May        bool
	Delete     string // the address that deletes the object; empty: it cannot be deleted here
	Buttons    []button
	Shown      *displayed
	Lists      []recordPart
	Tabs       []tabLink
}

// tabLink leads to another part of the same form.
type tabLink struct {
	pageLink
	Here bool
}

type button struct{ Do, Text string }

// displayed is the result of a button that only shows something.
type displayed struct {
	Title, Text, Failure string
}

// recordPart is a list below a form.
type recordPart struct {
	Title, None string
	Rows        []recordRow
	Form        *recordForm
}

type option struct{ Value, Text string }

type formField struct {
	Name, Label, Value, Hint, Kind string // Kind: text, password, long, number, choice, check, date
	Options                        []option
}

// Checked reports whether a check box is set.
func (f formField) Checked() bool { return f.Value != "" }

func (d *recordForm) text(name, label, value, hint string) {
	d.Fields = append(d.Fields, formField{Name: name, Label: label, Value: value, Hint: hint, Kind: "text"})
}

func (d *recordForm) long(name, label, value, hint string) {
	d.Fields = append(d.Fields, formField{Name: name, Label: label, Value: value, Hint: hint, Kind: "long"})
}

func (d *recordForm) number(name, label string, value int64, hint string) {
	d.Fields = append(d.Fields, formField{Name: name, Label: label, Value: strconv.FormatInt(value, 10), Hint: hint, Kind: "number"})
}

func (d *recordForm) check(name, label string, value bool) {
	d.Fields = append(d.Fields, formField{Name: name, Label: label, Value: map[bool]string{true: "1"}[value], Kind: "check"})
}

func (d *recordForm) choice(name, label, value string, options []option, hint string) {
	d.Fields = append(d.Fields, formField{Name: name, Label: label, Value: value, Hint: hint, Kind: "choice", Options: options})
}

// teams adds the choice of the owning team.
func (d *recordForm) teams(v *visit, team int64) error {
	teams, err := v.allTeams()
	options := []option{{"0", v.T("None")}}
	for _, t := range teams {
		options = append(options, option{strconv.FormatInt(t.TeamID, 10), t.TeamName})
	}
	d.choice("team", v.T("Team"), strconv.FormatInt(team, 10), options, "")
	return err
}

// entered returns the form with what was entered, if it was sent.
func (d recordForm) entered(v *visit) recordForm {
	if v.r.Method != http.MethodPost {
		return d
	}
	for _, fields := range [][]formField{d.Fields, d.More} {
		for i := range fields {
			fields[i].Value = v.r.PostFormValue(fields[i].Name)
		}
	}
	return d
}
