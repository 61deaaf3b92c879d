package locale

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// TestFilesAreRead reads the files of every language as the program does.
func TestFilesAreRead(t *testing.T) {
	t.Parallel()
	for _, lang := range Languages()[1:] {
		texts, err := read(files, lang)
		if err != nil {
			t.Error(err)
		}
		if len(texts) < 2000 {
			t.Errorf("%s has %d texts", lang, len(texts))
		}
		for english := range texts {
			if english == "" {
				t.Errorf("%s translates an empty text", lang)
			}
		}
	}
}

var hole = regexp.MustCompile(`%(?:\[\d+\])?([a-z%])`)

// holes returns the kinds of the arguments of a text, sorted.
func holes(text string) (kinds []string) {
	for _, m := range hole.FindAllStringSubmatch(text, -1) {
		kinds = append(kinds, m[1])
	}
	slices.Sort(kinds)
	return kinds
}

// TestTranslationsKeepArguments finds translations that a page could not fill in.
func TestTranslationsKeepArguments(t *testing.T) {
	t.Parallel()
	found := 0
	for _, lang := range Languages()[1:] {
		for english, text := range catalogues[lang]() {
			found += len(holes(english))
			if !slices.Equal(holes(english), holes(text)) {
				t.Errorf("%s: %q has other arguments in %q", lang, english, text)
			}
		}
	}
	if found < 500 {
		t.Errorf("%d arguments were found", found)
	}
}

// TestFaultyFilesAreRefused reads files in which a translator made a mistake: the error names the file and the mistake.
func TestFaultyFilesAreRefused(t *testing.T) {
	t.Parallel()
	const good = `{"Now": "当前"}`
	for _, c := range []struct{ name, content, want string }{
		{"a key twice", `{"Team": "团队", "Team": "小组"}`, "duplicate"},
		{"a key of another file", `{"Now": "现在"}`, "xx/a.json and xx/b.json translate \"Now\""},
		{"an array", `["Team", "团队"]`, "array"},
		{"a number", `{"Team": 7}`, "number"},
		{"an object within", `{"Team": {"one": "团队"}}`, "object"},
		{"nothing", ``, "EOF"},
		{"null", `null`, "null"},
		{"a comma at the end", `{"Team": "团队",}`, "','"},
		{"a second object", `{"Team": "团队"} {}`, "after top-level value"},
		{"no text", `{"Team": " "}`, "empty"},
		{"broken UTF-8", "{\"Team\": \"\xff\"}", "UTF-8"},
	} {
		texts, err := read(fstest.MapFS{"xx/a.json": {Data: []byte(good)}, "xx/b.json": {Data: []byte(c.content)}}, "xx")
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "xx/b.json") {
			t.Errorf("%s: %v (%d texts)", c.name, err, len(texts))
		}
	}
	texts, err := read(fstest.MapFS{"xx/a.json": {Data: []byte(good)}}, "xx")
	if err != nil || texts["Now"] != "当前" {
		t.Errorf("a good file: %v, %v", texts, err)
	}
}

// TestTextsAreFilledIn looks up texts with arguments, without a translation and in languages that have none.
func TestTextsAreFilledIn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ got, want string }{
		{Text("zh", "Now"), "当前"},
		{Text("zh", "%d h %d min", 2, 5), "2 小时 5 分钟"},
		{Text("zh", "no text of the console, %s", "Ann"), "no text of the console, Ann"},
		{Text("en", "%d h %d min", 2, 5), "2 h 5 min"},
		{Text("en", "100%"), "100%"},
		{Text("", "Now"), "Now"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
	if text, ok := Lookup("en", "Now"); ok {
		t.Errorf("English has a translation: %q", text)
	}
}

// TestEnglishReadsNothing looks up a text in English with catalogues that must not be read.
func TestEnglishReadsNothing(t *testing.T) {
	kept := catalogues
	defer func() { catalogues = kept }()
	reads := 0
	catalogues = map[string]func() map[string]string{"zh": func() map[string]string {
		reads++
		return kept["zh"]()
	}}
	if Text("en", "Now"); reads != 0 {
		t.Errorf("English has read a catalogue %d times", reads)
	}
	if Text("zh", "Now"); reads != 1 {
		t.Errorf("Chinese has read a catalogue %d times", reads)
	}
}
