package render

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// marks match what a naive reader takes for markup, which is more than any service does. reads are the marks that
// count for each target; backslashes count where a target has them.
var (
	backslashed = regexp.MustCompile(`\\[!-/:-@\[-\x60{-~]`)
	marks       = map[string]*regexp.Regexp{
		"link": regexp.MustCompile(`\[[^\]\n]*\]\(|\]\s?\[|!\[`), "tag": regexp.MustCompile(`<[^\s\d]`), "strong": regexp.MustCompile(`\*\*`), "code": regexp.MustCompile("`"),
		"italic": regexp.MustCompile(`(?:^|[\s\pP])[*_][^\s*_](?:[^*_\n]*[^\s*_])?[*_](?:[\s\pP]|$)`), "strike": regexp.MustCompile(`~~|(?:^|[\s\pP])~[^\s~](?:[^~\n]*[^\s~])?~(?:[\s\pP]|$)`),
		"block": regexp.MustCompile(`(?m)^\s*(?:#|>|[-+*]\s|---|===|\d+[.)](?:\s|$)|\||\t|    )`), "mention": regexp.MustCompile(`(?:^|[^\w\pL\pN])@\w`), "entity": regexp.MustCompile(`&(?:#|[a-zA-Z])\w*;`),
		"quote": regexp.MustCompile(`(?m)^\s*(?:>|&gt;)`), "bidi": regexp.MustCompile(`[\x{202A}-\x{202E}\x{2066}-\x{2069}\x{200E}\x{200F}\x{061C}\x{2028}\x{2029}\x{85}\x00-\x08\x0b-\x1f\x7f]`),
		"spoiler": regexp.MustCompile(`\|\|`), "line": regexp.MustCompile(`(?m)\n[^│]`),
	}
	reads = map[*Target][]string{
		Slack: {"tag", "italic", "strike", "code", "quote", "line", "bidi"}, Discord: {"link", "tag", "strong", "code", "italic", "strike", "block", "mention", "spoiler", "line", "bidi"},
		Loose: {"link", "tag", "strong", "code", "italic", "strike", "block", "mention", "entity", "spoiler", "line", "bidi"}, WeCom: {"link", "tag", "strong", "code", "italic", "strike", "block", "mention", "entity", "line", "bidi"},
		Telegram: {"mention", "line", "bidi"}, Plain: {"line", "bidi"}, Short: {"line", "bidi"}, Rich: {"line", "bidi"},
	}
	shownURL = regexp.MustCompile(`(?i)<https?://[^>|\s]+>`) // Slack's address that shows itself
)

// found returns the markup that a naive reader of a target finds in a text.
func found(to *Target, text string) (all []string) {
	switch to {
	case Discord:
		text = backslashed.ReplaceAllString(text, "x")
	case Slack:
		text = shownURL.ReplaceAllString(text, "x")
		text = strings.NewReplacer("&lt;", "x", "&amp;", "x").Replace(text)
	case Telegram:
		text = regexp.MustCompile(`https?://\S+`).ReplaceAllString(text, "x")
	case Rich:
		for _, line := range Spans(Markup(text)) {
			for _, span := range line {
				if span.URL != "" || span.Strong {
					all = append(all, fmt.Sprintf("%+v", span))
				}
			}
		}
	}
	for _, name := range reads[to] {
		for range marks[name].FindAllString(text, -1) {
			all = append(all, name)
		}
	}
	return all
}

var seeds = []string{
	"CPU > 90% on db_1 [prod] (eu-west)", "<!channel>", "<https://evil.example/|open>", "[a](https://evil.example/)", "![x](y)", "](https://evil.example) [b", "<@all>@all @here", "# h\n> q\n- l\n1. o\n2) p", "**b** _i_ ~s~ ~~s~~ `c` ```f``` ||p||",
	"a\r\nb\u2028c\u0085d", "\u202Eabc", "&lt;!channel&gt; &#60;", "\\\\*a\\*", "https://x.example/a_b_c?d=*e*&f=(g)[h]<i>|j", "    x\tcode", "x\\", "*", "_ _ _", "=====", "http://a/*`b`*", "a*b*c a_b_c", "1.", "https://a.example).*b*", "<http://a|b>",
	"*https://a*", "_http://a_", "~https://x~", "*a\u200b*", "'_a_'", "5 * 3 * 2", "&0;", "&gt;",
}

