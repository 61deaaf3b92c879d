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
	for kind, source := range Preset {
		tpl, err := Parse(source, kind == "email")
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
		if want, err := os.ReadFile(file); err != nil || string(want) != got {
			t.Errorf("%s: %v\n%s", file, err, got)
		}
		if _, err := tpl.Render(Incident{}); err != nil {
			t.Errorf("%s without anything: %v", kind, err)
		}
	}
}

func TestRender(t *testing.T) {
	for source, want := range map[string]string{
		`{{.Title | upper}} {{.Labels.service}} {{.Labels.none}}.`: "CHECKOUT ANSWERS SLOWLY checkout .",
		`{{truncate 5 .Title}}|{{.Title | truncate 5}}`:            "Chec…|Chec…",
		`{{.Labels.none | default "-"}}`:                           "-",
		`{{date "Europe/Berlin" .StartTime}} {{duration 7500}}`:    "2026-04-12 18:00:00 CEST 2h 5m",
		`{{toJSON .Title}}`:                                        `"Checkout answers slowly"`,
		`{{range $k, $v := .Labels}}{{$k}}={{$v}} {{end}}`:         "cluster=eu-1 resource=pod/checkout-7d9f service=checkout ",
		`{{join ", " (split "/" .Labels.resource)}}`:               "pod, checkout-7d9f",
	} {
		tpl, err := Parse(source, false)
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		if got, err := tpl.Render(Sample); err != nil || got != want {
			t.Errorf("%s: %q %v, want %q", source, got, err, want)
		}
	}
	tpl, err := Parse(`<a href="{{.Link}}">{{.Title}}</a>`, true)
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := tpl.Render(Incident{Title: "<script>", Link: "javascript:alert(1)"}); strings.Contains(got, "<script>") || strings.Contains(got, "javascript") {
		t.Error(got)
	}
}

func TestBadTemplates(t *testing.T) {
	for source, want := range map[string]string{
		"one\n{{if}}":                           "line 2: missing value for if",
		"{{nothing .Title}}":                    `line 1: function "nothing" not defined`,
		"{{.Title":                              "line 1: unclosed action",
		`{{define "x"}}{{end}}{{template "x"}}`: "{{template}} and {{block}} are not available",
	} {
		if _, err := Parse(source, false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", source, err, want)
		}
	}
	for source, want := range map[string]string{
		"{{range 1000000000}}{{end}}":                                          "more than 100000 steps",
		"{{range 1000000}}{{range 1000000}}{{if false}}x{{end}}{{end}}{{end}}": "more than 100000 steps",
		"{{.Nothing}}":                    "line 1: <.Nothing>: can't evaluate field Nothing",
		`{{date "Mars/Base" .StartTime}}`: "unknown time zone",
		`{{range $i := (split "" .Description)}}{{range $j := (split "" $.Description)}}{{range $k := (split "" $.Description)}}{{$.Title}}{{end}}{{end}}{{end}}`: "more than",
	} {
		tpl, err := Parse(source, false)
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		if _, err := tpl.Render(Sample); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", source, err, want)
		}
	}
}

func FuzzRender(f *testing.F) {
	for _, source := range Preset {
		f.Add(source, true)
	}
	f.Add(`{{range $i := (split "" .Title)}}{{toJSON .}}{{end}}`, false)
	f.Fuzz(func(t *testing.T, source string, isHTML bool) {
		tpl, err := Parse(source, isHTML)
		if err != nil {
			return
		}
		if out, _ := tpl.Render(Sample); len(out) > MaxOutput {
			t.Errorf("%d bytes", len(out))
		}
	})
}
