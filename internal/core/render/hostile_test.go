package render

import (
	"fmt"
	html "html/template"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// calls are uses of the functions whose result could carry markup of an alert into a message.
var calls = []string{
	`{{toHtml .Labels.a}}`, `{{toHtml "" .Description .Title}}`, `{{$s := toHtml .Title}}{{$s}}`, `{{colorSeverity .Labels.a}}`,
	`{{colorBySeverity "Critical" .Labels.a}}`, `{{colorBySeverity .Labels.a .Labels.a}}`, `{{toHtml (colorBySeverity "Info" .Title)}}`,
	`{{fireReason .}}{{.AssignedTo.EscalateRuleName}}`, `{{toSeverity .Labels.a}}`, `{{serverityToColor .Labels.a}}`,
	`{{joinAlertLabels . "a" ", "}}`, `{{range alertLabels . "a"}}{{.}}{{end}}`, `{{alertLabels . "a"}}`, `{{maxAlertLabel . "a"}} x`,
	`{{imageSrcToURL . .Labels.a}}`, `{{imageAltToURL . .Labels.a}}`, `{{transferImage . .Labels.a}}`, `{{range .Images}}{{.Alt}}{{end}}`,
	`{{jsonGet .Labels.json "x"}}`, `{{jsonGet .Labels.a "0"}}`, `{{ternary .Labels.a "" true}}`, `{{list .Labels.a "b" | join "c"}}`,
	`{{list .Labels.a}}`, `{{dict "k" .Labels.a}}`, `{{get (dict "k" .Labels.a) "k"}}`, `{{first (list .Labels.a)}}`, `{{keys .Labels | join " "}}`,
	`{{values .Labels | last}}`, `{{coalesce "" .Labels.a}}`, `{{"" | default .Labels.a}}`, `{{toString .Labels.a}}`, `{{upper .Labels.a}}`,
	`{{title .Labels.a}}`, `{{trunc 40 .Labels.a}}`, `{{quote .Labels.a}}`, `{{indent 2 .Labels.a}}`, `{{nindent 2 .Labels.a}}`, `{{toJson .Labels.a}}`,
	`{{trimPrefix "x" .Labels.a}}`, `{{date .Labels.a 1}}x`, `{{.Creator.PersonName}}`, `{{.Owner}}`, `{{.Fields.f}}`, `{{.Fields.l}}`, `{{.Fields}}`,
	`{{.Impact}}`, `{{range .Alerts}}{{.Description}}{{end}}`, `{{.AssignedTo}}`, `{{range $k, $v := .Fields}}{{$k}}{{end}}`,
}

func withText(text string) Incident {
	json := strings.NewReplacer("\\", `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(text)
	return Incident{
		IncidentID: "69db2f72a0fe7db6448b1506", Title: text, Description: text, Severity: "Critical", Now: 5, StartTime: 1,
		Labels:      map[string]string{"a": text, "json": `{"x":"\u202e\u0007` + json + `"}`},
		LabelValues: map[string]LabelValues{"a": {All: []string{OneLine(text)}, Max: text}},
		Creator:     &Actor{Person{Name: text}}, Owner: &Actor{Person{Name: text}}, Impact: text,
		Fields: map[string]any{"f": text, "l": []any{text}}, Images: []Image{{Src: text, Alt: text}},
		Alerts: []Alert{{Description: text}}, AssignedTo: Assignment{EscalateRuleName: text},
	}
}

// carrier is a call as the template of a target, with the markup that a reader finds for a text without any, and for one
// that is a severity.
type carrier struct {
	call           string
	to             *Target
	template       *Template
	want, coloured string
}

var htmlTag = regexp.MustCompile(`<[a-zA-Z/!?]`)

func carriers(t testing.TB) (all []carrier) {
	targets := []*Target{HTML}
	for to := range reads {
		targets = append(targets, to)
	}
	for _, to := range targets {
		for _, call := range calls {
			tpl, err := Parse("a "+call+" b", to)
			if err != nil {
				t.Fatalf("%s: %v", call, err)
			}
			c := carrier{call: call, to: to, template: tpl}
			c.want, _ = c.markup(t, "benign")
			c.coloured, _ = c.markup(t, "Critical")
			all = append(all, c)
		}
	}
	return all
}

// markup returns the markup that a reader finds in the message about an alert with a text, and the message.
func (c carrier) markup(t testing.TB, text string) (all, message string) {
	got, err := c.template.Render(withText(text))
	if err != nil && !strings.Contains(err.Error(), "time zone") {
		t.Errorf("%s: %s: %v", c.to.name, c.call, err)
	}
	if c.to != HTML {
		return fmt.Sprint(found(c.to, string(got))), string(got)
	}
	if strings.Contains(string(got), "\u202e") {
		t.Errorf("%s keeps a hidden character", c.call)
	}
	return fmt.Sprint(htmlTag.FindAllString(string(got), -1)), string(got)
}

// check reports markup that a text of an alert brings into a message.
func (c carrier) check(t *testing.T, text string) {
	if got, message := c.markup(t, text); got != c.want && got != c.coloured {
		t.Errorf("%s: %s of %q shows %s, want %s:\n%s", c.to.name, c.call, text, got, c.want, message)
	}
}

// hostile returns texts with markup.
func hostile() []string {
	return append(slices.Clone(seeds), "<script>alert(1)</script>", `"><img src=x onerror=alert(1)>`, "javascript:alert(1)", `<font color="warning">x</font>`,
		"Critical", "\n# h\n> q", "https://evil.example/<b>", "![x](https://evil.example/p.png)", `"]<b>`)
}

// No function carries markup of an alert into a message, for any target: a reader finds the same markup as for an alert
// without any.
func TestFunctionsCarryNoMarkup(t *testing.T) {
	t.Parallel()
	for _, c := range carriers(t) {
		for _, text := range hostile() {
			c.check(t, text)
		}
	}
}

func FuzzFunctionsCarryNoMarkup(f *testing.F) {
	all := carriers(f)
	for n, text := range hostile() {
		f.Add(text, uint16(n))
	}
	f.Fuzz(func(t *testing.T, text string, which uint16) { all[int(which)%len(all)].check(t, text) })
}

var (
	anyTag     = regexp.MustCompile(`<[^>]*>`)
	allowedTag = regexp.MustCompile(`^</?(?:p|em|strong|h[1-6]|ul|ol(?: start="\d+")?|li|blockquote|pre|code(?: class="language-[^"<>]*")?|br|hr|del|table|thead|tbody|tr|t[hd](?: (?:style="text-align:(?:left|right|center)"|align="\w+"))?|a)>$|^<(?:br|hr) ?/>$|^<a href="https?://[^"<> ]+" rel="noreferrer">$`)
)

// The HTML of Markdown has no element that loads or runs anything, and links only to http and https.
func FuzzMarkdown(f *testing.F) {
	for _, seed := range seeds {
		f.Add(seed)
	}
	for _, seed := range []string{
		"[a](javascript:alert(1))", "<javascript:alert(1)>", "<script>x</script>", "a <img src=x onerror=y> b", "![a](https://x.example/p.png)",
		"[a](https://bank.example@evil.example/)", "<https://x.example/?a=1&b=\"2\">", "[a]: data:text/html,x\n[a]", "```x\" onload=\"y\nz\n```", "| a |\n|:-:|\n| b |",
		"<a@b.example>", "[a](https://x.example 'title\"><b>')", "# a {#id onclick=x}", "<div\nonclick=x>\ny", "&lt;script&gt; &#106;", "<?php x ?>", "<![CDATA[x]]>", "<!-- x -->",
	} {
		f.Add(seed)
	}
	for _, seed := range tables() {
		f.Add(seed[:min(len(seed), 2000)])
	}
	f.Fuzz(func(t *testing.T, text string) {
		out, err := newBudget(Incident{}, maxMade).mdToHTML(Clean(text))
		if err != nil {
			return
		}
		if len(out) > MaxOutput {
			t.Errorf("%d bytes", len(out))
		}
		for _, tag := range anyTag.FindAllString(string(out), -1) {
			if !allowedTag.MatchString(tag) {
				t.Errorf("%q becomes %q with %q", text, out, tag)
			}
		}
		if strings.Contains(anyTag.ReplaceAllString(string(out), ""), "<") {
			t.Errorf("%q becomes %q", text, out)
		}
	})
}

// worst are templates that would take minutes or gigabytes without a budget.
func worst() map[string]string {
	times := func(n int, s string) string { return strings.Repeat(s, n) }
	big := `{{$a := printf "%60000d" 1}}`
	return map[string]string{
		"lists":        `{{$a := list "x"}}` + times(40, `{{$a = list $a $a}}`) + `{{$a}}`,
		"dictionaries": `{{$a := dict "x" "y"}}` + times(40, `{{$a = dict "a" $a "b" $a}}`) + `{{$a}}`,
		"values":       `{{$a := list "x"}}` + times(40, `{{$a = values (dict "a" $a "b" $a)}}`) + `{{toJson $a}}`,
		"list loop":    big + `{{range 90000}}{{$b := list $a $a $a $a}}{{end}}`,
		"dict loop":    big + `{{range 90000}}{{$b := dict $a $a}}{{end}}`,
		"incidents":    `{{$a := list $ $ $ $ $ $ $ $}}` + times(20, `{{$a = list $a $a $a $a}}`) + `{{$a}}`,
		"join":         big + `{{$l := list $a $a $a $a $a $a $a $a}}{{range 90000}}{{$b := join "" $l}}{{end}}`,
		"quote":        `{{$a := "\""}}` + times(40, `{{$a = quote $a $a}}`),
		"indent":       big + `{{$b := replace " " "\n" $a}}{{range 90000}}{{$c := indent 60000 $b}}{{end}}`,
		"wide":         `{{range 90000}}{{$c := indent 60000 "x"}}{{end}}`,
		"title":        big + `{{range 90000}}{{$b := title $a}}{{end}}`,
		"upper":        big + `{{range 90000}}{{$b := $a | upper | lower | trunc 59999 | toString}}{{end}}`,
		"b64enc":       `{{$a := "x"}}` + times(60, `{{$a = b64enc $a}}`),
		"in":           big + `{{range 90000}}{{if in $a $a $a $a}}{{end}}{{end}}`,
		"coalesce":     `{{range 90000}}{{range 90000}}{{$a := coalesce "" 0 list}}{{end}}{{end}}`,
		"dates":        `{{range 99999}}{{$a := date "Europe/Berlin" 1}}{{end}}`,
		"layouts":      `{{$l := replace " " "2006" (printf "%16000d" 1)}}{{range 99999}}{{$a := date $l 1}}{{end}}`,
		"json":         `{{$j := printf "[%s1]" (replace " " "1," (printf "%30000d" 1))}}{{range 99999}}{{$a := jsonGet $j "#(==1)#|#(==1)#|#(==1)#|#"}}{{end}}`,
		"markdown":     `{{$m := replace " " "[" (printf "%16000d" 1)}}{{range 99999}}{{$a := mdToHtml $m}}{{end}}`,
		"colours":      big + `{{range 99999}}{{$b := colorBySeverity "Critical" $a}}{{end}}`,
		"spaces":       big + `{{range 99999}}{{$a}}{{end}}`,
		"strong":       big + `{{range 99999}}{{strong $a}}{{link $a $a}}{{mention $a}}{{end}}`,
		"trim":         big + `{{range 99999}}{{$b := trim $a}}{{end}}`,
		"truncate":     big + `{{range 99999}}{{$b := truncate 1 $a}}{{$b = trunc 1 $a}}{{end}}`,
		"numbers":      `{{$a := printf "%60000d" 1 | replace " " "1"}}{{range 99999}}{{$b := add ` + times(24, "$a ") + `}}{{end}}`,
		"prefixes":     big + `{{$b := print $a}}{{range 99999}}{{if and (hasPrefix $a $b) (hasSuffix $a $b)}}{{end}}{{end}}`,
		"comparisons":  big + `{{$b := print $a}}{{range 40000}}{{if eq $a $b $b $b}}{{end}}{{end}}`,
		"keys":         big + `{{range 99999}}{{if hasKey $.Labels $a}}{{end}}{{$b := maxAlertLabel $ $a}}{{end}}`,
		"members":      `{{range 40000}}{{if and $.Subject $.Problem ($).Subject}}{{end}}{{end}}`,
		"no layouts":   big + `{{range 99999}}{{$b := date $a 1}}{{end}}`,
		"tables":       `{{$a := "a|a|a\n-|-|-\n"}}{{$b := replace " " "|\n" (printf "%300d" 1)}}{{range 9999}}{{$c := mdToHtml (print $a $b)}}{{end}}`,
		"labels":       `{{range 99999}}{{$b := joinAlertLabels $ "service" (printf "%60000d" 1)}}{{end}}`,
	}
}

func TestPublicFunctionsKeepToBudget(t *testing.T) {
	t.Parallel()
	for name, source := range worst() {
		for _, target := range []*Target{Slack, HTML} {
			tpl, err := Parse(source, target)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			got, err := tpl.Render(Sample)
			if (name == "markdown" || name == "tables") && target == Slack { // it is no Markdown there, so that a call costs nothing
				continue
			}
			if err == nil || !strings.Contains(err.Error(), "more than") {
				t.Errorf("%s (%s): %d bytes, %v", name, target.name, len(got), err)
			}
		}
	}
}

// What the library escapes to next to nothing counts all the same.
func TestEscapedTextCounts(t *testing.T) {
	t.Parallel()
	for _, source := range []string{`<p style="color:{{$a}}">`, `<p {{$a}}="">`, `<a href="{{$a}}">`} {
		tpl, err := Parse(`{{$a := printf "%30000d" 1 | replace " " "x("}}{{range 9999}}`+source+`{{end}}`, HTML)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := tpl.Render(Sample); err == nil || !strings.Contains(err.Error(), "more than") {
			t.Errorf("%s: %d bytes, %v", source, len(got), err)
		}
	}
}

// Many renderings within one allowance take no more than one may: the first that needs more fails.
func TestRenderingsShareAllowance(t *testing.T) {
	t.Parallel()
	for name, source := range map[string]string{
		"functions": `{{$a := printf "%60000d" 1}}{{range 20}}{{$b := upper $a}}{{end}}x`, "steps": `{{range 60000}}{{end}}x`,
	} {
		tpl, err := Parse(source, Short)
		if err != nil {
			t.Fatal(err)
		}
		all := NewAllowance()
		if got, err := tpl.RenderWithin(all, Sample); err != nil || got != "x" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		for range 3 {
			_, err = tpl.RenderWithin(all, Sample)
			if err != nil {
				break
			}
		}
		if err == nil || !strings.Contains(err.Error(), "more than") {
			t.Errorf("%s: four renderings: %v", name, err)
		}
	}
}

// tables are texts of few bytes whose tables would have millions of cells.
func tables() map[string]string {
	text := func(columns, rows int, before string) string {
		return before + strings.Repeat("|", columns) + "\n" + before + strings.Repeat("|-", columns) + "\n" + strings.Repeat(before+"|\n", rows)
	}
	return map[string]string{
		"square": text(3000, 5000, ""), "wide": text(6500, 200, ""), "long": text(30, 9000, ""), "quoted": text(2000, 3000, "> "),
		"small": text(200, 200, ""), "many": strings.Repeat(text(60, 100, "")+"\n", 50),
	}
}

// A table of more cells than the bound is shown as it is written.
func TestTablesOfManyCellsAreShownAsText(t *testing.T) {
	t.Parallel()
	for name, text := range tables() {
		text = text[:min(len(text), maxMarkdown)]
		got, err := newBudget(Incident{}, maxMade).mdToHTML(text)
		if err != nil || strings.Contains(string(got), "<t") || string(got) != html.HTMLEscapeString(text) {
			t.Errorf("%s: %d bytes of %d, %v: %.100q", name, len(got), len(text), err, got)
		}
	}
	got, err := newBudget(Incident{}, maxMade).mdToHTML("|a|b|\n|-|-|\n" + strings.Repeat("|1|2|\n", 1000))
	if err != nil || strings.Count(string(got), "<td") != 2000 {
		t.Errorf("a table of 1,000 rows: %d cells, %v", strings.Count(string(got), "<td"), err)
	}
}

// A long text is no number: reading its digits would take time without a bound.
func TestLongTextsAreNoNumbers(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]int64{1: 1, 18: 111111111111111111, maxNumber + 1: 0, 60_000: 0} {
		digits := strings.Repeat("1", n)
		if got := toInt64(digits); got != want {
			t.Errorf("%d digits: %d, want %d", n, got, want)
		}
		if got := toFloat64(digits); (got == 0) != (want == 0) {
			t.Errorf("%d digits: %g", n, got)
		}
	}
}

