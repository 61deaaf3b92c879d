package page

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Form is a form whose inputs are members of requests: a person enters what a program would send. It is data, so a test holds that each
// member of each operation that writes has an input.
type Form struct {
	Operations []string // those that its members are sent to
	Members    []Member
}

// Member is an input of a form.
type Member struct {
	Path    string // in the request: group.storm_threshold
	Stored  string // in the record that is shown, if it is another there
	Label   string // in English, like Hint and the texts of Options
	Hint    string
	Kind    Kind                           // if its type does not decide how it is entered
	Options []Option                       // its values; without them any
	Choices func(*Visit) ([]Option, error) // its values, if they are records; their texts are names
	Seldom  bool                           // it stands with those that are seldom needed
	Rows    []Member                       // of each object of a list; without the first, which identifies it, there is no object
}

// Kind is how a member is entered, where its type does not decide.
type Kind string

// The kinds of members.
const (
	Long      Kind = "long"     // a text of several lines
	Secret    Kind = "password" // a text that is not shown; empty: it stays
	Moment    Kind = "moment"   // a number of Unix seconds as a local time
	People    Kind = "people"   // ids of persons; a list or a single id, like those below
	Teams     Kind = "teams"
	Channels  Kind = "channels"
	Schedules Kind = "schedules"
)

// spareRows is how many empty rows a list of objects has for a new one.
const spareRows = 1

