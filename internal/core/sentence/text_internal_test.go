package sentence

import (
	"encoding/json"
	"testing"
	"testing/quick"
)

func TestTextsAreEncodedAsByEncodingJSON(t *testing.T) {
	same := func(text string) bool {
		want, err := json.Marshal(text)
		got := string(appendText(nil, text))
		if err != nil || got != string(want) {
			t.Errorf("%q is %s instead of %s: %v", text, got, want, err)
			return false
		}
		return true
	}
	for c := range 256 {
		same(string([]byte{'a', byte(c), '9'}))
	}
	if err := quick.Check(same, nil); err != nil {
		t.Error(err)
	}
}
