package page

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// This file has the list and the form that objects of few fields share.

// RecordList is a list of objects.
type RecordList struct {
	Titled
	Pager
	Intro, None  string
	New, NewText string // the address of the form of a new one; empty: none may be made
	Search       string
	Searchable   bool
	Rows         []RecordRow
}

// Link leads to a page.
type Link struct{ Path, Text string }

// RecordRow is an object in a list.
type RecordRow struct {
	Path, Name, About string
	Tags, Warnings    []string
	At                int64
	Delete            string // the address that deletes it
}

// RecordForm is the form of an object.
type RecordForm struct {
	Titled
	Path, Back string
	Fields     []FormField
	More       []FormField // those that are seldom needed
	May        bool
	Delete     string // the address that deletes the object; empty: it cannot be deleted here
	SaveText   string // of the button that sends the form; empty: Save
	Buttons    []Button
	Shown      *Displayed
	Lists      []RecordPart
	Tabs       []TabLink
	Offers     []Offer // behind the pickers
}

// TabLink leads to another part of the same form.
type TabLink struct {
	Link
	Here bool
}

// Button is a button beside that which saves.
type Button struct{ Do, Text string }

// Displayed is the result of a button that only shows something.
type Displayed struct {
	Title, Text, Failure string
}

// RecordPart is a list below a form.
type RecordPart struct {
	Title, None string
	New         *Link // the form of a new one; nil: none may be made
	Rows        []RecordRow
	Form        *RecordForm
}

// Option is one of a choice. Without a text it is shown by its value.
type Option struct{ Value, Text string }

// FormField is an input of a form.
type FormField struct {
	Name, Label, Value, Hint, Kind string // Kind: text, password, long, number, choice, boxes, check, date, moment, hidden, rows
	Wrong                          bool   // what was entered was refused
	Options                        []Option
	Picker                         *Picker       // instead of a kind
	Rows                           [][]FormField // the inputs of each object of a list, of the kind rows
	Adds                           bool          // buttons add and remove rows
}

// Checked reports whether a check box is set.
func (f FormField) Checked() bool { return f.Value != "" }

// Has reports whether a box is ticked: the value has a line for each.
func (f FormField) Has(one string) bool { return slices.Contains(strings.Split(f.Value, "\n"), one) }

// Lines returns how high an input of several lines is.
func (f FormField) Lines() int { return min(max(2, 1+strings.Count(f.Value, "\n")), 12) }

// Text adds an input of a line.
func (d *RecordForm) Text(name, label, value, hint string) {
	d.Fields = append(d.Fields, FormField{Name: name, Label: label, Value: value, Hint: hint, Kind: "text"})
}

// Long adds an input of several lines.
func (d *RecordForm) Long(name, label, value, hint string) {
	d.Fields = append(d.Fields, FormField{Name: name, Label: label, Value: value, Hint: hint, Kind: "long"})
}

// Number adds an input of a whole number.
func (d *RecordForm) Number(name, label string, value int64, hint string) {
	d.Fields = append(d.Fields, FormField{Name: name, Label: label, Value: strconv.FormatInt(value, 10), Hint: hint, Kind: "number"})
}

// Check adds a box to tick.
func (d *RecordForm) Check(name, label string, value bool) {
	d.Fields = append(d.Fields, FormField{Name: name, Label: label, Value: map[bool]string{true: "1"}[value], Kind: "check"})
}

// Choice adds the choice of one of several.
func (d *RecordForm) Choice(name, label, value string, options []Option, hint string) {
	d.Fields = append(d.Fields, FormField{Name: name, Label: label, Value: value, Hint: hint, Kind: "choice", Options: options})
}

// Teams adds the choice of the owning team.
func (d *RecordForm) Teams(v *Visit, team int64) error {
	teams, err := v.AllTeams()
	options := []Option{{"0", v.T("None")}}
	for _, t := range teams {
		options = append(options, Option{strconv.FormatInt(t.TeamID, 10), t.TeamName})
	}
	d.Choice("team", v.T("Team"), strconv.FormatInt(team, 10), options, "")
	return err
}

// Entered returns the form with what was entered, if it was sent.
func (d RecordForm) Entered(v *Visit) RecordForm {
	if v.Request.Method != http.MethodPost {
		return d
	}
	for _, fields := range [][]FormField{d.Fields, d.More} {
		for i := range fields {
			fields[i].Value = v.Request.PostFormValue(fields[i].Name)
		}
	}
	return d
}
