// Package locale holds the texts of the console in other languages than English. A folder for each language holds JSON files,
// each an object from English text to translation, so that a translator needs no Go. A Setting writes texts and times for someone.
//
// It must never know of a page or a person: a caller names the language.
package locale

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
)

//go:embed zh/*.json
var files embed.FS

// Languages lists the languages of the console. English comes first: its texts are the keys of all others.
func Languages() []string { return []string{"en", "zh"} }

// catalogues holds the texts of each language but English. They are read when the first of them is asked for: a server whose
// console no one opens in a language does without.
var catalogues = map[string]func() map[string]string{"zh": catalogue("zh")}

func catalogue(lang string) func() map[string]string {
	return sync.OnceValue(func() map[string]string {
		texts, err := read(files, lang)
		if err != nil {
			panic(err) // it is a part of the program, which a test reads
		}
		return texts
	})
}

// Lookup returns the translation of an English text, and whether it has one. Plural forms and texts with arguments are looked up as
// they are written, with %d and %s.
func Lookup(lang, english string) (string, bool) {
	texts, ok := catalogues[lang]
	if !ok {
		return "", false
	}
	text, ok := texts()[english]
	return text, ok
}

// Text returns an English text in a language, with its arguments filled in as fmt.Sprintf does. A text without a translation stays
// English.
func Text(lang, english string, args ...any) string {
	text, ok := Lookup(lang, english)
	if !ok {
		text = english
	}
	if len(args) == 0 {
		return text
	}
	return fmt.Sprintf(text, args...)
}

// read returns the texts of all files of a language. Each file must be one object of texts that are not empty, and no text may
// have two translations: which of them is shown would depend on the order of the files.
func read(from fs.FS, lang string) (map[string]string, error) {
	names, err := fs.Glob(from, path.Join(lang, "*.json"))
	if err != nil {
		return nil, err
	}
	all, owners := map[string]string{}, map[string]string{}
	for _, name := range names {
		part, err := readFile(from, name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		for english, text := range part {
			if owner := owners[english]; owner != "" {
				return nil, fmt.Errorf("%s and %s translate %q: words that several parts use belong into frame.json", owner, name, english)
			}
			all[english], owners[english] = text, name
		}
	}
	return all, nil
}

// readFile returns the texts of one file.
func readFile(from fs.FS, name string) (map[string]string, error) {
	content, err := fs.ReadFile(from, name)
	if err != nil {
		return nil, err
	}
	var texts map[string]string
	if err := json.Unmarshal(content, &texts); err != nil { // which refuses a name that stands twice
		return nil, err
	}
	if texts == nil {
		return nil, fmt.Errorf("it is null, not an object of texts")
	}
	for english, text := range texts {
		if strings.TrimSpace(text) == "" {
			return nil, fmt.Errorf("%q has an empty translation", english)
		}
	}
	return texts, nil
}
