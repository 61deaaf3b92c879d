package redact

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Shape describes a JSON value by its type: which parts may be shown. Nothing of a value without a shape is shown, nor of
// one that is not what its shape describes, such as an object in place of a text.
type Shape struct {
	Show    Show              // of a text or number
	Members map[string]*Shape // of an object; nil: it is none, unless it has Others
	Others  *Shape            // of the members that are not in Members, whose names the sender chooses; nil: they are not known
	Items   *Shape            // of an array; nil: it is none, unless it has Forms
	Forms   []*Shape          // of an array in one of several forms: the first that takes its first item counts, else the first
}

// Show is the part of a text that may be shown. Besides these constants there are two separators: of "Name: value" the
// separator ":" shows the name, of "name=value" the separator "=".
type Show string

// The values of Show that are no separators.
const (
	Nothing Show = ""
	Text    Show = "text"
	Host    Show = "url" // of a URL: the path to a chat's webhook permits writing to the chat
)

// separator is how a separator is written.
var separator = map[Show]string{":": ": ", "=": "="}

// Free is the shape of a document without a type. Of its members, those whose name is that of a credential are hidden.
var Free = free()

func free() *Shape {
	s := &Shape{Show: Text}
	s.Items, s.Others = s, s
	return s
}

func (s *Shape) isObject() bool { return s != nil && (s.Members != nil || s.Others != nil) }

func (s *Shape) isArray() bool { return s != nil && (s.Items != nil || s.Forms != nil) }

func (s *Shape) shows(what Show) bool { return s != nil && s.Show == what }

// member returns the shape of a member. Names decide only about the members that the sender names.
func (s *Shape) member(name string) *Shape {
	if m := s.Members[name]; m != nil {
		return m
	}
	if s.Others.shows(Text) && Hides(name) {
		return nil
	}
	return s.Others
}

// form returns the form of an array whose first item is of a kind.
func (s *Shape) form(first jsontext.Kind) *Shape {
	if s.Forms == nil {
		return s
	}
	for _, form := range s.Forms {
		of := form.Items
		if first == '{' && of.isObject() || first == '[' && of.isArray() || first == '"' && of.shows(Text) {
			return form
		}
	}
	return s.Forms[0]
}

// show returns the visible part of a text.
func (s *Shape) show(text string) string {
	switch {
	case text == "":
		return text
	case s.shows(Nothing) || s == nil:
		return hidden
	case s.Show == Text:
		return URL(text)
	case s.Show == Host:
		return Origin(text)
	}
	name, _, ok := strings.Cut(text, string(s.Show))
	if !ok {
		return hidden
	}
	return URL(name) + separator[s.Show] + hidden
}
