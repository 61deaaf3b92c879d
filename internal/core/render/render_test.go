package render

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files instead of comparing with them")

func TestPresets(t *testing.T) {
	t.Parallel()
	for kind, source := range Preset {
		target, known := For(kind)
		if !known {
			t.Errorf("kind %s has no target", kind)
		}
		tpl, err := Parse(source, target)
		if err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		got, err := tpl.Render(Sample)
		if err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		file := filepath.Join("testdata", kind+".golden")
		if *update {
			os.MkdirAll("testdata", 0o755)
			if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if want, err := os.ReadFile(file); err != nil || string(want) != string(got) {
			t.Errorf("%s: %v\n%s", file, err, got)
		}
		if _, err := tpl.Render(Incident{}); err != nil {
			t.Errorf("%s with an empty incident: %v", kind, err)
		}
	}
}

func TestRender(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		`{{.Title | upper}} {{.Labels.service}} {{.Labels.none}}.`: "CHECKOUT ANSWERS SLOWLY checkout .",
		`{{truncate 5 .Title}}|{{.Title | truncate 5}}`:            "Chec…|Chec…",
		`{{.Labels.none | default "-"}}`:                           "-",
		`{{date "Europe/Berlin" .StartTime}} {{duration 7500}}`:    "2026-04-12 18:00:00 CEST 2h 5m",
		`{{toJSON .Title}}`:                                        `"Checkout answers slowly"`,
		`{{range $k, $v := .Labels}}{{$k}}={{$v}} {{end}}`:         "cluster=eu-1 resource=pod/checkout-7d9f service=checkout ",
		`{{join ", " (split "/" .Labels.resource)}}`:               "pod, checkout-7d9f",
	} {
		tpl, err := Parse(source, Plain)
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		if got, err := tpl.Render(Sample); err != nil || string(got) != want {
			t.Errorf("%s: %q %v, want %q", source, got, err, want)
		}
	}
	tpl, err := Parse(`<a href="{{.Link}}">{{.Title}}</a>`, HTML)
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := tpl.Render(Incident{Title: "<script>", Link: "javascript:alert(1)"}); strings.Contains(string(got), "<script>") || strings.Contains(string(got), "javascript") {
		t.Error(got)
	}
}

func TestBadTemplates(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		"one\n{{if}}":                           "line 2, column 1: missing value for if",
		"{{nothing .Title}}":                    `line 1, column 1: function "nothing" not defined`,
		"é\n\n {{.Title}} {{if}}":               "line 3, column 13: missing value for if",
		"{{.Title}} {{.Title}}{{nothing}}{{if":  `line 1, column 22: function "nothing" not defined`,
		"{{.Title":                              "line 1, column 1: unclosed action",
		`{{define "x"}}{{end}}{{template "x"}}`: "{{template}} and {{block}} are not available",
		strings.Repeat("{{range .Alerts}}{{if .Title}}", 5) + strings.Repeat("{{end}}{{end}}", 5): "{{range}} may stand within {{range}} at most 4 deep",
	} {
		for _, target := range []*Target{Plain, Slack, HTML} {
			if _, err := Parse(source, target); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %s", source, err, want)
			}
		}
	}
	for source, want := range map[string]string{
		"{{range 1000000000}}{{end}}":                                          "more than 100000 steps",
		"{{range 1000000}}{{range 1000000}}{{if false}}x{{end}}{{end}}{{end}}": "more than 100000 steps",
		"{{.Nothing}}":                    "line 1, column 3: there is no .Nothing; there are AISummary, Account, ",
		`{{date "Mars/Base" .StartTime}}`: "unknown time zone",
		`{{range $i := (split "" .Description)}}{{range $j := (split "" $.Description)}}{{range $k := (split "" $.Description)}}{{$.Title}}{{end}}{{end}}{{end}}`: "more than",
	} {
		tpl, err := Parse(source, Plain)
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		if _, err := tpl.Render(Sample); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", source, err, want)
		}
	}
}

// No function of templates turns little input into more than the server's memory, or runs without end: without bounds
// each of these would write gigabytes, or loop for minutes.
func TestExpensiveTemplatesAreStopped(t *testing.T) {
	t.Parallel()
	times := func(n int, s string) string { return strings.Repeat(s, n) }
	for name, source := range map[string]string{
		"print":    `{{$a := printf "%1000d" 1}}` + times(40, `{{$a = print $a $a $a $a}}`),
		"printf":   `{{$a := "12345678"}}` + times(40, `{{$a = printf "%s%s%s%s" $a $a $a $a}}`),
		"width":    `{{range 50000}}{{$a := printf "%1000000d" 1}}{{end}}`,
		"println":  `{{$a := "12345678"}}` + times(40, `{{$a = println $a $a $a $a}}`),
		"js":       `{{$a := "\\"}}` + times(60, `{{$a = js $a}}`),
		"html":     `{{$a := "&&&&"}}` + times(60, `{{$a = html $a $a $a}}`),
		"urlquery": `{{$a := "&&&&"}}` + times(60, `{{$a = urlquery $a $a $a}}`),
		"toJSON":   `{{$a := "\\"}}` + times(60, `{{$a = toJSON $a}}`),
		"replace":  `{{$a := "x"}}` + times(40, `{{$a = replace "" $a $a}}`),
		"join":     `{{$a := "x"}}` + times(40, `{{$a = join $a (split "" (print $a $a))}}`),
		"verbs":    `{{$a := printf "%60000d" 1}}{{printf "` + times(12000, "%[1]s") + `" $a}}`,
		"star":     `{{$a := printf "%60000d" 1}}{{range 90000}}{{$b := printf "%s" $a}}{{end}}`,
		"zones":    `{{range 99999}}{{$a := date "Europe/Berlin" 1}}{{end}}`,
		"actions":  `{{range 99999}}` + times(3000, `{{if eq 1 2}}{{end}}`) + `{{end}}`,
		"long":     `{{range 99999}}{{if eq 1 2` + times(30000, " 2") + `}}{{end}}{{end}}`,
		"loop":     `{{$a := printf "%60000d" 1}}{{range 90000}}{{$b := upper $a}}{{end}}`,
	} {
		for _, target := range []*Target{Slack, HTML} {
			tpl, err := Parse(source, target)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if got, err := tpl.Render(Sample); err == nil || !strings.Contains(err.Error(), "more than") {
				t.Errorf("%s (%s): %d bytes, %v", name, target.name, len(got), err)
			}
		}
	}
}

func FuzzRender(f *testing.F) {
	for kind, source := range Preset {
		f.Add(source, kind)
	}
	f.Add(`{{range $i := (split "" .Title)}}{{toJSON .}}{{end}}`, "sms")
	for _, call := range calls {
		f.Add(call+`<br>{{if .Creator}}x{{end}}`, "slack_app")
		f.Add(call, "email")
	}
	for _, source := range worst() {
		f.Add(source, "email")
	}
	f.Fuzz(func(t *testing.T, source, kind string) {
		target, _ := For(kind)
		tpl, err := Parse(source, target)
		if err != nil {
			return
		}
		if out, _ := tpl.Render(Sample); len(out) > MaxOutput {
			t.Errorf("%d bytes", len(out))
		}
	})
}
