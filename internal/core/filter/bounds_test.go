package filter

import (
	"encoding/json"
	"fmt"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// many returns n conditions on n fields, each with the values.
func many(n int, vals ...string) (group Group) {
	for i := range n {
		group = append(group, Condition{fmt.Sprintf("k%d", i), In, vals})
	}
	return group
}

func repeated(n int, val string) []string {
	return strings.Split(strings.Repeat(val+"\n", n-1)+val, "\n")
}

func groups(n int, group Group) (f Filter) {
	for range n {
		f = append(f, group)
	}
	return f
}

// one returns a filter of one condition.
func one(key string, vals ...string) Filter { return Filter{{{key, In, vals}}} }

func TestBounds(t *testing.T) {
	for name, c := range map[string]struct {
		f    Filter
		want string
	}{
		"groups":            {groups(MaxGroups, many(1, "a")), ""},
		"a group more":      {groups(MaxGroups+1, many(1, "a")), `: must have at most 100 groups, got 101`},
		"conditions":        {Filter{many(MaxConditions, "a")}, ""},
		"a condition more":  {Filter{many(1, "a"), many(MaxConditions+1, "a")}, `[1]: must have at most 100 conditions, got 101`},
		"values":            {one("host", repeated(MaxValues, "web-17.example.com")...), ""},
		"a value more":      {one("host", repeated(MaxValues+1, "a")...), `[0][0].vals: must have at most 1000 values, got 1001`},
		"key":               {one(strings.Repeat("ü", MaxKey), "a"), ""},
		"longer key":        {one(strings.Repeat("ü", MaxKey+1), "a"), `[0][0].key: must have at most 255 characters, got 256`},
		"value":             {one("a", strings.Repeat("ü", MaxValue)), ""},
		"longer value":      {one("a", "b", strings.Repeat("ü", MaxValue+1)), `[0][0].vals[1]: must have at most 2048 characters, got 2049`},
		"bytes":             {one("a", repeated(MaxBytes/1024-1, strings.Repeat("x", 1024-elementBytes))...), ""},
		"more bytes":        {one("a", repeated(MaxBytes/1024, strings.Repeat("x", 1024-elementBytes))...), `: must have at most 65536 bytes in all keys and values, 8 more for each of them, got 65545`},
		"expressions":       {one("a", repeated(MaxExpressions, "/x/")...), ""},
		"more expressions":  {one("a", repeated(MaxExpressions+1, "/x/")...), `: must have at most 100 regular expressions, got 101`},
		"instructions":      {one("a", "/(x|y){332}/"), ""},
		"more instructions": {one("a", "b", "/(x|y){333}/"), `[0][0].vals[1]: must have at most 1000 instructions in the compiled regular expressions of the filter, got 1001`},
		"together":          {Filter{{{"a", In, []string{"/(x|y){200}/", "*a?b*"}}}, {{"b", NotIn, []string{"/(x|y){200}/"}}}}, `[1][0].vals[0]: must have at most 1000 instructions in the compiled regular expressions of the filter, got 1206`},
		"wildcards":         {one("a", "*"+strings.Repeat("x", 1000)+"?*", "*"+strings.Repeat("x", 1000)+"*"), `[0][0].vals[0]: must have at most 1000 instructions in the compiled regular expressions of the filter, got 1002`},
		"many wildcards":    {one("a", repeated(MaxValues, "*.example.com")...), ""},
	} {
		got := ""
		if err := Check(c.f); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s:\n got  %s\n want %s", name, got, c.want)
		}
	}
}

// The schema has the same bounds as Check.
func TestTagsHaveBounds(t *testing.T) {
	for field, tags := range map[string]map[string]int{"Key": {"maxLength": MaxKey}, "Vals": {"maxItems": MaxValues, "maxLength": MaxValue}} {
		f, _ := reflect.TypeFor[Condition]().FieldByName(field)
		for tag, want := range tags {
			if got := f.Tag.Get(tag); got != strconv.Itoa(want) {
				t.Errorf("%s of %s is %s, want %d", tag, field, got, want)
			}
		}
	}
}

