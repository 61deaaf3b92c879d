// Package symbols reads source maps, and finds the original place of positions in generated code.
//
// It must never take more time or memory than a map's size bounds, nor return a place that the map does not state.
package symbols

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The bounds of a source map. Reading one takes time linear in its bytes, as does each search for positions. It takes the
// memory of the text, and sixteen bytes for each element of its lists, 16 MiB at most; mappings are decoded and not kept.
// Without the bound of the elements, three bytes of a map could become sixteen in memory. Maps of sections have no further level.
const (
	MaxSize     = 16 << 20 // bytes
	maxElements = 1 << 20  // of all lists together
	maxSections = 10_000
)

// Map is a source map. It is safe for concurrent use.
type Map struct {
	sections []section // in the order of the generated code
	size     int
}

// section is a part of the generated code with mappings of its own. Most maps have only one.
type section struct {
	offset
	mappings string
	sources  []source
	names    []string
}

// offset is where a section begins, from 0.
type offset struct {
	Line   int `json:"line"`
	Column int `json:"column"`
}

// source is an original file.
type source struct {
	path    string
	code    string // empty: the map does not have it
	library bool   // the map states that debuggers should skip it
}

// Size estimates the bytes that the map takes in memory.
func (m *Map) Size() int { return m.size }

// document is the JSON of a source map. Lists are read element by element, so that their bound holds before they are in
// memory.
type document struct {
	Version    int            `json:"version"`
	SourceRoot string         `json:"sourceRoot"`
	Sources    jsontext.Value `json:"sources"`
	Contents   jsontext.Value `json:"sourcesContent"`
	Names      jsontext.Value `json:"names"`
	Mappings   string         `json:"mappings"`
	Ignored    jsontext.Value `json:"ignoreList"`
	Skipped    jsontext.Value `json:"x_google_ignoreList"` // its former name
	Sections   jsontext.Value `json:"sections"`
}

// subsection is a section of a map of sections.
type subsection struct {
	Offset offset    `json:"offset"`
	Map    *document `json:"map"`
}

// Parse reads a source map of version 3, also one of sections. All mappings are decoded once, so that a map that cannot
// be read is refused when it is uploaded, not missed when it is needed.
func Parse(text []byte) (*Map, error) {
	if len(text) > MaxSize {
		return nil, fmt.Errorf("must be at most %d bytes, got %d", MaxSize, len(text))
	}
	if guarded, ok := bytes.CutPrefix(text, []byte(")]}'")); ok { // keeps browsers from running it
		text = guarded
	}
	var d document
	if err := json.Unmarshal(text, &d, lenient); err != nil {
		return nil, malformed(err)
	}
	r := reader{left: maxElements}
	if d.Sections == nil {
		return &r.m, r.section(offset{}, &d)
	}
	err := r.each("sections", d.Sections, func(dec *jsontext.Decoder) error {
		if len(r.m.sections) == maxSections {
			return fmt.Errorf("sections has more than %d elements", maxSections)
		}
		var s subsection
		if err := json.UnmarshalDecode(dec, &s); err != nil {
			return malformed(err)
		}
		if s.Map == nil || s.Map.Sections != nil {
			return errors.New("sections must each hold a map without sections")
		}
		return r.section(s.Offset, s.Map)
	})
	slices.SortStableFunc(r.m.sections, func(a, b section) int { return cmp.Or(a.Line-b.Line, a.Column-b.Column) })
	return &r.m, err
}

// lenient accepts what tools write and only a strict reader would refuse.
var lenient = json.JoinOptions(jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))

// malformed returns an error that names the member of the map, without any of its text.
func malformed(err error) error {
	if s := new(json.SemanticError); errors.As(err, &s) && s.JSONPointer != "" {
		return fmt.Errorf("%s is not what a source map has there", strings.TrimPrefix(string(s.JSONPointer), "/"))
	}
	return errors.New("is not a JSON object")
}

// reader collects the sections of a map.
type reader struct {
	m    Map
	left int // how many elements its lists may still have
}

