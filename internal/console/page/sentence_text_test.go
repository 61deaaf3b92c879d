package page

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"tocsin/internal/console/locale"
	"tocsin/internal/core/event"
	"tocsin/internal/core/filter"
	"tocsin/internal/core/sentence"
)

var holes = regexp.MustCompile(`%(?:\[\d+\])?([a-z])`)

// kindsOf returns the kinds of the holes of a text, sorted.
func kindsOf(text string) (kinds []string) {
	for _, m := range holes.FindAllStringSubmatch(text, -1) {
		kinds = append(kinds, m[1])
	}
	slices.Sort(kinds)
	return kinds
}

// TestSentences writes each sentence of the engine in both languages: each has a Chinese text with the same arguments, and
// a record of it is shown without a word of English but its arguments.
func TestSentences(t *testing.T) {
	t.Parallel()
	named := sentence.New("named")
	samples := map[string]any{
		"d": 7, "q": "Disk", "t": "X9", "s": "Ann", "n": []string{"Ann", "Bob"}, "p": []sentence.Value{sentence.Raw("Ann"), sentence.Raw("Bob")},
		"c": "Mon 13 Apr 12:00 (Asia/Shanghai)", "h": "09:00", "y": "Monday", "g": "Critical", "m": "sms", "k": "channel", "w": named, "v": named,
	}
	now := time.Date(2026, 4, 13, 0, 0, 0, 0, time.UTC)
	en, zh := &Visit{Setting: locale.Setting{Lang: "en", Now: now}}, &Visit{Setting: locale.Setting{Lang: "zh", Now: now}}
	left := regexp.MustCompile(`Ann|Bob|ResizeObserver|X9|"Disk"|\bIN\b|Asia/Shanghai|Tocsin|tocsin release|Webhook|URL|token|Telegram|[Tt]elegram|IANA|TLS|HTTP|http|Gone|--[a-z-]+|[a-z]+(_[a-z]+)+|layers\[|groups\[|restrict_periods\[|\[\d\]|\(?R\d+\)?|U\+0000|Critical|true|false|and Bob|data_source_id|layers|groups|weight|but|url|id|KB`)
	word := regexp.MustCompile(`[A-Za-z]{2,}`)
	for _, p := range sentence.Patterns() {
		shown := cmp.Or(plain[p.Code], p.English)
		chinese, ok := locale.Lookup("zh", shown)
		if !ok {
			t.Errorf("%s has no Chinese text: %s", p.Code, shown)
			continue
		}
		if !slices.Equal(kindsOf(shown), kindsOf(chinese)) {
			t.Errorf("%s has other arguments in Chinese: %s", p.Code, chinese)
		}
		var args []any
		for _, m := range holes.FindAllStringSubmatch(p.English, -1) {
			args = append(args, samples[m[1]])
		}
		text := sentence.Words(sentence.New(p.Code, args...))
		asInAPI := plain[p.Code] == "" && !strings.Contains(p.English, "%m")
		if w := en.Words(text); w.Foreign || asInAPI && w.Text != text.English() || strings.Contains(w.Text, "%") {
			t.Errorf("%s: %q is shown as %q in English", p.Code, text, w.Text)
		}
		w := zh.Words(text)
		if rest := word.FindAllString(left.ReplaceAllString(w.Text, " "), -1); w.Foreign || len(rest) > 0 || strings.Contains(w.Text, "%") {
			t.Errorf("%s: %q is shown as %q in Chinese: %q", p.Code, text, w.Text, rest)
		}
	}
	for _, text := range []string{"the dog ate it", "named by the rule"} { // of earlier versions, or of a stranger
		if w := zh.Words(sentence.Words(text)); w.Text != text || !w.Foreign {
			t.Errorf("what is no sentence is shown as %+v", w)
		}
	}
}

// A name stays as it is in a list, even if it is a sentence of Tocsin or a word of the dictionary.
func TestNamesInListsAreNotTranslated(t *testing.T) {
	t.Parallel()
	zh := &Visit{Setting: locale.Setting{Lang: "zh", Now: time.Now()}}
	for _, name := range []string{"on call", "no one", "primary", "leaves", "named by the rule", "Save"} {
		w := zh.Words(sentence.Words(sentence.New("l_on_call_twice_more", "Ann", []string{"Day", name}, 2, "x")))
		if !strings.Contains(w.Text, "Day, "+name) && !strings.Contains(w.Text, "Day、"+name) {
			t.Errorf("%q is shown as %q", name, w.Text)
		}
	}
	w := zh.Words(sentence.Words(sentence.New("l_in_vain", sentence.New("named"), []string{event.Critical, event.Warning})))
	if !strings.Contains(w.Text, "严重") || strings.Contains(w.Text, event.Critical) {
		t.Errorf("severities are shown as %q", w.Text)
	}
}

// TestSentencesNameThingsAsPeopleDo shows sentences with ids, members and places in lists: pages have names, fields and numbers from 1.
func TestSentencesNameThingsAsPeopleDo(t *testing.T) {
	t.Parallel()
	const object = "6b03a0f08497d6b46a107796"
	en := &Visit{Setting: locale.Setting{Lang: "en", Now: time.Now()}, integrations: map[string]string{"3846027460131": "Prometheus Leipzig"}}
	for want, s := range map[string]sentence.Value{
		`Event "Disk" was silenced in channel Shop`:                        sentence.New("event_silenced", "Disk", object, "Shop (3846027460131)"),
		"its alert is in incident #107796":                                 sentence.New("in_incident", object),
		`The route matched in case 4: env is "prod": one of prod`:          sentence.New("route_met", "case_3", sentence.New("met", "labels.env", "prod", filter.In, "prod")),
		`env is "test": one of test`:                                       sentence.New("unmet", "labels.env", "test", filter.NotIn, "test"),
		"provider is missing":                                              sentence.New("unmet_absent", "labels.provider", filter.In, "*"),
		"integration is Prometheus Leipzig: one of Prometheus Leipzig":     sentence.New("met", "data_source_id", "3846027460131", filter.In, "3846027460131"),
		"Before that, pipeline rule 1: its title":                          sentence.New("before_pipeline", "rules[0] title_reset", "its title"),
		"layer 1: group 2 names no person: nobody is on call in its turns": sentence.New("w_layer", 0, sentence.New("w_group_empty", 1)),
		"Nobody was reached yet: Ann by call is being sent":                sentence.New("s_sending", "Ann", "voice"),
	} {
		if got := en.Words(sentence.Words(s)).Text; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