// Expressions that would compile to hundreds of megabytes are rejected without being compiled. Where they are stored
// already, they match nothing.
func TestHugeExpressionsAreNotCompiled(t *testing.T) {
	for _, n := range []int{1, 200, 2000} {
		var f Filter
		for range n {
			f = append(f, Group{{"title", In, []string{"/(x|y){900}z/"}}})
		}
		f = append(f, Group{{"labels.all", In, []string{"/((a{10}){10}b{1000}(c|d){1000}){10}/"}}})
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		m, err := Compile(f)
		checked := Check(f)
		runtime.ReadMemStats(&after)
		if err == nil || checked == nil {
			t.Errorf("%d expressions are accepted", n)
		}
		if made := after.TotalAlloc - before.TotalAlloc; made > 64<<20 {
			t.Errorf("%d expressions take %d bytes", n, made)
		}
		if m.Match(record{"title": strings.Repeat("xy", 1000) + "z"}, nil) {
			t.Errorf("%d expressions match", n)
		}
	}
}

// A stored filter beyond the bounds still matches, except for the expensive parts.
func TestStoredFilterBeyondBoundsMatches(t *testing.T) {
	f := append(groups(200, many(200, "a")), Group{{"host", In, append(repeated(5000, "b"), "/(x|y){500}/", "/^web/")}})
	if Check(f) == nil {
		t.Fatal("the filter is within the bounds")
	}
	if m, _ := Compile(f); !m.Match(alert, nil) {
		t.Error("a stored filter beyond the bounds does not match")
	}
}

func TestInstructions(t *testing.T) {
	for expr, want := range map[string]int{"": 3, "abc": 5, "(x|y){900}": 2702, "a{1000}": 1002, "(?:){1000}": 1002, "a|b|cd": 6, "[a-z]+x?": 6} {
		if n, err := Instructions(expr, 1<<20); n != want || err != nil {
			t.Errorf("%q: %d, %v, want %d", expr, n, err, want)
		}
	}
	if n, err := Instructions(strings.Repeat("(x|y){1000}", 300), 1000); n < 300_000 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
}

// The words of Why are stored with every event, so they are short for every filter.
func TestWhyIsShort(t *testing.T) {
	long := strings.Repeat("ü", 2000)
	for name, f := range map[string]Filter{
		"groups": groups(100, many(1, "a")), "conditions met": {many(100, "*")}, "values": one("k1", repeated(1000, "value")...), "long": one("k1", long, long, long),
	} {
		rec := record{}
		for i := range 100 {
			rec[fmt.Sprintf("labels.k%d", i)] = long
		}
		m, _ := Compile(f)
		var trace Trace
		m.Match(rec, &trace)
		for _, why := range []string{string(trace.Why()), string(trace.Conditions())} {
			if len(why) > 2500 || !strings.Contains(why, "more_") && name != "long" && name != "groups" {
				t.Errorf("%s: %d bytes, %.200s", name, len(why), why)
			}
		}
		if why := trace.Why(); name == "groups" && !strings.Contains(why.English(), " more ") {
			t.Errorf("%s: %.200s", name, why)
		}
	}
}

// FuzzFilter searches for a filter that is accepted and costs more than the bounds.
func FuzzFilter(f *testing.F) {
	for _, seed := range []Filter{
		groups(MaxGroups, many(30, "")), {many(MaxConditions, "/a|b/")}, one("host", repeated(MaxValues, "web-*")...), one("title", "/(x|y){332}/"),
		one("title", "/(a{10}){10}(b{0,9})*/", "*?a*?b*", "num:gt:"+strings.Repeat("1", 300)), one("ip", repeated(MaxValues, "cidr:10.0.0.0/8")...),
		one("a", repeated(31, "*"+strings.Repeat("x?", 1000)+"*")...), {{}},
	} {
		text, _ := json.Marshal(seed)
		f.Add(string(text), strings.Repeat("xy", 1024))
	}
	f.Fuzz(func(t *testing.T, text, value string) {
		var f Filter
		if len(text) > 1<<20 || len(value) > 2048 || json.Unmarshal([]byte(text), &f) != nil {
			return
		}
		start := time.Now()
		err := Check(f)
		m, _ := Compile(f)
		rec := record{"title": value, "labels.host": value, "labels.a": value}
		var trace Trace
		m.Match(rec, &trace)
		if why := trace.Why(); len(why) > 10_000 {
			t.Errorf("%d bytes of reasons", len(why))
		}
		if took := time.Since(start); took > 5*time.Second { // a hundred times what it takes, for a machine that is busy
			t.Errorf("took %v", took)
		}
		if size := Measure(f); err == nil && (size.Bytes > MaxBytes || size.Expressions > MaxExpressions || size.Instructions > MaxInstructions) {
			t.Errorf("accepted with the size %+v", size)
		}
	})
}
