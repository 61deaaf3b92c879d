// Package redact replaces credentials in texts that are stored or logged:
// request bodies for the audit log, addresses for log lines.
//
// It recognises credentials by names and by the grammar of URLs: a password by
// the member that holds it. It cannot recognise a secret under an innocent
// name, in the path of a URL, or encoded a second time. When in doubt it hides
// too much. It must never return a part of input that it failed to parse.
package redact

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

const (
	hidden    = "***"
	malformed = `{"redacted":"not valid JSON"}`

	// Least is the smallest limit of JSON, in bytes: enough for the notes that
	// replace a whole body.
	Least = 64
)

// JSON returns body, compacted, with its credentials replaced by "***":
//
//   - the value of every member whose name names one, such as password,
//     api_key or client_token, whatever it is and at any depth;
//   - in arrays named headers or params, all of an item "Name: value" or
//     "name=value" but the name, and in objects of these names all values;
//   - in every string, user info and credential-like query parameters of URLs.
//
// Empty strings, booleans and null are no credentials and stay. Members keep
// their order and numbers their digits. The result is always valid JSON of at
// most limit bytes, and of Least if limit is less: a longer one is replaced by
// a note of the body's size in bytes, a malformed body by a fixed text.
func JSON(body []byte, limit int) string {
	var out bytes.Buffer
	if err := rewrite(&out, body); err != nil {
		return malformed
	}
	if out.Len() > max(limit, Least) {
		return fmt.Sprintf(`{"redacted":"too long","size":%d}`, len(body))
	}
	return out.String()
}

// rewrite reads as leniently as the program's own decoder: what that accepts
// must not be missing from the audit log.
func rewrite(out *bytes.Buffer, body []byte) error {
	lenient := jsontext.AllowDuplicateNames(true)
	garbled := jsontext.AllowInvalidUTF8(true)
	c := copier{
		in:  jsontext.NewDecoder(bytes.NewBuffer(body), lenient, garbled),
		out: jsontext.NewEncoder(out, lenient, garbled),
	}
	if err := c.value(shown); err != nil {
		return err
	}
	if _, err := c.in.ReadToken(); !errors.Is(err, io.EOF) {
		return errors.New("more than one value")
	}
	out.Truncate(out.Len() - len("\n"))
	return nil
}

// copier copies one JSON value, token by token. Its depth, and with it the
// recursion below, is bounded by the decoder.
type copier struct {
	in  *jsontext.Decoder
	out *jsontext.Encoder
}

// view is the part of a value that may be shown.
type view int

const (
	shown   view = iota
	nothing      // none of it
	names        // the names of members, but no string or number
	headers      // as names; in a list, the names of items "Name: value" too
	params       // as names; in a list, the names of items "name=value" too
	header       // an item of headers
	param        // an item of params
	address      // of a URL the host, but not the path: the path of a chat's URL permits writing to the chat
)

func (c copier) value(v view) error {
	kind := c.in.PeekKind()
	if v == nothing && (kind == '{' || kind == '[') {
		if err := c.in.SkipValue(); err != nil {
			return err
		}
		return c.out.WriteToken(jsontext.String(hidden))
	}
	switch kind {
	case '{':
		return c.object(v)
	case '[':
		return c.array(v)
	case '"':
		token, err := c.in.ReadToken()
		if err != nil {
			return err
		}
		return c.out.WriteToken(jsontext.String(show(token.String(), v)))
	}
	raw, err := c.in.ReadValue()
	if err != nil {
		return err
	}
	if kind == '0' && v != shown {
		return c.out.WriteToken(jsontext.String(hidden))
	}
	return c.out.WriteValue(raw)
}

func (c copier) object(v view) error {
	if err := c.delimiter(); err != nil {
		return err
	}
	for c.in.PeekKind() != '}' {
		token, err := c.in.ReadToken()
		if err != nil {
			return err
		}
		name := token.String()
		if err := c.out.WriteToken(jsontext.String(URL(name))); err != nil {
			return err
		}
		if err := c.value(ofMember(v, name)); err != nil {
			return err
		}
	}
	return c.delimiter()
}

func (c copier) array(v view) error {
	if err := c.delimiter(); err != nil {
		return err
	}
	for c.in.PeekKind() != ']' {
		if err := c.value(ofItem(v)); err != nil {
			return err
		}
	}
	return c.delimiter()
}

func (c copier) delimiter() error {
	token, err := c.in.ReadToken()
	if err != nil {
		return err
	}
	return c.out.WriteToken(token)
}
