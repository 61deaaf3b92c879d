package sentence_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"tocsin/internal/core/sentence"
)

// hostile are names and answers that look like sentences, or like how sentences are stored.
var hostile = []string{
	"Night, early", "N, because the incident has grown further, to 60 alerts", "a; sms refused it", "; it waits for the end of quiet hours",
	`{"code":"named"}`, `{"code":"on_call","args":["a","b"]}`, `{"code":`, `"quoted" \ back`, "line\nline", "\x00", "\xff", "%s %[2]d", "<b>&",
}

func TestValuesKeepHostileNames(t *testing.T) {
	t.Parallel()
	for _, name := range hostile {
		for _, other := range hostile {
			inner := sentence.New("on_call", name, other)
			value := sentence.New("because", inner, sentence.Raw(name))
			name, other := valid(name), valid(other)
			data := value.Data()
			if data.Code != "because" || len(data.Args) != 2 {
				t.Fatalf("%s is %+v", value, data)
			}
			on, _ := data.Args[0].(*sentence.Data)
			if on == nil || on.Code != "on_call" || !reflect.DeepEqual(on.Args, []any{name, other}) {
				t.Errorf("%s is %+v", value, on)
			}
			if want := "on call in " + name + ", " + other + ", because " + name; value.English() != want {
				t.Errorf("%s is %q, want %q", value, value.English(), want)
			}
		}
		raw := sentence.Raw(name)
		if raw.English() != name || raw.Data().Code != "" {
			t.Errorf("%q is %q and %+v", name, raw.English(), raw.Data())
		}
	}
}

// valid returns a text as JSON holds it.
func valid(text string) (kept string) {
	encoded, err := json.Marshal(text)
	if err == nil {
		err = json.Unmarshal(encoded, &kept)
	}
	if err != nil {
		panic(err)
	}
	return kept
}

func TestValuesAreStoredAsJSON(t *testing.T) {
	t.Parallel()
	inner := sentence.New("on_call", "Night", "Primary")
	for value, want := range map[sentence.Value]string{
		inner: "on call in Night, Primary",
		sentence.New("mon_holds", `$A > "90`, 97, ">", 90):                    `"$A > \"90" holds: 97 > 90`,
		sentence.New("either", inner, sentence.New("refused_it", "sms")):      "on call in Night, Primary; sms refused it",
		sentence.New("mon_row"):                                               "the query returned a row",
		sentence.New("fallback_of_layer_in", []string{"a, b", "c"}):           "the fallback of a layer in which a, b, c",
		sentence.New("leads_to_all", []string{"A", "B and C", "D"}):           "It leads to channels A, B and C and D",
		sentence.Raw("the dog ate it"):                                        "the dog ate it",
		sentence.Raw(`{"code":"named"}`):                                      `{"code":"named"}`,
		sentence.New("named_why", "Night", sentence.Raw(`{"code":"named"}`)):  `Night: {"code":"named"}`,
		sentence.New("reason", sentence.New("neither_reached", "nobody <b>")): "The reason: neither the account's fallback nor its owner can be reached: nobody <b>",
		sentence.Join("", sentence.Raw("a"), "", sentence.New("named")):       "a; named by the rule",
		sentence.Join("", ""):                                                 "",
		sentence.Paragraph("", ""):                                            "",
		sentence.Paragraph("", inner):                                         "on call in Night, Primary.",
		sentence.Paragraph(inner, "", sentence.New("named")):                  "on call in Night, Primary. named by the rule.",
		sentence.Paragraph(sentence.New("refused_with", "21211", "Not valid. "), sentence.New("on_call_in", "N.")): "it refused with 21211: Not valid. on call in N.",
	} {
		if value.English() != want || fmt.Sprint(value) != want {
			t.Errorf("%s is %q and formatted %q, want %q", string(value), value.English(), fmt.Sprint(value), want)
		}
		stored, err := json.Marshal(map[string]sentence.Value{"why": value})
		if err != nil {
			t.Fatal(err)
		}
		var read map[string]sentence.Value
		if err := json.Unmarshal(stored, &read); err != nil || read["why"] != value {
			t.Errorf("%s is read as %s: %v", stored, read["why"], err)
		}
	}
	for _, wrong := range []string{`{"code":"either","args":[1.5]}`, `{"code":"either","args":[true]}`, `{"code":"either","args":[{"code":1}]}`, `[]`, `7`} {
		if err := json.Unmarshal([]byte(wrong), new(sentence.Value)); err == nil {
			t.Errorf("%s is read", wrong)
		}
	}
}

// TestStoredTextsStay reads what earlier versions stored: English, which stays as it is and is never read as a sentence.
func TestStoredTextsStay(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"named by the rule", "on call in Night, N, because the incident has grown further, to 60 alerts"} {
		if v := sentence.Value(text); v.English() != text || v.Data().Code != "" {
			t.Errorf("%q is %q and %+v", text, v.English(), v.Data())
		}
	}
}
