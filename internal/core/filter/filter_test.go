package filter

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

// record is what the tests match: built-in fields, and labels with the prefix "labels.".
type record map[string]string

func (r record) Field(name string) (string, bool) { v, ok := r[name]; return v, ok }
func (r record) Label(name string) (string, bool) { v, ok := r["labels."+name]; return v, ok }

var alert = record{
	"severity": "Critical", "status": "Warning", "title": "outage in Zürich", "integration_id": "6", "description": "",
	"labels.host": "web-12", "labels.ip": "10.0.0.7", "labels.ip6": "2001:db8::7", "labels.mapped": "::ffff:10.0.0.7",
	"labels.load": "5.50", "labels.empty": "", "labels.severity": "low", "labels.k8s.io/app": "shop", "labels.star": "a*b",
	"labels.dedup_key": "label", "labels.lines": "a\nb",
}

func TestOneCondition(t *testing.T) {
	type vals = []string
	for _, c := range []struct {
		key  string
		vals vals
		hit  bool
	}{
		{"severity", vals{"Critical"}, true},
		{"severity", vals{"critical"}, false},
		{"severity", vals{"Info", "Critical"}, true},
		{"severity", vals{"Crit"}, false},
		{"alert_severity", vals{"Critical"}, true},
		{"event_severity", vals{"Critical"}, true},
		{"incident_severity", vals{"Critical"}, true},
		{"alert_status", vals{"Warning"}, true},
		{"incident_status", vals{"Warning"}, true},
		{"integration_id", vals{"6"}, true},
		{"data_source_id", vals{"6"}, true},
		{"labels.severity", vals{"low"}, true},
		{"labels.host", vals{"web-12"}, true},
		{"host", vals{"web-12"}, true},
		{"k8s.io/app", vals{"shop"}, true},
		{"labels.k8s.io/app", vals{"shop"}, true},

		{"title", vals{"/outage/"}, true},
		{"title", vals{"/^in/"}, false},
		{"title", vals{"/(?i)OUTAGE.*ü/"}, true},
		{"title", vals{"//"}, true},
		{"title", vals{"/"}, false},
		{"title", vals{"/(/"}, false},

		{"host", vals{"web*"}, true},
		{"host", vals{"web-?"}, false},
		{"host", vals{"web-??"}, true},
		{"host", vals{"*-1*"}, true},
		{"host", vals{"WEB*"}, false},
		{"title", vals{"*Z?rich"}, true},
		{"lines", vals{"a*b"}, true},
		{"star", vals{"/^a\\*b$/"}, true},
		{"host", vals{"*"}, true},
		{"empty", vals{"*"}, true},
		{"absent", vals{"*"}, false},

		{"ip", vals{"cidr:10.0.0.0/24"}, true},
		{"ip", vals{"cidr:10.0.0.99/24"}, true},
		{"ip", vals{"cidr:10.0.1.0/24"}, false},
		{"mapped", vals{"cidr:10.0.0.0/24"}, true},
		{"ip6", vals{"cidr:2001:db8::/32"}, true},
		{"host", vals{"cidr:0.0.0.0/0"}, false},

		{"load", vals{"num:gt:5.5"}, false},
		{"load", vals{"num:ge:5.5"}, true},
		{"load", vals{"num:lt:5.51"}, true},
		{"load", vals{"num:le:5.4e0"}, false},
		{"load", vals{"num:gt:-1"}, true},
		{"host", vals{"num:gt:0"}, false},
		{"load", vals{"5.5"}, false},

		{"empty", vals{""}, true},
		{"description", vals{""}, true},
		{"absent", vals{""}, false},
		{"dedup_key", vals{"*"}, false}, // built in, and this record lacks it
		{"labels.dedup_key", vals{"label"}, true},
	} {
		for _, oper := range []string{In, NotIn} {
			m, _ := Compile(Filter{{{c.key, oper, c.vals}}})
			if got, want := m.Match(alert, nil), c.hit == (oper == In); got != want {
				t.Errorf("%s %s %q: %v, want %v", c.key, oper, c.vals, got, want)
			}
		}
	}
}

func TestOrOfAnds(t *testing.T) {
	yes, no := Condition{"host", In, []string{"*"}}, Condition{"absent", In, []string{"*"}}
	for _, c := range []struct {
		filter Filter
		want   bool
	}{
		{nil, true},
		{Filter{}, true},
		{Filter{{yes}}, true},
		{Filter{{no}}, false},
		{Filter{{yes, no}}, false},
		{Filter{{no}, {yes}}, true},
		{Filter{{yes, no}, {no}}, false},
		{Filter{{yes, no}, {yes, yes}}, true},
	} {
		m, err := Compile(c.filter)
		if got := m.Match(alert, nil); got != c.want || err != nil {
			t.Errorf("%v: %v, %v, want %v", c.filter, got, err, c.want)
		}
	}
}

