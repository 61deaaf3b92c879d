package condition_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"tocsin/internal/core/condition"
)

// values are those that the tables of this file read.
var values = map[string]float64{"$A": 97, "$B": 40, "$C.errors": 3, "$C.total": 12, "$N": math.NaN(), "$I": math.Inf(1)}

func value(ref condition.Ref) (float64, bool) {
	f, ok := values[ref.String()]
	return f, ok
}

// shown returns a result with its clauses as text.
func shown(r condition.Result) string {
	text := r.Truth.String()
	for _, c := range r.Clauses {
		text += fmt.Sprintf("; %s: %s %s %s", c.Text, c.Left, c.Op, c.Right)
	}
	return text
}

func TestEval(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"$A > 90":                                    "true; $A > 90: 97 > 90",
		"$A > 90 and $B < 50":                        "true; $A > 90: 97 > 90; $B < 50: 40 < 50",
		"$A > 90 and $B < 30":                        "false; $B < 30: 40 < 30",
		"$A > 99 or $B < 50":                         "true; $B < 50: 40 < 50",
		"$A > 99 or $B < 30":                         "false; $A > 99: 97 > 99; $B < 30: 40 < 30",
		"$A > 99 or $B < 50 and $A < 98":             "true; $B < 50: 40 < 50; $A < 98: 97 < 98",
		"($A > 99 or $B < 50) and $A < 90":           "false; $A < 90: 97 < 90",
		"not $A > 99":                                "true; $A > 99: 97 > 99",
		"!($A > 99) && !($B > 50) || $A == 1":        "true; $A > 99: 97 > 99; $B > 50: 40 > 50",
		"$C.errors / $C.total * 100 >= 25":           "true; $C.errors / $C.total * 100 >= 25: 25 >= 25",
		"($A  +  3)/2 != 50":                         "false; ($A + 3)/2 != 50: 50 != 50",
		"-$A <= -97":                                 "true; -$A <= -97: -97 <= -97",
		"$A % 10 == +7":                              "true; $A % 10 == +7: 7 == 7",
		"1 - 2 - 3 < 8 / 4 / 2":                      "true; 1 - 2 - 3 < 8 / 4 / 2: -4 < 1",
		"2 + 3 * 4 == 14":                            "true; 2 + 3 * 4 == 14: 14 == 14",
		"$A > 1e1 and $A < 9.8e+1 and $A > .5":       "true; $A > 1e1: 97 > 10; $A < 9.8e+1: 97 < 98; $A > .5: 97 > 0.5",
		"$I > 1":                                     "true; $I > 1: +Inf > 1",
		"$I - $I == 0":                               "missing; $I - $I == 0: NaN == 0",
		"$B % 0 == 0":                                "missing; $B % 0 == 0: NaN == 0",
		"$N > 1":                                     "missing; $N > 1: NaN > 1",
		"$N > 1 or $A > 1":                           "true; $A > 1: 97 > 1",
		"$A > 1 or $N > 1":                           "true; $A > 1: 97 > 1",
		"$N > 1 or $A < 1":                           "missing; $N > 1: NaN > 1",
		"$N > 1 and $A < 1":                          "false; $A < 1: 97 < 1",
		"$A < 1 and $X > 1":                          "false; $A < 1: 97 < 1",
		"$A > 1 and $X > 1":                          "missing; $X > 1: NaN > 1",
		"not ($N > 1)":                               "missing; $N > 1: NaN > 1",
		"not not $A > 1":                             "true; $A > 1: 97 > 1",
		"$A > 1 and ($B > 1 or $N > 1) and not $N>1": "missing; $N>1: NaN > 1",
	} {
		e, err := condition.Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := shown(e.Eval(value)); got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
		refs := make([]float64, len(e.Refs()))
		for i, ref := range e.Refs() {
			f, ok := value(ref)
			if !ok {
				f = math.NaN()
			}
			refs[i] = f
		}
		if truth := e.Truth(refs); !strings.HasPrefix(want, truth.String()) {
			t.Errorf("%s is %s without clauses", text, truth)
		}
	}
}

