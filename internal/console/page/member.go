package page

import (
	"cmp"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
)

// Form is a form whose inputs are members of requests: a person enters what a program would send. It is data, so a test holds that each
// member of each operation that writes has an input.
type Form struct {
	Operations []string // their requests have its members
	Members    []Member
}

// Member is an input of a form.
type Member struct {
	Path    string // in the request: group.storm_threshold
	Stored  string // in the record that is shown, if it is another there
	Label   string // in English, like Hint and the texts of Options
	Hint    string
	Kind    Kind                           // if its type does not decide how it is entered
	Options []Option                       // its values, of which a list has several; without them any
	Choices func(*Visit) ([]Option, error) // its values, if they are records; their texts are names
	Seldom  bool                           // it stands with the members that are seldom needed
	Rows    []Member                       // of each object of a list; without the first, which identifies it, there is no object
	New     func(row int) any              // what another object of the list begins with; nil: an empty one is always at the end
	Each    []Member                       // of an object, if the record has it: those that the object's type has. It is sent whole

	whole bool // it is of an object that is sent whole: an empty one is absent, and an empty list is sent
}

// Kind is how a member is entered, where its type does not decide.
type Kind string

// The kinds of members.
const (
	Long      Kind = "long"     // a text of several lines
	Secret    Kind = "password" // a text that is not shown; empty: it stays
	LongKey   Kind = "key"      // a secret of several lines
	Moment    Kind = "moment"   // a number of Unix seconds as a local time
	People    Kind = "people"   // ids of persons; a list or a single id, like those below
	Teams     Kind = "teams"
	Channels  Kind = "channels"
	Schedules Kind = "schedules"
)