// A reader of a target finds no markup in an escaped text, whatever the text. In a message around it the reader finds
// the markup of the message and nothing else.
func FuzzEscape(f *testing.F) {
	for _, seed := range seeds {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for to := range reads {
			if all := found(to, string(to.Escape(text))); len(all) > 0 {
				t.Errorf("%s: %q is escaped to %q, in which there is %q", to.name, text, to.Escape(text), all)
			}
			if to.link == nil {
				continue
			}
			message := string(to.Escape("a")) + " " + string(to.Link("open", "https://ours.example/a_(b)"))
			want := found(to, message)
			around := string(to.Escape("a")) + " " + string(to.Escape(text)) + " " + string(to.Link("open", "https://ours.example/a_(b)"))
			if got := found(to, around); len(got) != len(want) {
				t.Errorf("%s: %q in %q shows %q, want %q", to.name, text, around, got, want)
			}
			link := string(to.Link(text, "https://ours.example/"))
			plain := string(to.Link("x", "https://ours.example/"))
			if got, want := found(to, link), found(to, plain); len(got) != len(want) {
				t.Errorf("%s: a link %q shows %q, want %q", to.name, link, got, want)
			}
		}
	})
}

// A text at any position of an address neither ends the address nor is a command.
func FuzzAddress(f *testing.F) {
	for _, seed := range seeds {
		f.Add(seed)
	}
	f.Add("!channel")
	f.Add("javascript:alert(1)")
	ends := regexp.MustCompile("[<>()\\[\\]|\\s*`]")
	f.Fuzz(func(t *testing.T, text string) {
		for _, to := range []*Target{Slack, Discord, Loose, WeCom, Rich} {
			whole, part := to.address(text), to.part(text)
			if ends.MatchString(whole) || ends.MatchString(part) {
				t.Errorf("%s: %q is the address %q, a part of one %q", to.name, text, whole, part)
			}
			if strings.HasPrefix(whole, "!") || strings.HasPrefix(whole, "@") || strings.HasPrefix(whole, "#") || mentionAll[strings.ToLower(part)] {
				t.Errorf("%s: %q is a command: %q, %q", to.name, text, whole, part)
			}
			if strings.Contains(whole, ":") && !isURL.MatchString(whole) {
				t.Errorf("%s: %q leads to %q", to.name, text, whole)
			}
		}
	})
}

