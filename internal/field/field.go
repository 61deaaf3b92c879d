package field

import (
	"embed"
	"regexp"
	"slices"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"tocsin/internal/api"
	"tocsin/internal/auth"
	"tocsin/internal/configstore"
	"tocsin/internal/platform/db"
	"tocsin/internal/platform/fault"
	"tocsin/internal/platform/id"
)

//go:embed testdata/golden/*.json
var golden embed.FS

// Field is a custom field.
type Field struct {
	FieldID      string           `json:"field_id" maxLength:"24" doc:"24 hexadecimal digits."`
	AccountID    int64            `json:"account_id" doc:"Owning account."`
	FieldName    string           `json:"field_name" maxLength:"255" doc:"Name for programs; unique in the account."`
	DisplayName  string           `json:"display_name" maxLength:"40" doc:"What people call it."`
	Description  string           `json:"description" maxLength:"500" doc:"At most 500 characters."`
	FieldType    string           `json:"field_type" enum:"text,single_select,multi_select,checkbox" doc:"How it is filled in."`
	ValueType    string           `json:"value_type" enum:"string,bool" doc:"The type of its values: bool for a checkbox, else string."`
	Options      []jsontext.Value `json:"options,omitzero" maxItems:"100" doc:"What can be selected."`
	DefaultValue jsontext.Value   `json:"default_value,omitempty" doc:"What a new incident has; absent: nothing."`
	Status       string           `json:"status" enum:"enabled" doc:"Always enabled."`
	CreatorID    int64            `json:"creator_id" doc:"The person who made it; 0: not known."`
	UpdatedBy    int64            `json:"updated_by" doc:"The person who changed it last."`
	CreatedAt    int64            `json:"created_at" doc:"Unix seconds."`
	UpdatedAt    int64            `json:"updated_at" doc:"Unix seconds."`
}

// Kind describes how fields are stored and checked.
var Kind = configstore.Kind[Field]{
	Name: configstore.Field, Section: "fields",
	Head: func(f *Field) configstore.Head {
		return configstore.Head{
			ID:        f.FieldID,
			Name:      f.FieldName,
			Search:    f.DisplayName,
			Creator:   f.CreatorID,
			CreatedAt: f.CreatedAt,
			UpdatedAt: f.UpdatedAt,
		}
	},
	Check: func(_ *db.Tx, at configstore.RecordPath, account int64, f *Field) error {
		if f.Status == "" {
			f.Status = "enabled"
		}
		err := configstore.FirstError(
			at.Account(f.AccountID, account),
			at.Object("field_id", f.FieldID),
			at.OneOf("status", f.Status, "enabled"),
			f.check(at),
		)
		if err != nil {
			return err
		}
		f.AccountID = account
		return nil
	},
}

var name = regexp.MustCompile(`\A[a-zA-Z_][a-zA-Z0-9_]{0,39}\z`)

// Bounds, in elements and characters.
const (
	maxOptions = 100
	maxOption  = 200
	maxText    = 500
)

func (f *Field) check(at configstore.RecordPath) error {
	if !name.MatchString(f.FieldName) {
		return at.Invalid("field_name", "must be a letter or _ and up to 39 letters, digits or _, got %.60q", f.FieldName)
	}
	if err := configstore.FirstError(
		at.Length("display_name", f.DisplayName, 1, 40),
		at.Length("description", f.Description, 0, 500),
		at.OneOf("field_type", f.FieldType, "text", "single_select", "multi_select", "checkbox"),
		at.OneOf("value_type", f.ValueType, "string", "bool"),
	); err != nil {
		return err
	}
	if (f.FieldType == "checkbox") != (f.ValueType == "bool") {
		return at.Invalid("value_type", "must be bool for a checkbox and string for any other field, got %s for %s", f.ValueType, f.FieldType)
	}
	selects := f.FieldType == "single_select" || f.FieldType == "multi_select"
	if n := len(f.Options); selects && (n < 1 || n > maxOptions) || !selects && n > 0 {
		return at.Invalid("options", "must be 1 to %d for a select and none for any other field, got %d for %s", maxOptions, n, f.FieldType)
	}
	for i, option := range f.Options {
		if !isText(option, 1, maxOption) {
			return at.Element("options", i).Invalid("", "must be a text of 1 to %d characters, got %.60s", maxOption, option)
		}
		if slices.ContainsFunc(f.Options[:i], func(o jsontext.Value) bool { return string(o) == string(option) }) {
			return at.Element("options", i).Twice("", string(option))
		}
	}
	return f.checkDefault(at)
}