// Draw adds the inputs of a form, with the values of a stored record, or with what was entered if the form was sent. The record need not
// be of the request's type: members are found by their paths, and members that it lacks are empty.
func (f Form) Draw(v *Visit, d *RecordForm, stored any) error {
	b := &binding{v: v, offers: map[Kind]Offer{}}
	of := reflect.ValueOf(stored)
	held := map[string]bool{}
	for _, m := range f.inputs(of) {
		field, err := b.draw(m, "", found{of, of.Type()})
		if err != nil {
			return err
		}
		object, _, nested := strings.Cut(m.Path, ".")
		if nested && !m.whole && !held[object] && at(found{of, of.Type()}, object).value.IsValid() {
			held[object] = true
			d.Fields = append(d.Fields, FormField{Name: heldBy + object, Value: "1", Kind: "hidden"})
		}
		if m.Seldom {
			d.More = append(d.More, field)
		} else {
			d.Fields = append(d.Fields, field)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(b.offers)) {
		d.Offers = append(d.Offers, b.offers[kind])
	}
	return nil
}

// Read sets the members of a request, which is a pointer, to what was entered. A member that the request's type lacks is left out: the form
// of a new record has members that never change afterwards.
func (f Form) Read(v *Visit, request any) error {
	b := &binding{v: v, offers: map[Kind]Offer{}}
	of := reflect.ValueOf(request).Elem()
	for _, m := range f.inputs(of) {
		if err := b.read(m, "", of); err != nil {
			return err
		}
	}
	return nil
}

// inputs returns the members, those of objects that a record has among them.
func (f Form) inputs(record reflect.Value) (all []Member) {
	for _, m := range f.Members {
		if m.Each == nil {
			all = append(all, m)
			continue
		}
		object := at(found{record, record.Type()}, m.Path)
		for _, one := range m.Each {
			if object.value.IsValid() && indexOf(object.of, one.Path) != nil {
				one.Path, one.whole = m.Path+"."+one.Path, true
				all = append(all, one)
			}
		}
	}
	return all
}

// binding reads or draws one form.
type binding struct {
	v      *Visit
	offers map[Kind]Offer
	begins bool // what is drawn was not sent yet
}

// sent reports whether values are those of the form that was sent.
func (b *binding) sent() bool { return b.v.sent() && !b.begins }

func (b *binding) offer(of Kind) (Offer, error) {
	if known, ok := b.offers[of]; ok {
		return known, nil
	}
	read := map[Kind]func() (Offer, error){
		People: b.v.PeopleOffer, Teams: b.v.TeamOffer, Channels: b.v.ChannelOffer, Schedules: b.v.ScheduleOffer,
	}[of]
	offer, err := read()
	b.offers[of] = offer
	return offer, err
}

// isSecret reports whether a kind is not shown.
func (k Kind) isSecret() bool { return k == Secret || k == LongKey }

// isOffered reports whether a kind holds ids of records.
func (k Kind) isOffered() bool { return k == People || k == Teams || k == Channels || k == Schedules }

// found is a member of a record: its value, invalid if it is absent, and its type, nil if the record has no such member.
type found struct {
	value reflect.Value
	of    reflect.Type
}

// at returns the member at a path of objects, without pointers around it.
func at(o found, path string) found {
	for name := range strings.SplitSeq(path, ".") {
		o = o.elem()
		index := indexOf(o.of, name)
		if index == nil {
			return found{}
		}
		field := o.of.FieldByIndex(index)
		if o.value.IsValid() {
			o.value = o.value.FieldByIndex(index)
		}
		o.of = field.Type
	}
	return o.elem()
}

// elem follows pointers.
func (o found) elem() found {
	for o.of != nil && o.of.Kind() == reflect.Pointer {
		o.of = o.of.Elem()
		if o.value.IsValid() {
			o.value = o.value.Elem() // invalid for none
		}
	}
	return o
}

// indexOf returns the place of a member in a struct, which may be that of an embedded struct; nil: there is none.
func indexOf(of reflect.Type, name string) []int {
	if of == nil || of.Kind() != reflect.Struct {
		return nil
	}
	for _, f := range reflect.VisibleFields(of) {
		tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.IsExported() && tag == name {
			return f.Index
		}
	}
	return nil
}

// draw returns the input of a member of an object.
func (b *binding) draw(m Member, prefix string, of found) (FormField, error) {
	name := prefix + m.Path
	value := at(of, cmp.Or(m.Stored, m.Path))
	field := FormField{Name: name, Label: b.v.T(m.Label), Kind: m.InputKind(value.of), Wrong: b.v.Refuses(name)}
	if m.Hint != "" {
		field.Hint = b.v.T(m.Hint)
	}
	for _, o := range m.Options {
		field.Options = append(field.Options, Option{o.Value, b.v.T(cmp.Or(o.Text, o.Value))})
	}
	if m.Choices != nil {
		records, err := m.Choices(b.v)
		if err != nil {
			return field, err
		}
		field.Options = append(field.Options, records...)
	}
	switch {
	case m.Rows != nil:
		return b.drawRows(field, m, value)
	case m.Kind.isOffered():
		offer, err := b.offer(m.Kind)
		if err != nil {
			return field, err
		}
		chosen := ids(value.value)
		if b.sent() {
			chosen, _ = offer.Read(b.v, name) // a name that is not known stays in its input
		}
		picker := offer.Picker(b.v, name, field.Label, chosen)
		picker.Hint = field.Hint
		field.Picker = &picker
	case b.sent():
		field.Value = strings.Join(b.v.Request.PostForm[name], "\n")
	case m.Kind.isSecret() && value.value.Kind() == reflect.Map:
		field.Value = namesText(value.value)
	case !m.Kind.isSecret():
		field.Value = m.text(b.v, value.value)
	case m.text(b.v, value.value) != "":
		field.Hint = b.v.T("Empty: it stays as it is.")
	}
	if field.Kind == choice || field.Kind == boxes {
		field.keep(b.v)
	}
	return field, nil
}

// keep adds the values that are chosen and not offered: they stay as they are.
func (f *FormField) keep(v *Visit) {
	for one := range strings.SplitSeq(f.Value, "\n") {
		if one != "" && !slices.ContainsFunc(f.Options, func(o Option) bool { return o.Value == one }) {
			f.Options = append(f.Options, Option{one, v.T("not visible to you")})
		}
	}
}

// heldBy is the prefix of the hidden input of an object that the record has: its members are sent even if they are empty.
const heldBy = "held."

// read sets a member of an object.
func (b *binding) read(m Member, prefix string, object reflect.Value) error {
	name := prefix + m.Path
	entered := strings.ReplaceAll(strings.Join(b.v.Request.PostForm[name], "\n"), "\r\n", "\n")
	empty := entered == "" && b.v.Field(typedIn(name)) == "" && m.Rows == nil
	if object, _, nested := strings.Cut(m.Path, "."); nested && empty && !m.whole && !b.v.Request.PostForm.Has(heldBy+object) {
		return nil
	}
	to := settable(object, m.Path)
	switch {
	case !to.IsValid():
		return nil
	case m.Rows != nil:
		return b.readRows(m, name, to)
	case m.Kind.isOffered():
		offer, err := b.offer(m.Kind)
		if err != nil {
			return err
		}
		chosen, err := offer.Read(b.v, name)
		if err == nil && len(chosen) > 1 && !isList(to.Type()) {
			err = Wrong(b.v.T("%s: choose only one.", b.v.T(m.Label)))
		}
		setIDs(to, chosen)
		return err
	case m.Kind.isSecret() && entered == "" && to.Kind() != reflect.Map:
		return nil
	case m.whole && entered == "" && !isList(to.Type()) && to.Kind() != reflect.Map:
		to.SetZero()
		return nil
	}
	return m.set(b.v, to, strings.TrimSpace(entered))
}

// Allocate makes the object at a path of a request, so that a form reads its members. It reports whether the request can have it.
func Allocate(request any, path string) bool {
	to := settable(reflect.ValueOf(request).Elem(), path)
	if !to.IsValid() || to.Kind() != reflect.Pointer {
		return false
	}
	if to.IsNil() {
		to.Set(reflect.New(to.Type().Elem()))
	}
	return true
}

// settable returns the field of a member, with the objects on the way; invalid: the struct has no such member.
func settable(object reflect.Value, path string) reflect.Value {
	for name := range strings.SplitSeq(path, ".") {
		if object.Kind() == reflect.Pointer {
			if object.IsNil() {
				object.Set(reflect.New(object.Type().Elem()))
			}
			object = object.Elem()
		}
		index := indexOf(object.Type(), name)
		if index == nil {
			return reflect.Value{}
		}
		object = object.FieldByIndex(index)
	}
	return object
}

// sent reports whether the form of the page was sent.
func (v *Visit) sent() bool { return v.Request.Method == http.MethodPost }

// The kinds of inputs of a member with few values: one of them, or several.
const (
	choice = "choice"
	boxes  = "boxes"
)

// InputKind returns how the page draws a member of a type; nil: the record that is shown lacks it.
func (m Member) InputKind(of reflect.Type) string {
	switch {
	case (m.Options != nil || m.Choices != nil) && of != nil && isList(of):
		return boxes
	case m.Options != nil || m.Choices != nil:
		return choice
	case m.Kind == LongKey, m.Kind == Secret && of != nil && of.Kind() == reflect.Map:
		return string(Long)
	case m.Kind == Long || m.Kind == Secret || m.Kind == Moment:
		return string(m.Kind)
	case of == nil:
		return "text"
	}
	switch of.Kind() {
	case reflect.Bool:
		return "check"
	case reflect.Int, reflect.Int64, reflect.Uint64:
		return "number"
	case reflect.Slice, reflect.Map:
		return "long"
	}
	return "text"
}
