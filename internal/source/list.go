package source

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"tocsin/internal/platform/fault"
)

// List is a JSON array of alerts. It keeps the first Max and counts the others, so that a body of millions of tiny
// alerts costs no more memory than a large one.
type List struct {
	Max      int
	Items    []jsontext.Value // parts of the body
	Beyond   int
	body     []byte // that it is read from
	complete bool   // its end was read
}

// UnmarshalJSONFrom reads an array or null of the body that ReadList has set. What it has read stays when an error occurs,
// such as the end of a body that was cut.
func (l *List) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	l.Items = nil
	l.Beyond = 0
	l.complete = false
	switch kind := d.PeekKind(); kind {
	case 'n':
		return d.SkipValue()
	case '[':
	default:
		value, err := d.ReadValue()
		if err != nil {
			return err
		}
		return Read(value, new([]jsontext.Value)) // the error that states the kind
	}
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	for d.PeekKind() != ']' {
		if len(l.Items) == l.Max {
			if err := d.SkipValue(); err != nil {
				return err
			}
			l.Beyond++
			continue
		}
		item, err := d.ReadValue()
		if err != nil {
			return err
		}
		end := d.InputOffset() // the decoder's own text is valid for a moment only
		l.Items = append(l.Items, l.body[end-int64(len(item)):end])
	}
	_, err := d.ReadToken()
	l.complete = err == nil
	return err
}

// ReadList is Read for a body that holds a list. Of a body that was cut it reads the alerts that are complete.
func (r Request) ReadList(into any, l *List) error {
	l.Max, l.body = r.MaxAlerts, r.Body
	err := Read(r.Body, into)
	if err != nil && (!r.Cut || len(l.Items) == 0) {
		return Unreadable(err)
	}
	return nil
}

// RefuseRest names the alerts that the limits of a request left out of a list. at is the path of the list, such as
// alerts.
func (b *Batch) RefuseRest(r Request, l *List, at string) {
	b.List = true
	rest := Refused{Index: len(l.Items), Field: fmt.Sprintf("%s[%d]", at, len(l.Items))}
	switch {
	case l.Beyond > 0:
		rest.Reason, rest.Count = TooMany, l.Beyond
		rest.Message = fmt.Sprintf("a request may hold %d alerts: this one and those after it were not taken", r.MaxAlerts)
	case r.Cut && !l.complete:
		rest.Reason = TooLarge
		rest.Message = fmt.Sprintf("the body is longer than %d bytes: this alert and those after it were not taken", len(r.Body))
	default:
		return
	}
	b.Refused = append(b.Refused, rest)
}

// Empty returns the fault of a list without alerts.
func (r Request) Empty(field string) error {
	return fault.Invalid(field, "must hold 1 to %d alerts, got 0", r.MaxAlerts)
}