func TestRefs(t *testing.T) {
	t.Parallel()
	e, err := condition.Parse("$B > 1 and $A.x > $B or $A.y < $A.x")
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(e.Refs()); got != "[$B $A.x $A.y]" {
		t.Error(got)
	}
	if e.String() != "$B > 1 and $A.x > $B or $A.y < $A.x" {
		t.Error(e)
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                       `the expression ends where a value is expected at character 1`,
		"A":                                      `unexpected "A"; a value is written $A at character 1`,
		"$A":                                     `"$A" is a number; compare it, such as $A > 0 at character 1`,
		"$A + 1":                                 `"$A + 1" is a number; compare it, such as ($A + 1) > 0 at character 1`,
		"$A > 90 and $B":                         `"and" needs a comparison on both sides, such as $A > 0 at character 9`,
		"$A or $B > 1":                           `"or" needs a comparison on both sides, such as $A > 0 at character 4`,
		"not $A":                                 `"not" needs a comparison, such as $A > 0 at character 1`,
		"1 < $A < 5":                             `a comparison cannot be compared; join two with "and" at character 8`,
		"($A > 1) > 1":                           `">" needs a number on both sides at character 10`,
		"($A > 1) + 1 > 1":                       `"+" needs a number on both sides at character 10`,
		"-($A > 1) > 1":                          `a sign needs a number at character 1`,
		"$A = 5":                                 `write "==" to compare at character 4`,
		"$A > 90m":                               `"90m" is no number at character 6`,
		"$A > 1e999":                             `"1e999" is no number at character 6`,
		"$A > 1.2.3":                             `"1.2.3" is no number at character 6`,
		"$A >":                                   `the expression ends where a value is expected at character 5`,
		"$A > 1 $B":                              `unexpected "$B" at character 8`,
		"($A > 1":                                `the parenthesis is not closed at character 1`,
		"$A > 1)":                                `unexpected ")" at character 7`,
		"$ > 1":                                  `"$" names no query; a name is a letter, then letters and digits at character 1`,
		"$1A > 1":                                `"$1A" names no query; a name is a letter, then letters and digits at character 1`,
		"$A. > 1":                                `"$A." names no field; it is written $A.field at character 1`,
		"$A.b.c > 1":                             `"$A.b.c" names no field; it is written $A.field at character 1`,
		"$A & 1":                                 `unexpected "&" at character 4`,
		"$A > \"1\"":                             `unexpected "\"" where a value is expected at character 6`,
		"$A.größe > 1 and x":                     `unexpected "x"; a value is written $x at character 18`,
		"$A > 1 and \xff":                        `unexpected "\xff" where a value is expected at character 12`,
		strings.Repeat("(", 101) + "$A":          `must be nested at most 100 deep at character 101`,
		"$A > " + strings.Repeat("-", 101) + "1": `must be nested at most 100 deep at character 106`,
		strings.Repeat("not ", 101) + "$A > 1":   `must be nested at most 100 deep at character 401`,
		strings.Repeat("$A > 1 and ", 50) + "$A": `must have at most 100 numbers and values at character 551`,
		strings.Repeat(" ", 4090) + "$A > 90":    `must be at most 4096 bytes, got 4097 at character 1`,
		"$A > " + strings.Repeat("x", 100):       `unexpected "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx..."; a value is written $xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx... at character 6`,
	} {
		_, err := condition.Parse(text)
		if err == nil || err.Error() != want {
			t.Errorf("%.60q\n got %v\nwant %s", text, err, want)
		}
		if e := (&condition.Error{}); err != nil && !errors.As(err, &e) {
			t.Errorf("%.60q: %T", text, err)
		}
	}
}

func TestNumbersAreShownShort(t *testing.T) {
	t.Parallel()
	for n, want := range map[condition.Number]string{
		0: "0", 97: "97", -1.5: "-1.5", 1.0 / 3: "0.333333", 0.1 + 0.2: "0.3", 12345678.9: "12345678.9", 1e15: "1e+15", 1.23456789e-7: "1.23457e-07",
	} {
		if n.String() != want {
			t.Errorf("%v is shown as %s", float64(n), n)
		}
	}
}

// TestClausesAreStored stores clauses with values that JSON has no numbers for.
func TestClausesAreStored(t *testing.T) {
	t.Parallel()
	for _, f := range []float64{1.0 / 3, math.Inf(1), math.Inf(-1), math.MaxFloat64} {
		clause := condition.Clause{Text: "$A > 1", Truth: condition.True, Left: condition.Number(f), Op: ">", Right: 1}
		text, err := json.Marshal(clause)
		if err != nil {
			t.Fatal(err)
		}
		var read condition.Clause
		if err := json.Unmarshal(text, &read); err != nil || read != clause {
			t.Errorf("%s is read as %+v: %v", text, read, err)
		}
	}
	if text, err := json.Marshal(condition.Clause{Left: condition.Number(math.NaN())}); err != nil {
		t.Error(string(text), err)
	}
	if err := json.Unmarshal([]byte(`{"truth":"perhaps"}`), new(condition.Clause)); err == nil {
		t.Error("an unknown result is read")
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{"$A > 90 and not ($B.x < 50 or -$C % 2 == 1e3)", "((((", "$A.größe >= .5", "1 < 2 < 3", "!!!$A>1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e, err := condition.Parse(text)
		if err != nil {
			if len(err.Error()) > 400 {
				t.Errorf("an error of %d bytes", len(err.Error()))
			}
			return
		}
		r := e.Eval(func(ref condition.Ref) (float64, bool) { return float64(len(ref.Query)), len(ref.Field)%2 == 0 })
		for _, c := range r.Clauses {
			if c.Text == "" || c.Op == "" {
				t.Errorf("%q has the clause %+v", text, c)
			}
		}
		again, err := condition.Parse(e.String())
		if err != nil || fmt.Sprint(again.Refs()) != fmt.Sprint(e.Refs()) {
			t.Errorf("%q is read again as %v: %v", text, again, err)
		}
		if len(r.Clauses) == 0 || len(e.Refs()) > condition.MaxTerms {
			t.Errorf("%q has %d clauses and %d values", text, len(r.Clauses), len(e.Refs()))
		}
	})
}

func BenchmarkTruth(b *testing.B) {
	e, err := condition.Parse("$A > 90 and $B.errors / $B.total < 0.5")
	if err != nil {
		b.Fatal(err)
	}
	values := []float64{97, 3, 12}
	b.ReportAllocs()
	for b.Loop() {
		e.Truth(values)
	}
}

func BenchmarkEval(b *testing.B) {
	e, err := condition.Parse("$A > 90 and $B.errors / $B.total < 0.5")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		e.Eval(func(condition.Ref) (float64, bool) { return 97, true })
	}
}