// The values that templates print are escaped for their position. The text of the templates is markup.
func TestTemplatesAreEscaped(t *testing.T) {
	t.Parallel()
	i := Incident{Title: "<!channel> *x* [y](https://evil.example)", Link: "https://ours.example/i?a=1&b=2", Labels: map[string]string{"run": "https://wiki.example/a_(b)", "word": "!channel|x", "who": "all", "id": "U0123ABC", "at": "https://x.example/@a @b"}, Severity: "Critical"}
	for _, c := range []struct {
		to             *Target
		source, wanted string
	}{
		{Slack, "*{{.Severity}}* {{.Title}}", "*Critical* &lt;!channel&gt; ∗x∗ [y](<https://evil.example>)"},
		{Slack, "<{{.Link}}|open> {{.Title | truncate 4}}", "<https://ours.example/i?a=1&amp;b=2|open> &lt;!c…"},
		{Slack, "<{{.Labels.run}}|run> <{{.Labels.word}}>", "<https://wiki.example/a_%28b%29|run> <%21channel%7Cx>"},
		{Slack, "<{{if .Link}}{{.Labels.word}}{{end}}> {{.Severity}}", "<%21channel%7Cx> Critical"},
		{Slack, "<!{{.Labels.who}}> <@{{.Labels.id}}> {{mention .Labels.id}} {{mention .Labels.who}} {{mention .Labels.word}}", "<!%61ll> <@U0123ABC> <@U0123ABC> all !channel|x"},
		{Slack, `{{"*a*"}} {{strong .Severity}} {{strong "*"}} {{link .Title .Link}}`, "*a* *Critical* *∗* <https://ours.example/i?a=1&amp;b=2|&lt;!channel&gt; ∗x∗ [y](https://evil.example)>"},
		{Slack, `{{printf "<%s>" "!here"}} {{$x := .Title}}{{$x | lower | printf "%.9s"}} {{html "<b>"}}`, "&lt;!here&gt; &lt;!channel &amp;lt;b&amp;gt;"},
		{Slack, "{{range $k, $v := .Labels}}{{if eq $k \"word\"}}<{{$v}}|{{$k}}>{{end}}{{end}}", "<%21channel%7Cx|word>"},
		{Slack, "<{{.Link}}|{{.Labels.run}} {{.Severity}}> {{.Labels.run}}", "<https://ours.example/i?a=1&amp;b=2|https://wiki.example/a＿(b) Critical> <https://wiki.example/a_%28b%29>"},
		{Telegram, "{{.Labels.at}}", "https://x.example/@a ＠b"},
		{Discord, "**{{.Title}}** [run]({{.Labels.run}}) [x]({{.Title}})", `**\<!channel\> \*x\* \[y\](https://evil.example)** [run](https://wiki.example/a_%28b%29) [x](%3C%21channel%3E%20%2Ax%2A%20%5By%5D%28https%3A//evil.example%29)`},
		{Discord, "[x](https://g.example/d?q={{.Title}}) {{.Severity}}", `[x](https://g.example/d?q=%3C%21channel%3E%20%2Ax%2A%20%5By%5D%28https://evil.example%29) Critical`},
		{WeCom, `{{mention "zhang.san"}} {{mention "ALL"}} <@{{.Labels.who}}> {{.Title}}`, "<@zhang.san> ALL <@%61ll> ＜!channel> ∗x∗ ［y］(https://evil.example)"},
		{Loose, `{{link "run [1]" .Labels.run}} {{link "x" "javascript:alert(1)"}}`, "[run ［1］](https://wiki.example/a_%28b%29) x"},
		{Rich, "**{{.Title}}** {{link .Severity .Link}}", `**<!channel> \*x\* \[y\](https://evil.example)** [Critical](https://ours.example/i?a=1&b=2)`},
		{Telegram, `{{.Title}} {{link "run" .Labels.run}} @ops {{"@all"}} {{print "@all"}}`, "<!channel> *x* [y](https://evil.example) run https://wiki.example/a_%28b%29 @ops @all ＠all"},
		{Short, "{{.Title}} {{link .Severity .Link}}", "<!channel> *x* [y](https://evil.example) Critical https://ours.example/i?a=1&b=2"},
		{HTML, "{{.Title}} {{link .Title .Link}} {{strong .Severity}} {{mention .Title}}", `&lt;!channel&gt; *x* [y](https://evil.example) <a href="https://ours.example/i?a=1&amp;b=2">&lt;!channel&gt; *x* [y](https://evil.example)</a> <strong>Critical</strong> &lt;!channel&gt; *x* [y](https://evil.example)`},
		{HTML, `{{link .Title "javascript:alert(1)"}}`, "&lt;!channel&gt; *x* [y](https://evil.example)"},
	} {
		tpl, err := Parse(c.source, c.to)
		if err != nil {
			t.Errorf("%s: %v", c.source, err)
			continue
		}
		if got, err := tpl.Render(i); err != nil || string(got) != c.wanted {
			t.Errorf("%s: %s (%v)\n got %s\nwant %s", c.to.name, c.source, err, got, c.wanted)
		}
	}
}

