package console

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"tocsin/internal/api"
	"tocsin/internal/console/locale"
	"tocsin/internal/core/event"
	"tocsin/internal/core/sentence"
	"tocsin/internal/platform/fault"
)

// words is a sentence for a template: of the engine, or of a service.
type words struct {
	Text    string
	Foreign bool // it is in English on a page in another language: no sentence of the table
}

// Words returns a sentence of a reply in the visitor's language. A text that is none stays as it is.
func (v *visit) Words(s sentence.Words) words {
	data := s.Data()
	switch {
	case v.Lang == "en":
		return words{Text: s.English()}
	case data.Code == "":
		return words{s.English(), s != ""}
	}
	return words{Text: v.translated(&data)}
}

// translated returns a sentence in the visitor's language.
func (v *visit) translated(s *sentence.Data) string {
	english, kinds := s.Pattern()
	texts := make([]string, len(s.Args))
	for i, arg := range s.Args {
		switch arg := arg.(type) {
		case *sentence.Data:
			texts[i] = v.translated(arg)
		case int64:
			texts[i] = strconv.FormatInt(arg, 10)
		case string:
			texts[i] = v.argument(kinds[i], arg)
		case []any:
			texts[i] = v.elements(kinds[i], arg)
		}
	}
	return sentence.Fill(v.T(english), texts)
}

// elements returns a list in a sentence in the visitor's language.
func (v *visit) elements(kind byte, list []any) string {
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
	return strings.Join(texts, v.T(", "))
}

// element returns a text of a list. Of the words of Tocsin only severities and methods are there as texts: any other text is a name,
// even if the dictionary has it.
func (v *visit) element(kind byte, text string) string {
	switch {
	case kind != sentence.Names && kind != sentence.Persons:
		return v.argument(kind, text)
	case event.Rank(text) > 0:
		return v.T(text)
	}
	return v.Way(text)
}

// argument returns an argument of a sentence in the visitor's language, as far as it has one.
func (v *visit) argument(kind byte, text string) string {
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
	}
	return text
}

// clock returns a moment that a sentence names, such as Mon 23 Nov 09:00 (Europe/Berlin). It stays in the zone of the
// sentence.
func (v *visit) clock(text string) string {
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
func (v *visit) days(text string) string {
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
func (v *visit) Refused(r *api.Refusal) refusalWords {
	var f *fault.Error
	if v.Lang == "en" || !errors.As(error(r), &f) || f.Message == "" || f.Kind == fault.Internal {
		return refusalWords{Text: r.Message}
	}
	return v.refusedBy(f)
}

// refusedBy returns a fault in another language than English.
func (v *visit) refusedBy(f *fault.Error) refusalWords {
	text, translated := v.clause(f.Clause())
	switch {
	case !translated:
		return refusalWords{v.T("The server refused this:"), strings.TrimPrefix(f.Field+": "+f.Message, ": ")}
	case f.Field != "":
		return refusalWords{Text: v.T("The field %s is not accepted: %s.", f.Field, text)}
	}
	return refusalWords{Text: v.T("The server refused this: %s.", text)}
}

// clause returns a message in the visitor's language; false: it has no translation, or a part of it has none.
func (v *visit) clause(c fault.Clause) (text string, translated bool) {
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
func (v *visit) list(all []string) string {
	shown := make([]string, len(all))
	for i, one := range all {
		shown[i] = v.Way(v.T(one))
	}
	return strings.Join(shown, v.T(", "))
}

// refusalWords is why the server refused something.
type refusalWords struct {
	Text    string
	English string // the reason, where it has no translation; empty: Text has it
}

// line returns the words in one.
func (w refusalWords) line() string { return strings.TrimSpace(w.Text + " " + w.English) }