func BenchmarkWorst(b *testing.B) {
	for name, source := range worst() {
		for _, target := range []*Target{HTML, Slack} {
			tpl, err := Parse(source, target)
			if err != nil {
				b.Fatal(err)
			}
			b.Run(name+"/"+target.name, func(b *testing.B) {
				for b.Loop() {
					tpl.Render(Sample)
				}
			})
		}
	}
}

func BenchmarkMarkdown(b *testing.B) {
	n := maxMarkdown
	for name, text := range map[string]string{
		"brackets": strings.Repeat("[", n), "quotes": strings.Repeat(">", n), "stars": strings.Repeat("*a ", n/3), "underscores": strings.Repeat("a**b_", n/5),
		"links": strings.Repeat("[a](", n/4), "lists": strings.Repeat("- ", n/2), "ticks": tickRuns(n), "images": strings.Repeat("![", n/2), "table": strings.Repeat("|", n/2) + "\n" + strings.Repeat("|-", n/4),
		"references": "[a]: https://x.example/" + strings.Repeat("y", 900) + "\n\n" + strings.Repeat("[a] ", n/4-250), "html": strings.Repeat("<a ", n/3), "entities": strings.Repeat("&amp", n/4),
		"nested": strings.Repeat("> - ", n/4), "text": strings.Repeat("A *word* and a [link](https://x.example/). ", n/44),
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				newBudget(Incident{}, maxMade).mdToHTML(text)
			}
		})
	}
}

// tickRuns returns code spans that never end, each with another number of ticks.
func tickRuns(n int) string {
	var b strings.Builder
	for i := 1; b.Len()+i+1 < n; i++ {
		b.WriteString(strings.Repeat("`", i) + "e")
	}
	return b.String()
}

// Messages are rendered in parallel from one parsed template.
func TestTemplatesRenderInParallel(t *testing.T) {
	t.Parallel()
	tpl, err := Parse(`{{mdToHtml .Description}}{{date "15:04" .StartTime}}{{jsonGet "{\"a\":1}" "a"}}`, HTML)
	if err != nil {
		t.Fatal(err)
	}
	want, _ := tpl.Render(Sample)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 50 {
				if got, err := tpl.Render(Sample); err != nil || got != want {
					t.Errorf("%q %v", got, err)
				}
			}
		})
	}
	all.Wait()
}