func (f *Field) checkDefault(at configstore.RecordPath) error {
	return f.admits(at, "default_value", f.DefaultValue)
}

// Admits returns a fault if the field does not admit a value for an incident. It admits null, which clears the value.
func (f *Field) Admits(v jsontext.Value) error { return f.admits("", "field_value", v) }

func (f *Field) admits(at configstore.RecordPath, member string, v jsontext.Value) error {
	if len(v) == 0 || v.Kind() == 'n' {
		return nil
	}
	option := func(v jsontext.Value) bool {
		return slices.ContainsFunc(f.Options, func(o jsontext.Value) bool { return string(o) == string(v) })
	}
	switch f.FieldType {
	case "checkbox":
		if k := v.Kind(); k != 't' && k != 'f' {
			return at.Invalid(member, "must be true or false, got %.60s", v)
		}
	case "text":
		if !isText(v, 0, maxText) {
			return at.Invalid(member, "must be a text of at most %d characters, got %.60s", maxText, v)
		}
	case "single_select":
		if !option(v) {
			return at.Invalid(member, "must be one of the options, got %.60s", v)
		}
	case "multi_select":
		var list []jsontext.Value
		if json.Unmarshal(v, &list) != nil || slices.ContainsFunc(list, func(v jsontext.Value) bool { return !option(v) }) {
			return at.Invalid(member, "must be a list of options, got %.60s", v)
		}
	}
	return nil
}

// isText reports whether a value is a text of shortest to longest characters.
func isText(v jsontext.Value, shortest, longest int) bool {
	var s string
	if v.Kind() != '"' || json.Unmarshal(v, &s) != nil {
		return false
	}
	n := utf8.RuneCountInString(s)
	return n >= shortest && n <= longest
}

// Ops returns the operations of this package.
func Ops() []api.Op {
	manage := []auth.Permission{auth.CustomFieldsManage}
	const one = `{"field_id": "67a1c0de0000000f00000001"}`
	return api.WithReplies(golden, []api.Op{
		{
			Path:   "/field/create",
			Allow:  manage,
			Effect: api.Write,
			Audit:  "field:write:create",
			Doc:    "Creates a custom field of incidents.",
			Example: `{"field_name": "impact_area", "display_name": "Impact", "field_type": "single_select", "value_type": "string", ` +
				`"options": ["EU", "US"], "default_value": "EU"}`,
			Do: api.Do(create),
		},
		{
			Path:    "/field/update",
			Allow:   manage,
			Effect:  api.Write,
			Audit:   "field:write:update",
			Doc:     "Changes the members of a field that are sent; its name and type never change.",
			Notes:   "default_value null is the same as absent.",
			Example: `{"field_id": "67a1c0de0000000f00000001", "display_name": "Impact area"}`,
			Do:      api.Do(update),
		},
		{Path: "/field/info", Effect: api.Read, Doc: "Shows one field.", Example: one, Do: api.Do(info)},
		{Path: "/field/list", Effect: api.Read, Doc: "Lists the fields of the account by age, oldest first.", Example: `{}`, Do: api.Do(list)},
		{
			Path:    "/field/delete",
			Errors:  api.Referenced,
			Allow:   manage,
			Effect:  api.Write,
			Audit:   "field:write:delete",
			Danger:  true,
			Doc:     "Deletes a field.",
			Example: one,
			Do:      api.Do(remove),
		},
	})
}

// CreateRequest is a field to create.
type CreateRequest struct {
	FieldName    string           `json:"field_name" maxLength:"255" doc:"A letter or _ and up to 39 letters, digits or _; unique in the account; never changes."`
	DisplayName  string           `json:"display_name" minLength:"1" maxLength:"40" doc:"What people call it."`
	Description  string           `json:"description,omitzero" maxLength:"500" doc:"At most 500 characters."`
	FieldType    string           `json:"field_type" enum:"text,single_select,multi_select,checkbox" doc:"How it is filled in; never changes."`
	ValueType    string           `json:"value_type" enum:"string,bool" doc:"bool for a checkbox, else string."`
	Options      []jsontext.Value `json:"options,omitzero" maxItems:"100" doc:"What can be selected: texts of at most 200 characters, no two alike."`
	DefaultValue jsontext.Value   `json:"default_value,omitzero" doc:"What a new incident has: as the type wants it, for a select one of the options or a list of them."`
}

