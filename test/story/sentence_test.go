package story

import (
	"encoding/json"
	"slices"
	"strings"

	"tocsin/internal/core/sentence"
)

// explaining are the members of replies that hold sentences of the engine.
var explaining = []string{"why", "summary", "reason", "by_choice", "sentence"}

// ofServices are the sentences whose last argument may be what a service answered.
var ofServices = []string{"st_failed_why", "said", "s_last_said", "telephone", "in_bundle_answer", "reason"}

// readable checks that each sentence in a reply that explains has data of the table, with all sentences in it, whose
// English it is.
func (w *world) readable(path string, r reply) {
	w.t.Helper()
	if !strings.HasSuffix(path, "/explain") && path != "/incident/untold/list" && path != "/lint/list" || strings.HasPrefix(path, "/schedule") {
		return
	}
	var all any
	w.must(json.Unmarshal(r.Data, &all))
	w.eachSentence(path, all)
}

func (w *world) eachSentence(path string, value any) {
	w.t.Helper()
	switch value := value.(type) {
	case []any:
		for _, each := range value {
			w.eachSentence(path, each)
		}
	case map[string]any:
		for name, member := range value {
			text, _ := member.(string)
			if list, ok := member.([]any); ok && name == "words" {
				for i, line := range list {
					w.isSentence(path, line.(string), value["words_data"].([]any)[i])
				}
			} else if text != "" && slices.Contains(explaining, name) {
				w.isSentence(path, text, value[name+"_data"])
			} else if !strings.HasSuffix(name, "_data") {
				w.eachSentence(path, member)
			}
		}
	}
}

func (w *world) isSentence(path, text string, data any) {
	w.t.Helper()
	encoded, err := json.Marshal(data)
	w.must(err)
	var s sentence.Data
	w.must(json.Unmarshal(encoded, &s))
	if s.Code == "" {
		w.t.Errorf("%s: no sentence of the table: %s", path, text)
		return
	}
	if s.English() != text {
		w.t.Errorf("%s: %q has the data of %q", path, text, s.English())
	}
	for _, part := range unread(&s) {
		w.t.Errorf("%s: no sentence of the table: %q, in: %s", path, part, text)
	}
}

// unread returns the parts of a sentence that may be sentences and are none.
func unread(s *sentence.Data) (parts []string) {
	_, kinds := s.Pattern()
	for i, arg := range s.Args {
		if inner, ok := arg.(*sentence.Data); ok {
			parts = append(parts, unread(inner)...)
		} else if text, ok := arg.(string); ok && kinds[i] == sentence.Text && !slices.Contains(ofServices, s.Code) {
			parts = append(parts, text)
		}
	}
	return parts
}
