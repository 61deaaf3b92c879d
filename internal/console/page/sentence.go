package page

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"tocsin/internal/api"
	"tocsin/internal/console/locale"
	"tocsin/internal/core/event"
	"tocsin/internal/core/filter"
	"tocsin/internal/core/sentence"
	"tocsin/internal/platform/fault"
)

// words is a sentence for a template: of the engine, or of a service.
type words struct {
	Text    string
	Foreign bool // it is in English on a page in another language: no sentence of the table
}

// Words returns a sentence of a reply in the visitor's language. A text that is none stays as it is.
func (v *Visit) Words(s sentence.Words) words {
	data := s.Data()
	if data.Code == "" {
		return words{s.English(), s != "" && v.Lang != "en"}
	}
	return words{Text: v.translated(&data)}
}

// translated returns a sentence in the visitor's language, in the words of pages.
func (v *Visit) translated(s *sentence.Data) string {
	pattern, kinds := patternOf(s)
	texts := make([]string, len(s.Args))
	for i, arg := range s.Args {
		switch arg := arg.(type) {
		case *sentence.Data:
			texts[i] = v.translated(arg)
		case int64:
			if i == 0 && fromZero[s.Code] {
				arg++
			}
			texts[i] = strconv.FormatInt(arg, 10)
		case string:
			texts[i] = v.argument(kinds[i], arg)
		case []any:
			texts[i] = v.elements(kinds[i], arg)
		}
	}
	if _, is := conditions[s.Code]; is && len(texts) == len(kinds) {
		v.conditionWords(s, texts)
	}
	if s.Code == "sentence" || s.Code == "sentences" { // the text at its end may have a full stop of its own
		texts[0] = strings.TrimRight(texts[0], ". ")
	}
	return idInBrackets.ReplaceAllString(sentence.Fill(v.T(pattern), texts), "")
}

// elements returns a list in a sentence in the visitor's language.
func (v *Visit) elements(kind byte, list []any) string {
	texts := make([]string, len(list))
	for i, one := range list {
		switch one := one.(type) {
		case *sentence.Data:
			texts[i] = v.translated(one)
		case string:
			texts[i] = v.element(kind, one)
		case int64:
			texts[i] = strconv.FormatInt(one, 10)
		}
	}
	if last := len(texts) - 1; kind == sentence.Persons && last > 0 && v.Lang == "en" {
		return strings.Join(texts[:last], ", ") + " and " + texts[last]
	}
	return strings.Join(texts, v.T(", "))
}

// element returns a text of a list. Of the words of Tocsin only severities and methods are there as texts: any other text is a name,
// even if the dictionary has it.
func (v *Visit) element(kind byte, text string) string {
	switch {
	case kind != sentence.Names && kind != sentence.Persons:
		return v.argument(kind, text)
	case event.Rank(text) > 0:
		return v.T(text)
	}
	return v.Way(text)
}

// argument returns an argument of a sentence in the visitor's language, as far as it has one.
func (v *Visit) argument(kind byte, text string) string {
	switch kind {
	case sentence.Clock:
		return v.clock(text)
	case sentence.Severity:
		return v.T(text)
	case sentence.Kind:
		return v.FindingKind(text)
	case sentence.Method:
		method, _, _ := strings.Cut(text, ":")
		return v.Way(method)
	case sentence.Days:
		return v.days(text)
	case sentence.Token:
		return v.token(text)
	}
	return v.word(text)
}

// clock returns a moment that a sentence names, such as Mon 23 Nov 09:00 (Europe/Berlin). It stays in the zone of the
// sentence.
func (v *Visit) clock(text string) string {
	if v.Lang == "en" {
		return text
	}
	moment, zone, _ := strings.Cut(text, " (")
	for _, layout := range []string{"Mon 2 Jan 15:04", "Mon 2 Jan 15:04:05", "Mon 2 Jan 2006 15:04", "Mon 2 Jan 2006 15:04:05"} {
		t, err := time.Parse(layout, moment)
		if err != nil {
			continue
		}
		show := "1月2日 "
		if t.Year() != 0 {
			show = "2006年1月2日 "
		}
		_, clock, _ := strings.Cut(layout, ":")
		return t.Format(show) + v.T(moment[:3]) + t.Format(" 15:"+clock) + " (" + zone
	}
	return text
}

// days returns days of the week and times of day that a sentence names.
func (v *Visit) days(text string) string {
	if v.Lang == "en" {
		return text
	}
	for day := time.Sunday; day <= time.Saturday; day++ {
		text = strings.ReplaceAll(text, day.String(), v.T(day.String()[:3]))
	}
	if at, next := strings.CutSuffix(text, " the next day"); next {
		return v.T("%s the next day", at)
	}
	if text == "day" {
		return v.T("day")
	}
	return strings.NewReplacer(", ", v.T(", "), " and ", v.T(", ")).Replace(text)
}

// Refused returns why the server refused something, in the visitor's language.
func (v *Visit) Refused(r *api.Refusal) RefusalWords {
	var f *fault.Error
	if v.Lang == "en" || !errors.As(error(r), &f) || f.Message == "" || f.Kind == fault.Internal {
		return RefusalWords{Text: r.Message}
	}
	return v.refusedBy(f)
}

