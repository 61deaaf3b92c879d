package page

import (
	"reflect"
	"strconv"
)

// This file has lists of objects in forms.

// maxRows bounds the objects of a list that a form has.
const maxRows = 200

// rowsOf names the hidden input with the number of rows of a list of objects.
func rowsOf(list string) string { return list + ".rows" }

func rowPrefix(list string, row int) string { return list + "." + strconv.Itoa(row) + "." }

// AddRow returns what the button does that adds an object to a list.
func (f FormField) AddRow() string { return pick + ":add:" + f.Name }

// RemoveRow returns what the button does that removes an object of a list.
func (f FormField) RemoveRow(row int) string { return pick + ":remove:" + rowPrefix(f.Name, row) }

// drawRows adds the inputs of each object of a list, and of one that is new.
func (b *binding) drawRows(field FormField, m Member, list found) (FormField, error) {
	field.Kind, field.Adds = "rows", m.New != nil
	do := b.v.Request.PostFormValue("do")
	stored := 0
	if list.value.IsValid() {
		stored = list.value.Len()
	}
	if b.sent() {
		stored = min(int(b.v.Number(rowsOf(field.Name))), maxRows)
	}
	row := found{of: list.of.Elem()}
	for i := range stored {
		if do == field.RemoveRow(i) {
			continue
		}
		if !b.sent() {
			row.value = list.value.Index(i)
		}
		if err := b.drawRow(&field, m.Rows, i, row); err != nil {
			return field, err
		}
	}
	row.value = reflect.Value{}
	switch {
	case stored == maxRows, m.New != nil && do != field.AddRow():
		return field, nil
	case m.New != nil:
		row.value = reflect.ValueOf(m.New(len(field.Rows)))
		b.begins = true
		defer func() { b.begins = false }()
	}
	return field, b.drawRow(&field, m.Rows, stored, row)
}

// drawRow adds the inputs of an object, with what was sent for it as the object i of the list.
func (b *binding) drawRow(field *FormField, members []Member, i int, row found) error {
	inputs := []FormField{}
	for _, one := range members {
		input, err := b.draw(one, rowPrefix(field.Name, i), row)
		if err != nil {
			return err
		}
		input.Name = rowPrefix(field.Name, len(field.Rows)) + one.Path
		if input.Picker != nil {
			input.Picker.Field = input.Name
		}
		if len(field.Rows) > 0 {
			input.Hint = "" // the first row has it
		}
		inputs = append(inputs, input)
	}
	field.Rows = append(field.Rows, inputs)
	return nil
}

// readRows sets a list to the objects that were entered.
func (b *binding) readRows(m Member, name string, to reflect.Value) error {
	all := reflect.MakeSlice(to.Type(), 0, 0)
	for i := range min(int(b.v.Number(rowsOf(name))), maxRows) {
		if m.New == nil && b.v.Field(rowPrefix(name, i)+m.Rows[0].Path) == "" {
			continue
		}
		row := reflect.New(to.Type().Elem()).Elem()
		for _, one := range m.Rows {
			if err := b.read(one, rowPrefix(name, i), row); err != nil {
				return err
			}
		}
		all = reflect.Append(all, row)
	}
	to.Set(all)
	return nil
}
