package accountfile

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

// Each list of a file has its section, and each section its list.
func TestEveryListOfFileHasItsSection(t *testing.T) {
	var lists []string
	for f := range reflect.TypeFor[File]().Fields() {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); f.Type.Kind() == reflect.Slice {
			lists = append(lists, name)
		}
	}
	names := sectionNames()
	slices.Sort(lists)
	slices.Sort(names)
	if !slices.Equal(lists, names) {
		t.Errorf("a file has %v, its sections are %v", lists, names)
	}
}
