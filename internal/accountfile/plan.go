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

// Plan is what applying a file changes in an account, or changed.
type Plan struct {
	Changes []Change
	Oncall  []string    // the schedules in which other persons are on call now, in words
	Kept    []fault.Ref // in the account and not in the file; left alone without prune
	Ignored []string    // sections of the file that were not applied: history and keys
}

// Change is one object that is created, changed or deleted.
type Change struct {
	Verb    string // create, change or delete
	Object  fault.Ref
	Members []MemberChange // of a change
}

// MemberChange is one value that differs: its path in the record, and both values as JSON. Secret values are shown as
// ***.
type MemberChange struct{ Path, Old, New string }

// Empty reports whether there is nothing to change.
func (p Plan) Empty() bool { return len(p.Changes) == 0 }

// WriteTo writes the plan for people: one object a line, with its changed members below.
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
	for _, text := range p.Oncall {
		fmt.Fprintf(&b, "warn    %s\n", text)
	}
	for _, o := range p.Kept {
		fmt.Fprintf(&b, "keep    %s: not in the file, --prune deletes it\n", called(o))
	}
	if len(p.Ignored) > 0 {
		fmt.Fprintf(&b, "ignore  %s: not applied (history or keys; loaded only when the account is created)\n", strings.Join(p.Ignored, ", "))
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

// tree decodes a record's JSON: objects, arrays, strings, numbers, booleans and null.
func tree(record []byte) (v any, err error) {
	d := stdjson.NewDecoder(bytes.NewReader(record))
	d.UseNumber()
	return v, d.Decode(&v)
}

// differences lists where two records differ, by path. hidden reports whether a path holds a secret.
func differences(before, after any, hidden func(path string) bool) (list []MemberChange) {
	compare(&list, "", before, after)
	for i, m := range list {
		if hidden(m.Path) {
			list[i].Old, list[i].New = "***", "***"
		}
	}
	return list
}

// compare adds the paths at which two trees differ. Lists of different length differ as a whole.
func compare(list *[]MemberChange, path string, before, after any) {
	switch o := before.(type) {
	case map[string]any:
		if n, ok := after.(map[string]any); ok {
			names := maps.Clone(o)
			maps.Copy(names, n)
			for _, name := range slices.Sorted(maps.Keys(names)) {
				compare(list, strings.TrimPrefix(path+"."+name, "."), o[name], n[name])
			}
			return
		}
	case []any:
		if n, ok := after.([]any); ok && len(n) == len(o) {
			for i := range o {
				compare(list, fmt.Sprintf("%s[%d]", path, i), o[i], n[i])
			}
			return
		}
	}
	if was, is := text(before), text(after); was != is {
		*list = append(*list, MemberChange{path, was, is})
	}
}

// text formats a value as JSON on one line; an absent member reads "unset".
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

// secretPaths returns the paths that hold a secret: where the full record differs from the masked one.
func secretPaths(full, masked any) map[string]bool {
	var list []MemberChange
	compare(&list, "", full, masked)
	paths := map[string]bool{}
	for _, m := range list {
		paths[m.Path] = true
	}
	return paths
}

// stamps are the members that the server sets. A file that leaves them out does not clear them.
var stamps = []string{
	"account_id", "created_at", "updated_at", "create_at", "update_at", "created_by", "updated_by", "create_by", "update_by",
	"creator_id", "resolved_at", "resolved_by", "version",
}

// completed returns the wanted record with the values that the file need not have: stamps that it leaves out, and
// secrets that it has masked, as an export without secrets writes them. full and masked are the stored record, with
// and without secrets.
func completed(want, full, masked any) any {
	w, ok := want.(map[string]any)
	f, also := full.(map[string]any)
	if !ok || !also {
		return want
	}
	for _, name := range stamps {
		if _, given := w[name]; !given && f[name] != nil {
			w[name] = f[name]
		}
	}
	return restored(want, full, masked)
}

// restored replaces the masked values of the file by the stored secrets.
func restored(want, full, masked any) any {
	if text(want) == text(masked) {
		return full
	}
	switch w := want.(type) {
	case map[string]any:
		f, isMap := full.(map[string]any)
		m, also := masked.(map[string]any)
		if isMap && also {
			for name := range f {
				if v := restored(w[name], f[name], m[name]); v != nil {
					w[name] = v
				}
			}
		}
	case []any:
		f, isList := full.([]any)
		m, also := masked.([]any)
		if isList && also && len(f) == len(w) && len(m) == len(w) {
			for i := range w {
				w[i] = restored(w[i], f[i], m[i])
			}
		}
	}
	return want
}
