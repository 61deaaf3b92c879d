package evaluate

import (
	"strings"
	"testing"
)

// stateRule is the rule of the tests of states.
func stateRule() Rule {
	rule := thresholdRule(2, 2, nil)
	rule.Config.CheckNodata = nodataRule(2, 1, 600).Config.CheckNodata
	rule.Config.CheckAnydata = anydataRule(1, 2, nil).Config.CheckAnydata
	return rule
}

func TestStateErrors(t *testing.T) {
	t.Parallel()
	for text, want := range map[State]string{
		`{`:                       "state of a watch: unexpected end of JSON input",
		`{"v":2}`:                 "state of a watch: unknown version 2",
		`{"v":1,"i":[{"c":"x"}]}`: `state of a watch: instance 0: unknown check "x"`,
		`{"v":1,"i":[{"c":"threshold","s":"critical"}]}`:                          `state of a watch: instance 0: unknown severity "critical"`,
		`{"v":1,"i":[{"c":"nodata","l":{"a":"b"}},{"c":"nodata","l":{"a":"b"}}]}`: `state of a watch: instance 1: the labels {a="b"} are there twice`,
	} {
		if _, err := New(stateRule(), text); err == nil || err.Error() != want {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// FuzzState reads any text as a state: it is refused, or goes on, and is then written as it is read.
func FuzzState(f *testing.F) {
	b := newBench(f, stateRule())
	b.step("a=95 b=80 c=1")
	b.step("a=95 b=80")
	b.step("b=1")
	f.Add(string(b.State()))
	f.Add(`{"v":1,"u":-1,"i":[{"c":"threshold","s":"Info","l":{"host":"a"},"a":[65535,1,9,9],"b":[1],"n":65535,"t":-9223372036854775808}]}`)
	f.Add(`{"v":1,"c":"x","q":"y","i":[{"c":"nodata","m":1,"k":65535},{"c":"too_many","s":"Critical","l":{"x":"y"}}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		w, err := New(stateRule(), State(text))
		if err != nil {
			return
		}
		written := w.State()
		again, err := New(stateRule(), written)
		if err != nil {
			t.Fatalf("%s: %v", written, err)
		}
		if twice := again.State(); twice != written && !strings.Contains(string(written), `"k"`) {
			t.Fatalf("%s\nis read as\n%s", written, twice)
		}
		b := &bench{t: t, rule: stateRule(), Watch: again, at: start}
		b.rule.Interval = 1
		for _, answer := range []string{"a=95 b=80", "a=1", "!timeout", "a=80 b=NaN", ""} {
			b.step(answer)
			for _, i := range b.Instances() {
				if i.Firing && i.Severity == "" || i.Count < 0 {
					t.Fatalf("%+v", i)
				}
			}
		}
		if opened := b.opened; opened < 0 {
			t.Fatalf("%d instances are open", opened)
		}
	})
}
