package render

import (
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// incidents are those with which templates of the public language are rendered: an ordinary one, one with nothing that
// may be absent, and one that is over.
func incidents() map[string]Incident {
	bare := Incident{IncidentID: "69db2f72a0fe7db6448b1506", Title: "Made by hand", Severity: "Info", Progress: "Triggered", StartTime: 1776009600, Now: 1776009600}
	over := Sample
	over.Progress = "Closed"
	over.CloseTime = 1776013200
	over.EndTime = 1776013000
	over.AckTime = 1776009700
	over.SnoozedBefore = 1776011000
	over.Closer = over.Owner
	over.FireTimes = 3
	over.IsFlapping = true
	over.IsInStorm = true
	over.RootCause, over.Resolution = "A *slow* query on [the replica](https://wiki.example.com/replica)", "It was killed"
	over.Responders = []Person{{Name: "Ada", ID: 4, AssignedAt: 1776009600, AcknowledgedAt: 1776009700}, {Name: "Zoë", ID: 6, AssignedAt: 1776009600}}
	over.Labels = map[string]string{"resource": "pod/a", "trigger.value": "3", "body_text": "two\nlines <b>", "rule_note": `{"links":[{"url":"https://wiki.example.com/rule"}]}`}
	over.AssignedTo.Type, over.AssignedTo.PersonIDs = "escalate", []int64{4, 6}
	return map[string]Incident{"1 ordinary": Sample, "2 bare": bare, "3 over": over}
}

// Templates as clients write them for the public language render for each incident.
func TestPublicTemplates(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/public/*.tmpl")
	if err != nil || len(files) < 12 {
		t.Fatal(len(files), err)
	}
	all := incidents()
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		kind, _, _ := strings.Cut(strings.TrimSuffix(filepath.Base(file), ".tmpl"), "-")
		target, known := For(kind)
		tpl, err := Parse(string(source), target)
		if err != nil || !known {
			t.Fatalf("%s: %v", file, err)
		}
		var got strings.Builder
		for _, name := range slices.Sorted(maps.Keys(all)) {
			text, err := tpl.Render(all[name])
			if err != nil {
				t.Errorf("%s, %s: %v", file, name, err)
			}
			got.WriteString("== " + name + "\n" + string(text) + "\n")
		}
		golden := strings.TrimSuffix(file, ".tmpl") + ".golden"
		if *update {
			if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if want, err := os.ReadFile(golden); err != nil || string(want) != got.String() {
			t.Errorf("%s: %v\n%s", golden, err, got.String())
		}
	}
}

// The templates of the test use every name and every function of the public language, and docs/templates.md lists them.
func TestPublicNamesAreUsedAndDocumented(t *testing.T) {
	t.Parallel()
	names := strings.Fields(`.Num .ID .IncidentSeverity .IncidentStatus .DetailUrl .LastTime .EndTime .SnoozedBefore .Creator .Closer
		.Owner .AssignedTo .AlertCnt .ActiveAlertCnt .AlertEventCnt .Fields .Images .ChannelName .ChannelID .AccountName .AccountLocale
		.AccountTimeZone .FireType .FireTimes .IsFlapping .IsInStorm .Flapping .GroupMethod .Impact .RootCause .Resolution .AISummary
		.Title .Description .Labels .Progress .StartTime .AckTime .CloseTime .Responders .Alerts .PersonName .PersonID .Email
		.AssignedAt .AcknowledgedAt .EscalateRuleID .EscalateRuleName .LayerIdx .Type .PersonIDs .MaxChanges .InMinutes .MuteMinutes
		.AlertSeverity .AlertStatus .Src .Alt .CreatorID
		ago toHtml fireReason colorSeverity colorBySeverity serverityToColor toSeverity joinAlertLabels alertLabels maxAlertLabel
		minAlertLabel in mdToHtml transferImage imageSrcToURL imageAltToURL jsonGet ternary add sub list dict hasKey keys values empty
		coalesce toString toInt64 upper lower date default trunc`)
	files, _ := filepath.Glob("testdata/public/*.tmpl")
	var used strings.Builder
	for _, file := range files {
		source, _ := os.ReadFile(file)
		used.Write(source)
	}
	docs, err := os.ReadFile("../../../docs/templates.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		word := regexp.MustCompile(`(?:^|[^\w.]|\w)` + regexp.QuoteMeta(name) + `\b`)
		if !word.MatchString(used.String()) {
			t.Errorf("no template uses %s", name)
		}
		if !regexp.MustCompile("`[^`\n]*" + regexp.QuoteMeta(name) + `\b`).Match(docs) {
			t.Errorf("docs/templates.md does not have %s", name)
		}
	}
	for name := range functions(nil) {
		if !regexp.MustCompile("`[^`\n]*\\b" + name + `\b`).Match(docs) {
			t.Errorf("docs/templates.md does not have the function %s", name)
		}
	}
	for _, name := range members("Incident") {
		if !regexp.MustCompile("`[^`\n]*\\." + name + `\b`).Match(docs) {
			t.Errorf("docs/templates.md does not have .%s", name)
		}
	}
}

// Each function returns what users of the public language expect.
func TestPublicFunctions(t *testing.T) {
	t.Parallel()
	i := incidents()["3 over"]
	i.TimeZone = "Asia/Shanghai"
	for source, want := range map[string]string{
		`{{date "2006-01-02 15:04:05" .StartTime}}`:                                                                                      "2026-04-13 00:00:00",
		`{{.StartTime | date "Jan 2"}} {{date .StartTime "15:04"}} {{date "Mon" 1}}`:                                                     "Apr 13 00:00 Thu",
		`{{date "UTC" .StartTime}} {{date "" .StartTime}}`:                                                                               "2026-04-12 16:00:00 UTC 2026-04-12 16:00:00 UTC",
		`[{{date "2006" 0}}{{ago 0}}{{date "2006" "x"}}]`:                                                                                "[]",
		`{{date "2006" now}} {{sub now .StartTime}} {{now.Unix}}`:                                                                        "2026 300 1776009900",
		`{{ago .StartTime}} {{ago (sub .StartTime 7200)}} {{ago (add now 5)}}`:                                                           "5m0s 2h5m0s -5s",
		`{{toHtml "" .Labels.none .Title}} {{toHtml}}|`:                                                                                  "Checkout answers slowly |",
		`{{fireReason .}}|{{fireReason 1}}|`:                                                                                             "[RESOLVED] ||",
		`{{serverityToColor "Critical"}} {{serverityToColor "x"}}`:                                                                       "#C80000 #008800",
		`{{toSeverity "Ok"}} {{toSeverity "Info"}}`:                                                                                      "Recovered Info",
		`{{colorSeverity "Critical"}} {{colorBySeverity "Info" "a"}}`:                                                                    "Critical a",
		`{{joinAlertLabels . "resource" "; "}}`:                                                                                          "pod/checkout-7d9f; queue/orders",
		`{{joinAlertLabels . "none" ", "}}{{maxAlertLabel . "resource"}}`:                                                                "",
		`{{len (alertLabels . "service")}} {{minAlertLabel . "trigger_value"}} {{maxAlertLabel . "trigger_value"}}`:                      "2 2.3 510",
		`{{in "a" "b" "a"}} {{in "a"}} {{in "a" (list "b" "a")}} {{in 1 "1"}}`:                                                           "true false true true",
		`{{jsonGet .Labels.rule_note "links.0.url"}} {{jsonGet "x" "a"}}{{jsonGet "{}" "a"}}`:                                            "https://wiki.example.com/rule ",
		`{{jsonGet "[{\"n\":\"a\",\"v\":7},{\"n\":\"b\",\"v\":8}]" "#(v==8).n"}}`:                                                        "b",
		`{{imageSrcToURL . "https://a.example/x.png"}} {{imageSrcToURL . "key"}}{{transferImage . "key"}} {{imageAltToURL . "latency"}}`: "https://a.example/x.png  https://grafana.example.com/render/1.png",
		`{{mdToHtml "*a*"}}`: "*a*",
		`{{.Creator.PersonName}} {{.Creator.PersonID}} {{.Closer.Email}} {{.CloserID}} {{.OwnerID}}`: "Ben 5 ada@example.com 4 4",
		`{{.Fields.customer}} {{.Fields.none}}|`:                                                     "Example Ltd. |",
	} {
		tpl, err := Parse(source, Plain)
		if err != nil {
			t.Errorf("%s: %v", source, err)
			continue
		}
		if got, err := tpl.Render(i); err != nil || string(got) != want {
			t.Errorf("%s: %q %v, want %q", source, got, err, want)
		}
	}
	for source, want := range map[string]string{
		`{{jsonGet .Title "@pretty"}}`:                  "modifiers",
		`{{jsonGet .Title "a|[b,b]"}}`:                  "modifiers",
		`{{jsonGet .Title "#( {a}=={b})"}}`:             "modifiers",
		`{{range .Alerts}}{{alertLabels . "a"}}{{end}}`: "write $ for it",
		`{{keys .Title}}`:                               "labels, fields or a dictionary are needed, got string",
		`{{div 1 0}}`:                                   "division by 0",
		`{{range .Responders}}{{.Nam}}{{end}}`:          "there is no .Nam; there are AcknowledgedAt, AssignedAt, Email, ID, Name, PersonID, PersonName",
	} {
		tpl, err := Parse(source, Plain)
		if err == nil {
			_, err = tpl.Render(i)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", source, err, want)
		}
	}
	for _, name := range []string{"env", "expandenv", "getHostByName", "genPrivateKey", "derivePassword", "bcrypt", "htpasswd", "randAlpha", "repeat", "until", "seq", "regexMatch", "set", "fail", "b64dec"} {
		if _, err := Parse("{{"+name+"}}", Plain); err == nil || !strings.Contains(err.Error(), "not defined") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The beginning of a subject names why there is another message.
func TestFireReason(t *testing.T) {
	t.Parallel()
	for want, i := range map[string]Incident{
		"":                {Event: "i_new", AssignedTo: Assignment{Type: "escalate"}, FireTimes: 1},
		"[ESCALATE] ":     {Event: "i_new", AssignedTo: Assignment{Type: "escalate", LayerIdx: 1}},
		"[REASSIGN] ":     {AssignedTo: Assignment{Type: "reassign"}},
		"[REOPEN] ":       {AssignedTo: Assignment{Type: "reopen"}},
		"[REFIRE] ":       {Event: "i_remind", AssignedTo: Assignment{Type: "reopen"}},
		"[STORM] ":        {Event: "i_storm", FireTimes: 1},
		"[ACKNOWLEDGED] ": {Event: "i_ack", FireTimes: 2},
		"[RESOLVED] ":     {Event: "i_rslv", Progress: "Closed", FireTimes: 2},
		"[DRILL] ":        {Event: "i_new", Test: true},
	} {
		if got := fireReason(i); got != want {
			t.Errorf("%+v: %q, want %q", i, got, want)
		}
	}
}

// Every text of an incident is cleaned before a template reads it.
func TestAllTextsAreCleaned(t *testing.T) {
	t.Parallel()
	var i Incident
	fill(reflect.ValueOf(&i).Elem())
	i.Fields = map[string]any{"a\u202eb": "a\u202eb", "list": []any{"a\u202eb"}, "n": 3.0, "odd": map[string]any{"a": "\u202e"}}
	i.Cleaned().check(t)
}

// fill puts a hostile text into every text that it finds.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString("a\u202e\x00b")
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i))
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() != reflect.Interface {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
			fill(v.Index(0))
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Map:
		if v.Type().Elem().Kind() == reflect.Interface {
			return
		}
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key)
		fill(value)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	}
}

func (i Incident) check(t *testing.T) {
	t.Helper()
	var walk func(path string, v reflect.Value)
	walk = func(path string, v reflect.Value) {
		switch v.Kind() {
		case reflect.String:
			if s := v.String(); s != Clean(s) {
				t.Errorf("%s is %q", path, s)
			}
		case reflect.Struct:
			for i := range v.NumField() {
				walk(path+"."+v.Type().Field(i).Name, v.Field(i))
			}
		case reflect.Slice:
			for i := range v.Len() {
				walk(path, v.Index(i))
			}
		case reflect.Pointer, reflect.Interface:
			if !v.IsNil() {
				walk(path, v.Elem())
			}
		case reflect.Map:
			for _, key := range v.MapKeys() {
				walk(path, key)
				walk(path, v.MapIndex(key))
			}
		}
	}
	walk("", reflect.ValueOf(i))
}
