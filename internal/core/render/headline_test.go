package render

import (
	"fmt"
	"strings"
	"testing"
)

// headed returns the incident of some alerts with the same title, as a message about it is headed.
func headed(title string, byHand bool, alerts ...map[string]string) Incident {
	var c Comparison
	for _, labels := range alerts {
		c.Add(labels)
	}
	i := Incident{Severity: "Critical", Progress: "Triggered", Title: title, Headline: Headline(title, alerts[0], byHand)}
	i.Where = Where(i.Headline, int64(len(alerts)), false, c.Shared(), c.Differ())
	return i
}

func TestSubjects(t *testing.T) {
	t.Parallel()
	summary := map[string]string{"alertname": "HighErrorRate", "summary": "Error rate of checkout is 9 %", "service": "checkout"}
	var fifty []map[string]string
	for n := range 50 {
		labels := map[string]string{"host": fmt.Sprintf("web%d", n+1)}
		for name, value := range summary {
			labels[name] = value
		}
		fifty = append(fifty, labels)
	}
	disk := func(host string) map[string]string {
		return map[string]string{"alertname": "Disk", "summary": "Disk of " + host + " is full", "instance": host}
	}
	for want, i := range map[string]Incident{
		"[Critical] Error rate of checkout is 9 % (web1, +49 hosts)": headed("HighErrorRate::checkout::web1", false, fifty...),
		"[Critical] Error rate of checkout is 9 % (web1)":            headed("HighErrorRate", false, fifty[0]),
		"[Critical] Disk of db1 is full":                             headed("Disk::db1", false, disk("db1")),
		"[Critical] Disk of db1 is full (+1 instance)":               headed("Disk::db1", false, disk("db1"), disk("db2")),
		"[Critical] Checkout is down (web1)":                         headed("Checkout is down", true, fifty[0]),
		"[Critical] Disk2::db1":                                      headed("Disk2::db1", false, map[string]string{"alertname": "Disk2", "instance": "db1"}),
		"[Critical] Nothing known":                                   headed("Nothing known", false, map[string]string{}),
		"[Critical] Nothing known (2 alerts)":                        headed("Nothing known", false, map[string]string{}, map[string]string{}),
		"[Critical] Errors (eu, 2 alerts)":                           headed("Errors", false, map[string]string{"region": "eu"}, map[string]string{"region": "eu"}),
		"[Critical] a b (c d)":                                       headed("x", false, map[string]string{"alertname": "x", "summary": "a\r\nb\u202e", "host": "c\nd"}),
	} {
		if got := i.Subject(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	over := headed("HighErrorRate", false, fifty[0])
	over.Progress, over.Test = "Closed", true
	if got := over.Subject(); got != "[Drill] [Resolved] Error rate of checkout is 9 % (web1)" || over.Look() != "Ok" {
		t.Error(got)
	}
}

// A summary and a host of any length make a short subject.
func TestHeadlinesAreShort(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("<b>é ", 2000)
	i := headed("x", false, map[string]string{"alertname": "x", "summary": long, "host": long})
	if n := len([]rune(i.Subject())); n > 300 {
		t.Errorf("%d characters", n)
	}
}

func TestLinks(t *testing.T) {
	t.Parallel()
	links, names := LinksOf(map[string]string{
		"runbook_url": "https://wiki.example/r?a=1&b=<2>", "generator_url": "http://prom.example/graph", "dashboardURL": "https://grafana.example/d/1",
		"url": "javascript:alert(1)", "evil_url": "https://bank.example@evil.example/", "data_url": "data:text/html,x", "other": "https://x.example/",
		"bad_url": "https://a.example/ b", "two_url": "https://a.example/\nb", "same_url": "http://prom.example/graph", "host_url": "https://",
		"long_url": "https://a.example/" + strings.Repeat("x", 5000),
	})
	want := "[{runbook https://wiki.example/r?a=1&b=<2>} {graph http://prom.example/graph} {dashboard https://grafana.example/d/1}]"
	if fmt.Sprint(links) != want || fmt.Sprint(names) != "[runbook_url generator_url dashboardURL same_url]" {
		t.Errorf("%v %v", links, names)
	}
	many := map[string]string{}
	for n := range 50 {
		many[fmt.Sprintf("u%d_url", n)] = fmt.Sprintf("https://a.example/%d", n)
	}
	if links, names := LinksOf(many); len(links) != maxLinks || len(names) != 50 {
		t.Errorf("%d links of %d labels", len(links), len(names))
	}
}

func FuzzHeadline(f *testing.F) {
	for _, seed := range seeds {
		f.Add(seed, seed, seed)
	}
	f.Fuzz(func(t *testing.T, title, summary, host string) {
		i := headed(title, false, map[string]string{"alertname": title, "summary": summary, "host": host}, map[string]string{"host": host + "2"})
		if s := i.Subject(); strings.ContainsAny(s, "\r\n") || s != OneLine(s) || len([]rune(s)) > 400+len([]rune(title)) {
			t.Errorf("%q", s)
		}
	})
}
