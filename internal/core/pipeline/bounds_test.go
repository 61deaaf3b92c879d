package pipeline

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"tocsin/internal/core/event"
	"tocsin/internal/core/filter"
)

func extract(pattern string) Enrichment {
	return Enrichment{Kind: "extraction", Settings: EnrichmentSettings{SourceField: "description", ResultLabel: "found", Pattern: pattern}}
}

func times[T any](n int, v T) (all []T) {
	for range n {
		all = append(all, v)
	}
	return all
}

func TestRulesAreBounded(t *testing.T) {
	huge := filter.Filter{{{Key: "title", Oper: filter.In, Vals: []string{"/(x|y){900}/"}}}}
	for name, c := range map[string]struct {
		check func() (string, string)
		want  string
	}{
		"pattern":       {extract("(x|y){90}").Check, ""},
		"huge pattern":  {extract("(x|y){900}").Check, "settings.pattern: must have at most 300 instructions when it is compiled, got 2700"},
		"groups":        {extract(strings.Repeat("(x)", 11)).Check, "settings.pattern: must have at most 10 groups in brackets, got 11; (?:...) does not count"},
		"long pattern":  {extract(strings.Repeat("x", 501)).Check, "settings.pattern: must have at most 500 characters, got 501"},
		"enrichment if": {Enrichment{Kind: "drop", If: huge[0], Settings: EnrichmentSettings{DropLabels: []string{"a"}}}.Check, "if[0].vals[0]: must have at most 1000 instructions in the compiled regular expressions of the filter, got 2700"},
		"too many":      {Enrichment{Kind: "drop", If: times(40, filter.Condition{Key: "k", Oper: filter.In, Vals: []string{strings.Repeat("x", 2000)}}), Settings: EnrichmentSettings{DropLabels: []string{"a"}}}.Check, "if: must have at most 65536 bytes in all keys and values, 8 more for each of them, got 80680"},
		"drop_labels":   {Enrichment{Kind: "drop", Settings: EnrichmentSettings{DropLabels: times(51, "a")}}.Check, "settings.drop_labels: must have at most 50 elements, got 51"},
		"if":            {Rule{Kind: AlertDrop, If: filter.Groups(huge)}.Check, "if[0][0].vals[0]: must have at most 1000 instructions in the compiled regular expressions of the filter, got 2700"},
		"source":        {Rule{Kind: AlertInhibit, Settings: Settings{Equals: []string{"a"}, SourceFilters: filter.Groups(huge)}}.Check, "settings.source_filters[0][0].vals[0]: must have at most 1000 instructions in the compiled regular expressions of the filter, got 2700"},
		"equals":        {Rule{Kind: AlertInhibit, Settings: Settings{Equals: times(21, "a")}}.Check, "settings.equals: must have at most 20 elements, got 21"},
		"title":         {Rule{Kind: TitleReset, Settings: Settings{Title: strings.Repeat("ü", 513)}}.Check, "settings.title: must have at most 512 characters, got 513"},
	} {
		path, why := c.check()
		if got := strings.TrimPrefix(path+": "+why, ": "); got != c.want {
			t.Errorf("%s:\n got  %s\n want %s", name, got, c.want)
		}
	}
	if why := CheckAllEnrichments(times(2, extract("(?:x|y){200}"))); why != "" {
		t.Error(why)
	}
	if why := CheckAllEnrichments(times(3, extract("(?:x|y){200}"))); !strings.Contains(why, "2000 instructions") {
		t.Error(why)
	}
	costly := filter.Filter{{{Key: "title", Oper: filter.In, Vals: []string{"/(x|y){300}/"}}}}
	if why := CheckAll(times(3, Rule{Kind: AlertDrop, If: filter.Groups(costly)})); !strings.Contains(why, "2000 instructions") {
		t.Error(why)
	}
}

// A pattern beyond the bounds, which an older version stored, is skipped, and the next rules are applied.
func TestStoredPatternBeyondBounds(t *testing.T) {
	e, steps := ReadyEnrichments([]Enrichment{extract("(x|y){900}"), extract("b(.)")}).Enrich(nil, event.Event{Description: strings.Repeat("xy", 1000) + "bcd"})
	if e.Labels["found"] != "bc" || !strings.Contains(steps[0].Why.English(), "skipped, its pattern must have at most 300") {
		t.Errorf("%v, %v", e.Labels, steps)
	}
}

// FuzzRules searches for rules that are accepted and take longer than rules may.
func FuzzRules(f *testing.F) {
	add := func(rule Rule, enrichment Enrichment) {
		a, _ := json.Marshal(rule)
		b, _ := json.Marshal(enrichment)
		f.Add(string(a), string(b), strings.Repeat("xy", 1024))
	}
	add(Rule{Kind: AlertDrop, If: filter.Groups(filter.Filter{{{Key: "description", Oper: filter.In, Vals: []string{"/(x|y){332}z/", "*x?y*"}}}})}, extract("(x?){100}z"))
	add(Rule{Kind: TitleReset, Settings: Settings{Title: strings.Repeat("{{.description}}", 32)}}, extract(strings.Repeat("(x?)", 10)+"(?P<result>y*)"))
	add(Rule{Kind: DescriptionReset, Settings: Settings{Description: strings.Repeat("{{.description}}", 128)}}, Enrichment{Kind: "composition", Settings: EnrichmentSettings{ResultLabel: "a", Template: strings.Repeat("{{.description}}", 31)}})
	add(Rule{Kind: AlertInhibit, Settings: Settings{Equals: times(20, "a"), SourceFilters: filter.Groups(filter.Filter{{{Key: "a", Oper: filter.NotIn, Vals: times(1000, "*")}}})}}, Enrichment{Kind: "drop", Settings: EnrichmentSettings{DropLabels: times(50, "a")}})
	f.Fuzz(func(t *testing.T, first, second, text string) {
		var rule Rule
		var enrichment Enrichment
		if len(text) > event.MaxDescription || len(first)+len(second) > 1<<20 || json.Unmarshal([]byte(first), &rule) != nil || json.Unmarshal([]byte(second), &enrichment) != nil {
			return
		}
		start := time.Now()
		e := event.Event{Title: text[:min(len(text), event.MaxTitle)], Description: text, Status: "Info", Severity: "Info"}
		if path, _ := enrichment.Check(); path == "" {
			e, _ = ReadyEnrichments([]Enrichment{enrichment}).Enrich(nil, e)
		}
		if path, _ := rule.Check(); path == "" {
			e, _, _, _ = Ready([]Rule{rule}).Apply(nil, e)
		}
		if took := time.Since(start); took > 5*time.Second { // fifty times the usual time, for a busy machine
			t.Errorf("took %v", took)
		}
		if len(e.Title) > 4*event.MaxTitle || len(e.Description) > 4*event.MaxDescription {
			t.Errorf("the title has %d bytes and the description %d", len(e.Title), len(e.Description))
		}
	})
}
