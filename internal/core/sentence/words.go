package sentence

import (
	"encoding/json"
)

// Words is a sentence as replies show it: its JSON is English. A page of the console, which shows it in another language, reads the
// sentence itself. Words and Value convert into each other.
type Words Value

// English returns the sentence in words, or the text that is no sentence.
func (w Words) English() string { return Value(w).English() }

// String returns English.
func (w Words) String() string { return Value(w).English() }

// Data returns the sentence for programs; zero: it is none of the table.
func (w Words) Data() Data { return Value(w).Data() }

// MarshalJSON returns the sentence in English.
func (w Words) MarshalJSON() ([]byte, error) { return appendText(nil, w.English()), nil }

// UnmarshalJSON reads a text, which is no sentence whatever it looks like, or a sentence as a Value is stored.
func (w *Words) UnmarshalJSON(text []byte) error { return json.Unmarshal(text, (*Value)(w)) }

// ToWords returns sentences, or texts that are none, as replies show them; nil: none.
func ToWords[T ~string](list []T) []Words {
	if list == nil {
		return nil
	}
	all := make([]Words, len(list))
	for i, one := range list {
		switch one := any(one).(type) {
		case Value:
			all[i] = Words(one)
		case Words:
			all[i] = one
		default:
			all[i] = Words(Raw(string(list[i])))
		}
	}
	return all
}
