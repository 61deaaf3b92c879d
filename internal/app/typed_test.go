package app_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"tocsin/internal/api"
	"tocsin/internal/core/sentence"
)

// emptied lists the requests that are encoded with an empty list or object where nothing was sent, which mean the same in them.
var emptied = []string{
	"/schedule/create", "/schedule/preview", "/monit/rule/create", "/monit/rule/update", "/monit/rule/import", "/monit/rule/test", "/monit/rule/backtest",
}

// TestRequestsAreEncodedAsTheyWereRead reads the example of each operation as its type and encodes it again, as pages do that call
// it. What arrives must be what was read: a member that is lost, or one that appears, would mean something else.
func TestRequestsAreEncodedAsTheyWereRead(t *testing.T) {
	t.Parallel()
	a, _, _, _ := start(t)
	for _, op := range a.Frame.Ops() {
		in, _ := op.Do.Types()
		first, again := reflect.New(in), reflect.New(in)
		if err := json.Unmarshal([]byte(op.Example), first.Interface()); err != nil {
			t.Errorf("%s: %v", op.Path, err)
			continue
		}
		text, err := json.Marshal(first.Interface(), json.Deterministic(true))
		if err == nil {
			err = json.Unmarshal(text, again.Interface())
		}
		twice, failed := json.Marshal(again.Interface(), json.Deterministic(true))
		if err != nil || failed != nil || string(twice) != string(text) {
			t.Errorf("%s: %s is encoded as %s, then as %s (%v, %v)", op.Path, op.Example, text, twice, err, failed)
		}
		if same := reflect.DeepEqual(first.Interface(), again.Interface()); same == slices.Contains(emptied, op.Path) {
			t.Errorf("%s: %s is encoded as %s, and what arrives is the same: %t", op.Path, op.Example, text, same)
		}
	}
}

// hidden lists the fields of replies that are no members, and that no page may show.
var hidden = []string{"lint.Finding.Channels", "edge.Key.Account", "alertrule.Rule.Revision"}

// TestRepliesHideNothing finds fields of replies that are no members: a page gets the operation's own value, and with it what the
// caller of the API does not get.
func TestRepliesHideNothing(t *testing.T) {
	t.Parallel()
	a, _, _, _ := start(t)
	seen, found := map[reflect.Type]bool{}, 0
	var walk func(path string, of reflect.Type)
	walk = func(path string, of reflect.Type) {
		if seen[of] || of == reflect.TypeFor[api.Download]() {
			return
		}
		seen[of] = true
		switch of.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
			walk(path, of.Elem())
		case reflect.Struct:
			if !strings.HasPrefix(of.PkgPath(), "tocsin/") && of.PkgPath() != "" {
				return
			}
			for i := range of.NumField() {
				field := of.Field(i)
				if !field.IsExported() && !field.Anonymous {
					continue // no page can read it
				}
				if name := of.String() + "." + field.Name; field.Tag.Get("json") == "-" && field.IsExported() && !slices.Contains(hidden, name) {
					t.Errorf("%s: %s is no member of the reply", path, name)
				}
				found++
				walk(path, field.Type)
			}
		}
	}
	for _, op := range a.Frame.Ops() {
		_, out := op.Do.Types()
		walk(op.Path, out)
	}
	if found < 500 {
		t.Errorf("%d fields were found", found)
	}
}

// TestRepliesShowSentencesInWords finds members of requests and replies that hold a sentence as it is stored. A reply shows its
// English, and its data beside it.
func TestRepliesShowSentencesInWords(t *testing.T) {
	t.Parallel()
	a, _, _, _ := start(t)
	seen := map[reflect.Type]bool{}
	var walk func(path string, of reflect.Type)
	walk = func(path string, of reflect.Type) {
		if of == reflect.TypeFor[sentence.Value]() {
			t.Errorf("%s is a stored sentence", path)
		}
		if seen[of] {
			return
		}
		seen[of] = true
		switch of.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
			walk(path, of.Elem())
		case reflect.Struct:
			for i := range of.NumField() {
				if f := of.Field(i); (f.IsExported() || f.Anonymous) && f.Tag.Get("json") != "-" {
					walk(path+"."+f.Name, f.Type)
				}
			}
		}
	}
	for _, op := range a.Frame.Ops() {
		in, out := op.Do.Types()
		walk(op.Path, in)
		walk(op.Path, out)
	}
	if len(seen) < 500 {
		t.Errorf("%d types were found", len(seen))
	}
}