func (r *reader) section(at offset, d *document) error {
	if d.Version != 3 {
		return fmt.Errorf("version must be 3, got %d", d.Version)
	}
	if at.Line < 0 || at.Column < 0 {
		return fmt.Errorf("sections must begin at a line and column from 0, got %d:%d", at.Line, at.Column)
	}
	s := section{offset: at, mappings: d.Mappings}
	if err := walk(d.Mappings, func(int, segment) bool { return true }); err != nil {
		return fmt.Errorf("mappings cannot be read %w", err)
	}
	if err := r.sources(&s, d); err != nil {
		return err
	}
	err := r.each("names", d.Names, func(dec *jsontext.Decoder) error {
		name, err := r.text(dec, "names")
		s.names = append(s.names, name)
		return err
	})
	r.m.size += len(s.mappings) + 100
	r.m.sections = append(r.m.sections, s)
	return err
}

// sources reads the original files: their paths, their code, and which are libraries.
func (r *reader) sources(s *section, d *document) error {
	err := r.each("sources", d.Sources, func(dec *jsontext.Decoder) error {
		name, err := r.text(dec, "sources")
		s.sources = append(s.sources, source{path: original(d.SourceRoot, name)})
		r.m.size += len(d.SourceRoot) + 40
		return err
	})
	if err != nil {
		return err
	}
	n := 0
	err = r.each("sourcesContent", d.Contents, func(dec *jsontext.Decoder) error {
		code, err := r.text(dec, "sourcesContent")
		if n < len(s.sources) {
			s.sources[n].code = code
		}
		n++
		return err
	})
	for name, list := range map[string]jsontext.Value{"ignoreList": d.Ignored, "x_google_ignoreList": d.Skipped} {
		if err != nil {
			return err
		}
		err = r.each(name, list, func(dec *jsontext.Decoder) error {
			var i int
			if err := json.UnmarshalDecode(dec, &i); err != nil {
				return malformed(err)
			}
			if i >= 0 && i < len(s.sources) {
				s.sources[i].library = true
			}
			return nil
		})
	}
	return err
}

// each calls element for each element of a list; null and an absent list have none.
func (r *reader) each(name string, list jsontext.Value, element func(*jsontext.Decoder) error) error {
	if list == nil || list.Kind() == 'n' {
		return nil
	}
	if list.Kind() != '[' {
		return fmt.Errorf("%s must be a list", name)
	}
	dec := jsontext.NewDecoder(bytes.NewReader(list), lenient)
	if _, err := dec.ReadToken(); err != nil {
		return malformed(err)
	}
	for dec.PeekKind() != ']' {
		if r.left--; r.left < 0 {
			return fmt.Errorf("%s: the lists of a map must have at most %d elements together", name, maxElements)
		}
		if err := element(dec); err != nil {
			return err
		}
	}
	return nil
}

// text reads an element that is a text or null.
func (r *reader) text(dec *jsontext.Decoder, name string) (string, error) {
	token, err := dec.ReadToken()
	if err != nil {
		return "", malformed(err)
	}
	if token.Kind() != '"' && token.Kind() != 'n' {
		return "", fmt.Errorf("%s must hold texts", name)
	}
	text := ""
	if token.Kind() == '"' {
		text = token.String()
	}
	r.m.size += len(text) + 16
	return text, nil
}

// original returns the path of an original file as people know it: below the source root, without the scheme that
// bundlers add, and without the way from the generated file up to the project.
func original(root, name string) string {
	if root != "" && !strings.HasPrefix(name, "/") && !strings.Contains(name, "://") {
		name = strings.TrimSuffix(root, "/") + "/" + name
	}
	scheme, rest, ok := strings.Cut(name, "://")
	if ok && scheme == "webpack" { // webpack://NAME/PATH
		_, name, _ = strings.Cut(rest, "/")
	} else if ok {
		return name
	}
	name = path.Clean(name)
	for strings.HasPrefix(name, "../") {
		name = name[len("../"):]
	}
	return name
}
