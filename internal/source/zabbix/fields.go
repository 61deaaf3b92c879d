package zabbix

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"tocsin/internal/source"
)

// fields are the members of a body by their plain names. Media types are written by hand, so that the same is
// called event_nseverity, EventNSeverity, EVENT.NSEVERITY or {"event": {"nseverity": ...}}.
type fields map[string]jsontext.Value

// tags are the plain names of the members that hold tags.
var tags = []string{"eventtags", "eventtagsjson", "triggertags", "tags"}

// collect takes the members of an object in, and of the objects in it. Of two with the same plain name the
// first in order is kept.
func (f fields) collect(prefix string, members map[string]jsontext.Value) {
	for _, name := range slices.Sorted(maps.Keys(members)) {
		full := prefix + plain(name)
		var inner map[string]jsontext.Value
		if prefix == "" && !slices.Contains(tags, full) && members[name].Kind() == '{' && source.Read(members[name], &inner) == nil {
			f.collect(full, inner)
		} else if _, there := f[full]; !there {
			f[full] = members[name]
		}
	}
}

// plain is a name in small letters without what stands between its words, nor the 1 of macros such as
// {HOST.NAME1}.
func plain(name string) string {
	letters := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, strings.ToLower(name))
	return strings.TrimSuffix(letters, "1")
}

// unfilled is a macro for which Zabbix had nothing, and left as it was.
var unfilled = regexp.MustCompile(`\A(\{[$#]?[A-Z][A-Z0-9_.:]*\}|\*UNKNOWN\*)\z`)

// text is the first of some members that says anything.
func (f fields) text(names ...string) string {
	for _, name := range names {
		var t source.Text
		if v, there := f[name]; !there || source.Read(v, &t) != nil {
			continue
		}
		if said := strings.TrimSpace(source.Clean(string(t))); said != "" && !unfilled.MatchString(said) {
			return said
		}
	}
	return ""
}

// tags are those of the first member that has any.
func (f fields) tags() source.Tags {
	for _, name := range tags {
		var t source.Tags
		if v, there := f[name]; there && (v.Kind() != '"' || f.text(name) != "") && source.Read(v, &t) == nil && len(t) > 0 {
			return t
		}
	}
	return nil
}
