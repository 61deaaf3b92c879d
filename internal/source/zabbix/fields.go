package zabbix

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"tocsin/internal/source"
)

// fields are the members of a body by their plain names. Media types are written by hand, so one member may be
// called event_nseverity, EventNSeverity, EVENT.NSEVERITY or {"event": {"nseverity": ...}}.
type fields map[string]jsontext.Value

// tags are the plain names of the members that hold tags.
var tags = []string{"eventtags", "eventtagsjson", "triggertags", "tags"}

// collect adds the members of an object and of the objects directly in it. Of two with the same plain name the
// first in order is kept.
func (f fields) collect(prefix string, members map[string]jsontext.Value) {
	for _, name := range slices.Sorted(maps.Keys(members)) {
		full := prefix + plain(name)
		var inner map[string]jsontext.Value
		isObject := prefix == "" && !slices.Contains(tags, full) && members[name].Kind() == '{'
		if isObject && source.Read(members[name], &inner) == nil {
			f.collect(full, inner)
		} else if _, there := f[full]; !there {
			f[full] = members[name]
		}
	}
}

// plain returns a name in lower case with only its letters and digits, and without the 1 at the end of macros
// such as {HOST.NAME1}.
func plain(name string) string {
	letters := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, strings.ToLower(name))
	return strings.TrimSuffix(letters, "1")
}

// unfilled matches a macro for which Zabbix had no value and that it left as it was.
var unfilled = regexp.MustCompile(`\A(\{[$#]?[A-Z][A-Z0-9_.:]*\}|\*UNKNOWN\*)\z`)

// text returns the value of the first of the named members that has one, or "".
func (f fields) text(names ...string) string {
	for _, name := range names {
		var t source.Text
		if v, there := f[name]; !there || source.Read(v, &t) != nil {
			continue
		}
		if value := strings.TrimSpace(source.Clean(string(t))); value != "" && !unfilled.MatchString(value) {
			return value
		}
	}
	return ""
}

// tags returns the tags of the first member that has any.
func (f fields) tags() source.Tags {
	for _, name := range tags {
		var t source.Tags
		if v, there := f[name]; there && (v.Kind() != '"' || f.text(name) != "") && source.Read(v, &t) == nil && len(t) > 0 {
			return t
		}
	}
	return nil
}