func TestCheck(t *testing.T) {
	long := "/(" + strings.Repeat("x", 1000) + "/"
	for in, want := range map[string]string{
		`[]`: "",
		`[[{"key":"a","oper":"IN","vals":[""]}]]`: "",
		`[[{"key":"labels.a","oper":"NOTIN","vals":["/a+/","a*","cidr:::/0","num:le:-1.5e3","*","num","cidr"]}]]`: "",

		`[[]]`: `[0]: must have at least one condition, got "[]"`,
		`[[{"key":"","oper":"IN","vals":["a"]}]]`:        `[0][0].key: must name a field or, after labels., a label, got ""`,
		`[[{"key":"labels.","oper":"IN","vals":["a"]}]]`: `[0][0].key: must name a field or, after labels., a label, got "labels."`,
		`[[{"key":"a","oper":"in","vals":["a"]}]]`:       `[0][0].oper: must be IN or NOTIN, got "in"`,
		`[[{"key":"a","oper":"IN"}]]`:                    `[0][0].vals: must have at least one value, got "[]"`,
		`[[{"key":"a","oper":"IN","vals":["a"]}],[{"key":"a","oper":"IN","vals":["a"]},{"key":"a","oper":"IN","vals":["a","b","/(/"]}],[]]`: `[1][1].vals[2]: must be a regular expression that RE2 understands (missing closing )), got "/(/"`,
		`[[{"key":"a","oper":"IN","vals":["/(?=a)/"]}]]`:       `[0][0].vals[0]: must be a regular expression that RE2 understands (invalid or unsupported Perl syntax), got "/(?=a)/"`,
		`[[{"key":"a","oper":"IN","vals":["cidr:10.0.0.1"]}]]`: `[0][0].vals[0]: must be cidr: and a network with its length, as in cidr:10.0.0.0/24, got "cidr:10.0.0.1"`,
		`[[{"key":"a","oper":"IN","vals":["cidr:10.0.0.*"]}]]`: `[0][0].vals[0]: must be cidr: and a network with its length, as in cidr:10.0.0.0/24, got "cidr:10.0.0.*"`,
		`[[{"key":"a","oper":"IN","vals":["num:eq:1"]}]]`:      `[0][0].vals[0]: must be num:gt:, num:ge:, num:lt: or num:le: and a decimal number, as in num:gt:5, got "num:eq:1"`,
		`[[{"key":"a","oper":"IN","vals":["num:gt:0x1p4"]}]]`:  `[0][0].vals[0]: must be num:gt:, num:ge:, num:lt: or num:le: and a decimal number, as in num:gt:5, got "num:gt:0x1p4"`,
		`[[{"key":"a","oper":"IN","vals":["num:gt:1e999"]}]]`:  `[0][0].vals[0]: must be num:gt:, num:ge:, num:lt: or num:le: and a decimal number, as in num:gt:5, got "num:gt:1e999"`,
		`[[{"key":"a","oper":"IN","vals":["` + long + `"]}]]`:  `[0][0].vals[0]: must be a regular expression that RE2 understands (missing closing )), got "` + long[:100] + `"`,
	} {
		var f Filter
		if err := json.Unmarshal([]byte(in), &f); err != nil {
			t.Fatal(err)
		}
		err, got := Check(f), ""
		if err != nil {
			got = err.Error()
			if !errors.As(err, new(*Error)) {
				t.Errorf("%s: the error is a %T", in, err)
			}
		}
		if got != want {
			t.Errorf("%.100s:\n got  %s\n want %s", in, got, want)
		}
	}
}

// TestMalformedFilterIsEvaluated covers filters that an older version stored:
// the malformed value matches nothing and the rest is evaluated.
func TestMalformedFilterIsEvaluated(t *testing.T) {
	for want, f := range map[bool]Filter{
		true:  {{{"host", In, []string{"/(/", "web-12"}}, {"host", NotIn, []string{"/(/"}}}},
		false: {{{"host", In, []string{"/(/"}}}, {{"host", "LIKE", []string{"web-12"}}}},
	} {
		m, err := Compile(f)
		if got := m.Match(alert, nil); got != want || err == nil {
			t.Errorf("%v: %v, %v, want %v and an error", f, got, err, want)
		}
	}
}

func TestTrace(t *testing.T) {
	f := Filter{
		{{"alert_severity", In, []string{"Info", "Crit*"}}, {"host", NotIn, []string{"web-12"}}},
		{{"absent", NotIn, []string{"a"}}},
	}
	m, err := Compile(f)
	if err != nil {
		t.Fatal(err)
	}
	var trace Trace
	if !m.Match(alert, &trace) {
		t.Error("no match")
	}
	got, err := json.Marshal(trace)
	const want = `[{"matched":false,"clauses":[` +
		`{"key":"alert_severity","oper":"IN","vals":["Info","Crit*"],"field":"severity","present":true,"value":"Critical","hit":1,"matched":true},` +
		`{"key":"host","oper":"NOTIN","vals":["web-12"],"field":"labels.host","present":true,"value":"web-12","hit":0,"matched":false}]},` +
		`{"matched":true,"clauses":[` +
		`{"key":"absent","oper":"NOTIN","vals":["a"],"field":"labels.absent","present":false,"value":"","hit":-1,"matched":true}]}]`
	if string(got) != want || err != nil {
		t.Errorf("got  %s, %v\nwant %s", got, err, want)
	}
}

func BenchmarkMatch(b *testing.B) {
	m, err := Compile(Filter{
		{{"severity", In, []string{"Info", "Warning"}}},
		{{"severity", In, []string{"Critical"}}, {"host", In, []string{"db-*", "web-1?"}}, {"ip", In, []string{"cidr:10.0.0.0/24"}}, {"title", NotIn, []string{"/test/"}}},
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Run("plain", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			m.Match(alert, nil)
		}
	})
	b.Run("trace", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var trace Trace
			m.Match(alert, &trace)
		}
	})
}