// refusedBy returns a fault in another language than English.
func (v *Visit) refusedBy(f *fault.Error) RefusalWords {
	text, translated := v.clause(f.Clause())
	switch {
	case !translated:
		return RefusalWords{v.T("The server refused this:"), strings.TrimPrefix(f.Field+": "+f.Message, ": ")}
	case f.Field != "":
		return RefusalWords{Text: v.T("The field %s is not accepted: %s.", f.Field, text)}
	}
	return RefusalWords{Text: v.T("The server refused this: %s.", text)}
}

// clause returns a message in the visitor's language; false: it has no translation, or a part of it has none.
func (v *Visit) clause(c fault.Clause) (text string, translated bool) {
	format, translated := locale.Lookup(v.Lang, c.Format)
	if len(c.Args) == 1 && (c.Format == "%s" || c.Format == "%v") {
		format = "%s"
		_, translated = c.Args[0].(interface{ Clause() fault.Clause })
	}
	if !translated {
		return "", false
	}
	args := slices.Clone(c.Args)
	for i, arg := range args {
		switch arg := arg.(type) {
		case interface{ Clause() fault.Clause }:
			part, known := v.clause(arg.Clause())
			if !known {
				return "", false
			}
			args[i] = part
		case fault.Word:
			args[i] = v.FindingKind(string(arg))
		case fault.Words:
			args[i] = v.list(arg)
		}
	}
	return fmt.Sprintf(format, args...), true
}

// list returns words of Tocsin with commas between them.
func (v *Visit) list(all []string) string {
	shown := make([]string, len(all))
	for i, one := range all {
		shown[i] = v.Way(v.T(one))
	}
	return strings.Join(shown, v.T(", "))
}

// RefusalWords is why the server refused something.
type RefusalWords struct {
	Text    string
	English string // the reason, where it has no translation; empty: Text has it
}

// Line returns the words in one.
func (w RefusalWords) Line() string { return strings.TrimSpace(w.Text + " " + w.English) }

// findingKinds are the texts of the kinds of objects that findings name.
var findingKinds = map[string]string{
	"account": "Account", "channel": "Channel", "integration": "Integration", "schedule": "Schedule", "person": "Person", "team": "Team",
	"escalate_rule": "Escalation rule", "drop_rule": "Drop rule", "silence_rule": "Silence rule", "inhibit_rule": "Inhibit rule",
}

// FindingKind names a kind of objects.
func (v *Visit) FindingKind(kind string) string {
	return v.T(cmp.Or(findingKinds[kind], strings.NewReplacer("_", " ", "-", " ").Replace(kind)))
}

// ways names the methods of notifications.
var ways = map[string]string{
	"email": "e-mail", "sms": "SMS", "voice": "call", "push": "push", "slack_app": "Slack", "slack": "Slack",
	"feishu": "Feishu", "feishu_app": "Feishu",
	"dingtalk": "DingTalk", "dingtalk_app": "DingTalk", "wecom": "WeCom", "wecom_app": "WeCom",
	"teams": "Microsoft Teams", "teams_app": "Microsoft Teams",
	"telegram": "Telegram",
	"discord":  "Discord", "ntfy": "ntfy", "zoom": "Zoom", "webhook": "webhook",
}

// Way names a method of notification.
func (v *Visit) Way(method string) string {
	kind, _, _ := strings.Cut(method, ":")
	if name := ways[kind]; name != "" {
		return v.T(name)
	}
	return method
}

// Method names a method of notification where it stands alone.
func (v *Visit) Method(method string) string {
	name := v.Way(method)
	if method == "email" || method == "voice" || method == "push" || method == "webhook" {
		first, size := utf8.DecodeRuneInString(name)
		return string(unicode.ToUpper(first)) + name[size:]
	}
	return name
}

// SentenceOf returns a sentence of the engine in the visitor's language.
func (v *Visit) SentenceOf(s sentence.Data) string { return v.translated(&s) }

// Sentence returns a filter in words.
func (v *Visit) Sentence(f filter.Filter) string {
	var groups []string
	for _, group := range f {
		var conditions []string
		for _, c := range group {
			conditions = append(conditions, v.Condition(c))
		}
		groups = append(groups, strings.Join(conditions, v.T(" and ")))
	}
	return Cut(strings.Join(groups, v.T(", or ")), 600)
}

// Condition returns a condition in words.
func (v *Visit) Condition(c filter.Condition) string {
	key := v.FieldWord(c.Key)
	all := make([]string, len(c.Vals))
	for i, val := range c.Vals {
		all[i] = v.valueWord(c.Key, val)
	}
	vals := strings.Join(all, v.T(", "))
	switch {
	case c.Oper == filter.NotIn && len(c.Vals) == 1:
		return v.T("%s is not %s", key, vals)
	case c.Oper == filter.NotIn:
		return v.T("%s is none of %s", key, vals)
	case len(c.Vals) == 1:
		return v.T("%s is %s", key, vals)
	}
	return v.T("%s is one of %s", key, vals)
}
