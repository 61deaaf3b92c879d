package api

import (
	"reflect"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"tocsin/internal/platform/redact"
)

// secretMark is the member of a schema with the tag "secret" of its field. The tag marks what the audit log and the texts of
// errors must not show of a text, of the texts of a list, or of the values of a map:
//
//	secret:"value"  all
//	secret:"url"    a URL but for its scheme and host
//	secret:":"      of "Name: value" the value
//	secret:"="      of "name=value" the value
const secretMark = "x-secret"

// markSecret adds the tag of a field to its schema.
func markSecret(of *huma.Schema, field reflect.StructField) {
	mark := field.Tag.Get("secret")
	if mark == "" {
		return
	}
	if of.Ref != "" || of.AnyOf != nil || of.OneOf != nil {
		panic("the mark of field " + field.Name + " belongs to the fields of " + field.Type.String())
	}
	of.Extensions = map[string]any{secretMark: mark}
}

// secret returns the mark of a secret; empty: it is none.
func (c *checker) secret() string {
	mark, _ := c.Extensions[secretMark].(string)
	return mark
}

// shown returns which parts of a document may be shown. It is made once, before the checker is used.
func (c *checker) shown() *redact.Shape {
	if c.shape == nil {
		c.shape = &redact.Shape{} // before its parts, because types may contain themselves
		*c.shape = c.newShape()
	}
	return c.shape
}

func (c *checker) newShape() redact.Shape {
	if mark := c.secret(); mark != "" {
		return c.secretShape(mark)
	}
	switch {
	case c.forms != nil:
		var s redact.Shape
		for _, form := range c.forms {
			s.Forms = append(s.Forms, form.shown())
		}
		return s
	case c.Type == "":
		return *redact.Free
	case c.Type == huma.TypeArray:
		return redact.Shape{Items: c.items.shown()}
	case c.Type != huma.TypeObject:
		return redact.Shape{Show: redact.Text}
	}
	s := redact.Shape{Members: map[string]*redact.Shape{}}
	for _, m := range c.fields {
		s.Members[m.name] = m.shown()
	}
	if c.values != nil {
		s.Others = c.values.shown()
	}
	return s
}

// secretShape is the shape of a text with a mark, or of a list or a map of such texts.
func (c *checker) secretShape(mark string) redact.Shape {
	if mark == "value" {
		mark = string(redact.Nothing)
	}
	of := &redact.Shape{Show: redact.Show(mark)}
	switch {
	case c.items != nil:
		return redact.Shape{Items: of}
	case c.values != nil:
		return redact.Shape{Others: of}
	}
	return *of
}

// Secrets returns the shapes of the requests that have secrets, by the names under which they are recorded in the audit log.
func (f *Frame) Secrets() map[string]*redact.Shape {
	f.prepareAll()
	shapes := map[string]*redact.Shape{}
	for _, m := range f.order {
		if m.Audit != "" && m.check.hasSecret(map[*checker]bool{}) {
			shapes[m.Audit] = m.shape
		}
	}
	return shapes
}

// hasSecret reports whether there is a mark in a schema. seen are the parts that were looked at, because types may contain
// themselves.
func (c *checker) hasSecret(seen map[*checker]bool) bool {
	if c == nil || seen[c] {
		return false
	}
	seen[c] = true
	return c.secret() != "" || c.items.hasSecret(seen) || c.values.hasSecret(seen) ||
		slices.ContainsFunc(c.forms, func(form *checker) bool { return form.hasSecret(seen) }) ||
		slices.ContainsFunc(c.fields, func(m member) bool { return m.hasSecret(seen) })
}
