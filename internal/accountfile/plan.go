package accountfile

import (
	"bytes"
	stdjson "encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"tocsin/internal/platform/fault"
)

// Plan is what applying a file does to an account, or did.
type Plan struct {
	Changes []Change
	Kept    []fault.Ref // in the account and not in the file, left alone without prune
	Ignored []string    // sections of the file that are no configuration, left alone
}

// Change is one object that is created, changed or deleted.
type Change struct {
	Verb    string // create, change or delete
	Object  fault.Ref
	Members []MemberChange // of a change
}

// MemberChange is one value that differs: its path in the record, and both values as JSON. Of a secret
// neither is shown.
type MemberChange struct{ Path, Old, New string }

// Empty tells whether there is nothing to do.
func (p Plan) Empty() bool { return len(p.Changes) == 0 }

// WriteTo prints the plan for people, one object a line and below it what changes.
func (p Plan) WriteTo(w io.Writer) (int64, error) {
	var b bytes.Buffer
	count := map[string]int{}
	for _, c := range p.Changes {
		count[c.Verb]++
		fmt.Fprintf(&b, "%-6s  %s\n", c.Verb, called(c.Object))
		for _, m := range c.Members {
			fmt.Fprintf(&b, "          %s: %s -> %s\n", m.Path, m.Old, m.New)
		}
	}
	for _, o := range p.Kept {
		fmt.Fprintf(&b, "keep    %s: not in the file, --prune deletes it\n", called(o))
	}
	if len(p.Ignored) > 0 {
		fmt.Fprintf(&b, "ignore  %s: no configuration, or not to be had from a file twice\n", strings.Join(p.Ignored, ", "))
	}
	fmt.Fprintf(&b, "%d to create, %d to change, %d to delete\n", count["create"], count["change"], count["delete"])
	n, err := w.Write(b.Bytes())
	return int64(n), err
}

func called(o fault.Ref) string {
	if o.Name == "" {
		return o.Kind + " " + o.ID
	}
	return fmt.Sprintf("%s %s (%s)", o.Kind, o.ID, o.Name)
}

// tree is a record as its JSON is read: objects, arrays, texts, numbers, booleans and null.
func tree(record []byte) (v any, err error) {
	d := stdjson.NewDecoder(bytes.NewReader(record))
	d.UseNumber()
	return v, d.Decode(&v)
}

// differences lists where two records differ, by path. hidden tells which paths hold secrets.
func differences(old, new any, hidden func(path string) bool) (list []MemberChange) {
	compare(&list, "", old, new)
	for i, m := range list {
		if hidden(m.Path) {
			list[i].Old, list[i].New = "***", "***"
		}
	}
	return list
}

func compare(list *[]MemberChange, path string, old, new any) {
	switch o := old.(type) {
	case map[string]any:
		if n, ok := new.(map[string]any); ok {
			names := maps.Clone(o)
			maps.Copy(names, n)
			for _, name := range slices.Sorted(maps.Keys(names)) {
				compare(list, strings.TrimPrefix(path+"."+name, "."), o[name], n[name])
			}
			return
		}
	case []any:
		if n, ok := new.([]any); ok && len(n) == len(o) {
			for i := range o {
				compare(list, fmt.Sprintf("%s[%d]", path, i), o[i], n[i])
			}
			return
		}
	}
	if was, is := text(old), text(new); was != is {
		*list = append(*list, MemberChange{path, was, is})
	}
}

// text is a value as JSON on one line; a member that is not there reads "unset".
func text(v any) string {
	if v == nil {
		return "unset"
	}
	b, err := stdjson.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}

// secretPaths lists the paths at which a record shows a secret: where it differs from itself without.
func secretPaths(clear, blank any) map[string]bool {
	var list []MemberChange
	compare(&list, "", clear, blank)
	paths := map[string]bool{}
	for _, m := range list {
		paths[m.Path] = true
	}
	return paths
}

// stamps are the members that the server keeps by itself. A file that leaves them out does not mean to
// take them away.
var stamps = []string{
	"account_id", "created_at", "updated_at", "create_at", "update_at", "created_by", "updated_by", "create_by", "update_by",
	"creator_id", "resolved_at", "resolved_by", "version",
}

// completed is the wanted record with what the file cannot be expected to say: stamps it leaves out, and
// secrets that stand in it as an export without secrets writes them. have and blank are the record that is
// there, with and without secrets.
func completed(want, have, blank any) any {
	w, ok := want.(map[string]any)
	h, also := have.(map[string]any)
	if !ok || !also {
		return want
	}
	for _, name := range stamps {
		if _, given := w[name]; !given && h[name] != nil {
			w[name] = h[name]
		}
	}
	return restored(want, have, blank)
}

// restored puts back the secrets of what is there where the file has their blanks.
func restored(want, have, blank any) any {
	if text(want) == text(blank) {
		return have
	}
	switch w := want.(type) {
	case map[string]any:
		h, isMap := have.(map[string]any)
		b, also := blank.(map[string]any)
		if isMap && also {
			for name := range h {
				if v := restored(w[name], h[name], b[name]); v != nil {
					w[name] = v
				}
			}
		}
	case []any:
		h, isList := have.([]any)
		b, also := blank.([]any)
		if isList && also && len(h) == len(w) && len(b) == len(w) {
			for i := range w {
				w[i] = restored(w[i], h[i], b[i])
			}
		}
	}
	return want
}