// Created is the field that was created.
type Created struct {
	FieldID   string `json:"field_id" doc:"The new field."`
	FieldName string `json:"field_name" maxLength:"255" doc:"Its name, as it was sent."`
}

func create(c *api.Call, in CreateRequest) (Created, error) {
	f := Field{
		FieldID:      id.Object(c.Now),
		AccountID:    c.Who.AccountID,
		FieldName:    in.FieldName,
		DisplayName:  in.DisplayName,
		Description:  in.Description,
		FieldType:    in.FieldType,
		ValueType:    in.ValueType,
		Options:      in.Options,
		DefaultValue: in.DefaultValue,
		Status:       "enabled",
		CreatorID:    c.Who.PersonID,
		CreatedAt:    c.Unix(),
	}
	taken, err := Kind.Named(c.Tx, c.Who.AccountID, in.FieldName, "")
	if err != nil {
		return Created{}, err
	}
	if taken {
		return Created{}, fault.Invalid("field_name", "another field is called %q", in.FieldName)
	}
	return Created{f.FieldID, f.FieldName}, f.store(c)
}

func (f *Field) store(c *api.Call) error {
	if err := f.check(""); err != nil {
		return err
	}
	f.UpdatedAt, f.UpdatedBy = c.Unix(), c.Who.PersonID
	c.Touched(Kind.Name, f.FieldID, f.FieldName)
	return Kind.Put(c.Tx, c.Who.AccountID, f)
}

// UpdateRequest is what changes of a field. An absent member stays as it is.
type UpdateRequest struct {
	FieldID      string           `json:"field_id" pattern:"^[0-9a-f]{24}$" patternDescription:"24 hexadecimal digits" doc:"The field to change."`
	DisplayName  *string          `json:"display_name,omitzero" minLength:"1" maxLength:"40" doc:"What people call it."`
	Description  *string          `json:"description,omitzero" maxLength:"500" doc:"At most 500 characters."`
	Options      []jsontext.Value `json:"options,omitzero" maxItems:"100" doc:"What can be selected."`
	DefaultValue jsontext.Value   `json:"default_value,omitzero" doc:"What a new incident has."`
}

func update(c *api.Call, in UpdateRequest) (api.Empty, error) {
	f, err := Kind.Get(c.Tx, c.Who.AccountID, in.FieldID)
	if err != nil {
		return api.Empty{}, err
	}
	if in.DisplayName != nil {
		f.DisplayName = *in.DisplayName
	}
	if in.Description != nil {
		f.Description = *in.Description
	}
	if in.Options != nil {
		f.Options = in.Options
	}
	if in.DefaultValue != nil && in.DefaultValue.Kind() != 'n' {
		f.DefaultValue = in.DefaultValue
	}
	return api.Empty{}, f.store(c)
}

// OneRequest names one field.
type OneRequest struct {
	FieldID string `json:"field_id" pattern:"^[0-9a-f]{24}$" patternDescription:"24 hexadecimal digits" doc:"The field."`
}

func info(c *api.Call, in OneRequest) (Field, error) {
	return Kind.Get(c.Tx, c.Who.AccountID, in.FieldID)
}

func list(c *api.Call, _ api.Empty) (api.Items[Field], error) {
	items, _, err := Kind.Page(c.Tx, c.Who.AccountID, configstore.Query{Ascending: true, Limit: 1000})
	return api.Items[Field]{Items: items}, err
}

// DeleteRequest names a field to delete.
type DeleteRequest struct {
	FieldID string `json:"field_id" pattern:"^[0-9a-f]{24}$" patternDescription:"24 hexadecimal digits" doc:"The field to delete."`
	api.DryRun
}

func remove(c *api.Call, in DeleteRequest) (api.Removal, error) {
	f, err := Kind.Get(c.Tx, c.Who.AccountID, in.FieldID)
	if err != nil {
		return api.Removal{}, err
	}
	c.Removed(Kind.Name, f.FieldID, f.FieldName)
	if err := configstore.RefuseReferenced(c.Tx, c.Who.AccountID, Kind.Name, f.FieldID); err != nil {
		return api.Removal{}, err
	}
	return api.Removal{}, Kind.Delete(c.Tx, c.Who.AccountID, f.FieldID)
}