// Draw adds the inputs of a form, with the values of a stored record, or with what was entered if the form was sent. The record need not
// be of the request's type: members are found by their paths, and those that it lacks are empty.
func (f Form) Draw(v *Visit, d *RecordForm, stored any) error {
	b := binding{v: v, offers: map[Kind]Offer{}}
	of := reflect.ValueOf(stored)
	held := map[string]bool{}
	for _, m := range f.Members {
		field, err := b.draw(m, "", found{of, of.Type()})
		if err != nil {
			return err
		}
		if object, _, nested := strings.Cut(m.Path, "."); nested && !held[object] && at(found{of, of.Type()}, object).value.IsValid() {
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
	b := binding{v: v, offers: map[Kind]Offer{}}
	for _, m := range f.Members {
		if err := b.read(m, "", reflect.ValueOf(request).Elem()); err != nil {
			return err
		}
	}
	return nil
}

// binding reads or draws one form.
type binding struct {
	v      *Visit
	offers map[Kind]Offer
}

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
	field := FormField{Name: name, Label: b.v.T(m.Label), Kind: m.inputKind(value.of)}
	if m.Hint != "" {
		field.Hint = b.v.T(m.Hint)
	}
	for _, o := range m.Options {
		field.Options = append(field.Options, Option{o.Value, b.v.T(o.Text)})
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
		if b.v.sent() {
			chosen, _ = offer.Read(b.v, name) // a name that is not known stays in its input
		}
		picker := offer.Picker(b.v, name, field.Label, chosen)
		picker.Hint = field.Hint
		field.Picker = &picker
	case b.v.sent():
		field.Value = b.v.Request.PostFormValue(name)
	case m.Kind != Secret:
		field.Value = m.text(b.v, value.value)
	}
	offered := slices.ContainsFunc(field.Options, func(o Option) bool { return o.Value == field.Value })
	if field.Kind == "choice" && !offered && field.Value != "" { // it stays as it is
		field.Options = append(field.Options, Option{field.Value, b.v.T("not visible to you")})
	}
	return field, nil
}

// drawRows adds the inputs of each object of a list, and of some that are new.
func (b *binding) drawRows(field FormField, m Member, list found) (FormField, error) {
	field.Kind = "rows"
	stored := 0
	if list.value.IsValid() {
		stored = list.value.Len()
	}
	rows := stored + spareRows
	if b.v.sent() {
		rows = min(int(b.v.Number(rowsOf(field.Name)))+spareRows, maxRows)
	}
	for i := range rows {
		row := found{of: list.of.Elem()}
		if i < stored {
			row.value = list.value.Index(i)
		}
		inputs := []FormField{}
		for _, one := range m.Rows {
			input, err := b.draw(one, rowPrefix(field.Name, i), row)
			if err != nil {
				return field, err
			}
			if i > 0 {
				input.Hint = "" // the first row has it
			}
			inputs = append(inputs, input)
		}
		field.Rows = append(field.Rows, inputs)
	}
	return field, nil
}

// maxRows bounds the objects of a list that a form has.
const maxRows = 200

// heldBy is the prefix of the hidden input of an object that the record has: its members are sent even if they are empty.
const heldBy = "held."

// rowsOf names the hidden input with the number of rows of a list of objects.
func rowsOf(list string) string { return list + ".rows" }

func rowPrefix(list string, row int) string { return list + "." + strconv.Itoa(row) + "." }

// read sets a member of an object.
func (b *binding) read(m Member, prefix string, object reflect.Value) error {
	name := prefix + m.Path
	entered := strings.ReplaceAll(b.v.Request.PostFormValue(name), "\r\n", "\n")
	empty := entered == "" && b.v.Field(typedIn(name)) == "" && m.Rows == nil
	if object, _, nested := strings.Cut(m.Path, "."); nested && empty && !b.v.Request.PostForm.Has(heldBy+object) {
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
		setIDs(to, chosen)
		return err
	case m.Kind == Secret && entered == "":
		return nil
	}
	return m.set(b.v, to, strings.TrimSpace(entered))
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

// readRows sets a list to the objects that were entered.
func (b *binding) readRows(m Member, name string, to reflect.Value) error {
	all := reflect.MakeSlice(to.Type(), 0, 0)
	for i := range min(int(b.v.Number(rowsOf(name))), maxRows) {
		if b.v.Field(rowPrefix(name, i)+m.Rows[0].Path) == "" {
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

// sent reports whether the form of the page was sent.
func (v *Visit) sent() bool { return v.Request.Method == http.MethodPost }

// inputKind returns how the page draws a member of a type; nil: the record that is shown lacks it.
func (m Member) inputKind(of reflect.Type) string {
	switch {
	case m.Options != nil || m.Choices != nil:
		return "choice"
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

// text returns the value of a member as it is entered.
func (m Member) text(v *Visit, value reflect.Value) string {
	switch value.Kind() {
	case reflect.Invalid:
		return ""
	case reflect.Bool:
		return map[bool]string{true: "1"}[value.Bool()]
	case reflect.Int, reflect.Int64:
		if m.Kind != Moment {
			return strconv.FormatInt(value.Int(), 10)
		}
		if value.Int() == 0 {
			return ""
		}
		return v.Local(time.Unix(value.Int(), 0))
	case reflect.Uint64:
		return strconv.FormatUint(value.Uint(), 10)
	case reflect.Float64:
		return strconv.FormatFloat(value.Float(), 'f', -1, 64)
	case reflect.Slice:
		return listText(value)
	case reflect.Map:
		return pairsText(value)
	}
	return value.String()
}

// listText returns texts or numbers on lines, and lists of them with commas on lines.
func listText(list reflect.Value) string {
	var all []string
	for i := range list.Len() {
		if one := list.Index(i); one.Kind() == reflect.Slice {
			all = append(all, strings.ReplaceAll(listText(one), "\n", ", "))
		} else {
			all = append(all, fmt.Sprint(one))
		}
	}
	return strings.Join(all, "\n")
}

// pairsText returns the members of an object on lines, by name.
func pairsText(pairs reflect.Value) string {
	var all []string
	for _, key := range pairs.MapKeys() {
		all = append(all, fmt.Sprint(key)+": "+fmt.Sprint(pairs.MapIndex(key)))
	}
	slices.Sort(all)
	return strings.Join(all, "\n")
}

// set sets a member to what was entered. An empty number is absent.
func (m Member) set(v *Visit, to reflect.Value, entered string) error {
	if to.Kind() == reflect.Pointer {
		if entered == "" && to.Type().Elem().Kind() != reflect.String && to.Type().Elem().Kind() != reflect.Bool {
			return nil
		}
		to.Set(reflect.New(to.Type().Elem()))
		to = to.Elem()
	}
	switch to.Kind() {
	case reflect.String:
		to.SetString(entered)
		return nil
	case reflect.Bool:
		to.SetBool(entered != "")
		return nil
	case reflect.Slice:
		return m.setList(v, to, strings.Split(entered, "\n"))
	case reflect.Map:
		return m.setPairs(v, to, entered)
	}
	if entered == "" {
		return nil
	}
	return m.setNumber(v, to, entered)
}

// setNumber sets a member to the number or the moment that a text states.
func (m Member) setNumber(v *Visit, to reflect.Value, entered string) error {
	if m.Kind == Moment {
		t, err := ParseLocal(entered, v.Zone)
		if err != nil {
			return Wrong(v.T("%s: “%s” is no time such as %s.", v.T(m.Label), Cut(entered, 40), LocalTime))
		}
		to.SetInt(t.Unix())
		return nil
	}
	if to.Kind() == reflect.Float64 {
		n, err := strconv.ParseFloat(entered, 64)
		if err != nil {
			return Wrong(v.T("%s: “%s” is no number.", v.T(m.Label), Cut(entered, 40)))
		}
		to.SetFloat(n)
		return nil
	}
	n, err := strconv.ParseInt(entered, 10, 64)
	if err != nil || to.CanUint() && n < 0 {
		return Wrong(v.T("%s: “%s” is no whole number.", v.T(m.Label), Cut(entered, 40)))
	}
	if to.CanUint() {
		to.SetUint(uint64(n))
		return nil
	}
	to.SetInt(n)
	return nil
}

// setList sets a list of texts or numbers to lines, and a list of lists to lines with commas.
func (m Member) setList(v *Visit, to reflect.Value, entered []string) error {
	all := reflect.MakeSlice(to.Type(), 0, len(entered))
	for _, one := range entered {
		one = strings.TrimSpace(one)
		if one == "" {
			continue
		}
		item := reflect.New(to.Type().Elem()).Elem()
		var err error
		if item.Kind() == reflect.Slice {
			err = m.setList(v, item, strings.Split(one, ","))
		} else {
			err = m.set(v, item, one)
		}
		if err != nil {
			return err
		}
		all = reflect.Append(all, item)
	}
	to.Set(all)
	return nil
}

// setPairs sets an object of texts to lines with a name, a colon and a value.
func (m Member) setPairs(v *Visit, to reflect.Value, entered string) error {
	all := reflect.MakeMap(to.Type())
	for line := range strings.Lines(entered) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			return Wrong(v.T("%s: “%s” has no colon after a name.", v.T(m.Label), Cut(line, 40)))
		}
		item := reflect.New(to.Type().Elem()).Elem()
		if err := m.set(v, item, strings.TrimSpace(value)); err != nil {
			return err
		}
		all.SetMapIndex(reflect.ValueOf(strings.TrimSpace(name)).Convert(to.Type().Key()), item)
	}
	to.Set(all)
	return nil
}

// ids returns the ids that a member holds: a list, or a single id.
func ids(value reflect.Value) (all []int64) {
	switch {
	case !value.IsValid():
	case value.Kind() == reflect.Slice:
		for i := range value.Len() {
			all = append(all, idOf(value.Index(i)))
		}
	case !value.IsZero():
		all = append(all, idOf(value))
	}
	return all
}

func idOf(value reflect.Value) int64 {
	if value.CanUint() {
		return int64(value.Uint())
	}
	return value.Int()
}

// setIDs sets a member to ids: a list, or the first id; 0 for none.
func setIDs(to reflect.Value, chosen []int64) {
	if to.Kind() == reflect.Pointer {
		to.Set(reflect.New(to.Type().Elem()))
		to = to.Elem()
	}
	if to.Kind() != reflect.Slice {
		setID(to, append(chosen, 0)[0])
		return
	}
	to.Set(reflect.MakeSlice(to.Type(), len(chosen), len(chosen)))
	for i, id := range chosen {
		setID(to.Index(i), id)
	}
}

func setID(to reflect.Value, id int64) {
	if to.CanUint() {
		to.SetUint(uint64(id))
		return
	}
	to.SetInt(id)
}
