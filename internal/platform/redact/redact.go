// Package redact replaces credentials in texts that are stored or logged:
// request bodies for the audit log, addresses for log lines.
//
// What a request's type marks as secret is hidden by that mark, and so is what
// the type does not know. Names decide only where there is no type: in objects
// whose members the sender names, in the headers of other systems, and in the
// queries of URLs. It cannot recognise a secret under an innocent name there.
// When in doubt it hides too much. It must never return a part of input that
// it failed to parse.
package redact

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"

	"github.com/go-json-experiment/json/jsontext"
)

const (
	hidden    = "***"
	malformed = `{"redacted":"not valid JSON"}`

	// Least is the smallest limit of JSON, in bytes: enough for the notes that
	// replace a whole body.
	Least = 64
)

// JSON returns body, compacted, with "***" in place of what its shape does not
// show. In the texts that are shown, user info and credential-like query
// parameters of URLs are hidden.
//
// Empty strings, booleans and null are no credentials and stay. Members keep
// their order and numbers their digits. The result is always valid JSON of at
// most limit bytes, and of Least if limit is less: a longer one is replaced by
// a note of the body's size in bytes, a malformed body by a fixed text.
func JSON(body []byte, shape *Shape, limit int) string {
	var out bytes.Buffer
	if err := rewrite(&out, body, shape); err != nil {
		return malformed
	}
	if out.Len() > max(limit, Least) {
		return fmt.Sprintf(`{"redacted":"too long","size":%d}`, len(body))
	}
	return out.String()
}

// note matches what stands for a whole body.
var note = regexp.MustCompile(`\A\{"redacted":"(not valid JSON|not read|too long)"(,"size":[0-9]+)?\}\z`)

// Again returns what JSON once returned, by a later shape of the body. Notes in place of bodies stay.
func Again(kept string, shape *Shape) string {
	if note.MatchString(kept) {
		return kept
	}
	return JSON([]byte(kept), shape, max(Least, 2*len(kept))) // what is hidden may be longer than a secret
}

// rewrite reads as leniently as the program's own decoder: what that accepts
// must not be missing from the audit log.
func rewrite(out *bytes.Buffer, body []byte, shape *Shape) error {
	lenient := jsontext.AllowDuplicateNames(true)
	garbled := jsontext.AllowInvalidUTF8(true)
	c := copier{
		in:  jsontext.NewDecoder(bytes.NewBuffer(body), lenient, garbled),
		out: jsontext.NewEncoder(out, lenient, garbled),
	}
	if err := c.value(shape); err != nil {
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

func (c copier) value(s *Shape) error {
	switch kind := c.in.PeekKind(); {
	case kind == '{' && s.isObject():
		return c.object(s)
	case kind == '[' && s.isArray():
		return c.array(s)
	case kind == '{' || kind == '[':
		if err := c.in.SkipValue(); err != nil {
			return err
		}
		return c.out.WriteToken(jsontext.String(hidden))
	case kind == '"':
		token, err := c.in.ReadToken()
		if err != nil {
			return err
		}
		return c.out.WriteToken(jsontext.String(s.show(token.String())))
	case kind == '0' && !s.shows(Text):
		if err := c.in.SkipValue(); err != nil {
			return err
		}
		return c.out.WriteToken(jsontext.String(hidden))
	}
	raw, err := c.in.ReadValue()
	if err != nil {
		return err
	}
	return c.out.WriteValue(raw)
}

func (c copier) object(s *Shape) error {
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
		if err := c.value(s.member(name)); err != nil {
			return err
		}
	}
	return c.delimiter()
}

func (c copier) array(s *Shape) error {
	if err := c.delimiter(); err != nil {
		return err
	}
	s = s.form(c.in.PeekKind())
	for c.in.PeekKind() != ']' {
		if err := c.value(s.Items); err != nil {
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
