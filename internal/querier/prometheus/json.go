package prometheus

import (
	"bytes"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

func newDecoder(r io.Reader) *jsontext.Decoder {
	return jsontext.NewDecoder(r, jsontext.AllowDuplicateNames(true)) // those that matter are checked below
}

// object reads an object and calls member for each of its members, which reads the value. The name is valid until it does.
func (d *Decoder) object(member func(name []byte) error) error {
	if err := d.expect('{'); err != nil {
		return err
	}
	for d.json.PeekKind() != '}' {
		name, err := d.text()
		if err != nil {
			return err
		}
		if err := member(name); err != nil {
			return err
		}
	}
	return d.expect('}')
}

// array reads an array and calls element for each of its elements, which reads it.
func (d *Decoder) array(element func() error) error {
	if err := d.expect('['); err != nil {
		return err
	}
	for d.json.PeekKind() != ']' {
		if err := element(); err != nil {
			return err
		}
	}
	return d.expect(']')
}

func (d *Decoder) expect(kind jsontext.Kind) error {
	t, err := d.json.ReadToken()
	if err == nil && t.Kind() != kind {
		err = errMalformed
	}
	return err
}

// text reads a text. It is valid until the next read.
func (d *Decoder) text() ([]byte, error) {
	if d.json.PeekKind() != '"' {
		return nil, d.unexpected()
	}
	v, err := d.json.ReadValue()
	if err != nil {
		return nil, err
	}
	if bytes.IndexByte(v, '\\') < 0 {
		return v[1 : len(v)-1], nil
	}
	return jsontext.AppendUnquote(nil, v)
}

// unexpected returns the error of a value of another kind, or with which it could not be read.
func (d *Decoder) unexpected() error {
	if _, err := d.json.ReadValue(); err != nil {
		return err
	}
	return errMalformed
}
