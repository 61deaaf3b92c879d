package condition

import (
	"fmt"
	"testing"
)

func TestThresholds(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"$A > 90":                            "[{$A > 90}]",
		"90 <= $A.used":                      "[{$A.used >= 90}]",
		"$A > -5 and not ($B == 0 or 1 > 2)": "[{$A > -5} {$B == 0}]",
		"$A > $B":                            "[]",
		"$A / $B > 0.5":                      "[]",
		"($A) < (7)":                         "[{$A < 7}]",
		"$A > 1 + 1":                         "[]",
		"5 != $A":                            "[{$A != 5}]",
	} {
		e, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(append([]Threshold{}, e.Thresholds()...)); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