// A mail has the tags of its template and no others.
func TestHostileMails(t *testing.T) {
	t.Parallel()
	tpl, err := Parse(Preset["email"], HTML)
	if err != nil {
		t.Fatal(err)
	}
	tags := func(i Incident) []string {
		text, err := tpl.Render(i)
		if err != nil {
			t.Fatal(err)
		}
		return regexp.MustCompile(`<[^>]*>|[\x{202A}-\x{202E}\x{2066}-\x{2069}]`).FindAllString(string(text), -1)
	}
	one := Sample
	one.Shared, one.Links = map[string]string{"a": "b"}, []Link{{"a", "https://a.example/"}}
	one.Differ = []Difference{{Name: "a", Count: 2, Values: []string{"b", "c"}}}
	address := regexp.MustCompile(`href="[^"]*"`)
	kinds := func(i Incident) []string {
		all := tags(i)
		for n := range all {
			all[n] = address.ReplaceAllString(all[n], "href")
		}
		return all
	}
	want := kinds(one)
	for _, seed := range append(seeds, "<script>alert(1)</script>", `"><a href="https://evil.example">`, "</p><h1>x", "<!-- x", "{{.Title}}") {
		i := one
		i.Title = seed + "x"
		i.Description = seed + "x"
		i.Channel = seed + "x"
		i.Reason = seed + "x"
		i.Shared = map[string]string{seed: seed}
		i.Headline = seed + "x"
		i.Where = seed + "x"
		i.Next = seed + "x"
		i.AckedBy = seed + "x"
		i.EndedBy = seed + "x"
		i.Notified = []string{seed}
		i.Differ, i.Links = []Difference{{Name: seed, Count: 2, Values: []string{seed, seed}}}, []Link{{seed, seed}}
		if got := kinds(i); !slices.Equal(got, want) || strings.Contains(strings.Join(tags(i), ""), `"javascript:`) {
			t.Errorf("%q: %q, want %q", seed, got, want)
		}
	}
}

// Ordinary alerts stay readable everywhere.
func TestOrdinaryTitles(t *testing.T) {
	t.Parallel()
	titles := []string{
		"CPU > 90% on db_1 [prod] (eu-west)", "Checkout: p99 < 2s & errors >= 5%", "host-1.example.com:9100 is down", "Disk /var/lib/docker 91% (node_filesystem_avail_bytes{mountpoint=\"/\"})",
		"支付 超时 #42", "ops@example.com bounced", "Runbook: https://wiki.example/runbooks/db_failover?x=1&y=2.", `C:\Windows\Temp 100%`, "2 * 3 = 6", "job `backup` failed: *.tar.gz", "~/data is full", "Line one\nLine two\n\n  Line three",
	}
	var got strings.Builder
	for _, name := range []string{"plain", "sms", "slack", "discord", "dingtalk", "wecom", "feishu", "telegram"} {
		to, _ := For(name)
		fmt.Fprintf(&got, "== %s\n", name)
		for _, title := range titles {
			fmt.Fprintln(&got, to.Escape(title))
		}
	}
	file := filepath.Join("testdata", "titles.golden")
	if *update {
		if err := os.WriteFile(file, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if want, err := os.ReadFile(file); err != nil || string(want) != got.String() {
		t.Errorf("%s: %v\n%s", file, err, got.String())
	}
}

// Spans parses escaped text of Rich into the same text, without strong text and links.
func FuzzSpans(f *testing.F) {
	for _, seed := range seeds {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var lines []string
		for _, line := range Spans(Rich.Escape(text)) {
			words := ""
			for _, span := range line {
				if span.URL != "" || span.Strong {
					t.Errorf("%q has %+v", text, span)
				}
				words += span.Text
			}
			lines = append(lines, words)
		}
		want := slices.Collect(strings.SplitSeq(string(Plain.Escape(text)), "\n"))
		if got := strings.ReplaceAll(strings.Join(lines, "\n"), "＜", "<"); strings.TrimSpace(got) != strings.TrimSpace(strings.ReplaceAll(strings.Join(want, "\n"), "＜", "<")) {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	})
}
