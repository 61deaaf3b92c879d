package sender_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"tocsin/internal/core/render"
	"tocsin/internal/sender"
	"tocsin/internal/sender/dingtalk"
	"tocsin/internal/sender/discord"
	"tocsin/internal/sender/feishu"
	"tocsin/internal/sender/ntfy"
	"tocsin/internal/sender/sendertest"
	"tocsin/internal/sender/slack"
	"tocsin/internal/sender/teams"
	"tocsin/internal/sender/telegram"
	"tocsin/internal/sender/wecom"
	"tocsin/internal/sender/zoom"
)

// service is a chat service: how messages are sent to it, and what a naive reader of its markup finds in a request.
type service struct {
	send  sender.Sender
	shown func(body string) string // the text with the service's markup
	marks map[string]*regexp.Regexp
}

// member returns the text at a path of a JSON body.
func member(path ...string) func(string) string {
	return func(body string) string {
		var v any
		if err := json.Unmarshal([]byte(body), &v); err != nil {
			return err.Error()
		}
		for _, name := range path {
			if list, ok := v.([]any); ok {
				v = list[0]
			}
			v = v.(map[string]any)[name]
		}
		return fmt.Sprint(v)
	}
}

// elements returns the elements of a Feishu post or a Teams card as text: a line for each paragraph, and everything
// but plain text as JSON in backquotes.
func elements(body string) string {
	var v any
	if err := json.Unmarshal([]byte(body), &v); err != nil {
		return err.Error()
	}
	var text strings.Builder
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, member := range v {
				walk(member)
			}
		case map[string]any:
			words, leaf := v["text"].(string)
			switch {
			case v["type"] == "TextBlock":
				text.WriteString(words) // a reader of Markdown looks at it
			case leaf:
				if tag := v["tag"]; tag != nil && tag != "text" && tag != "a" {
					text.WriteString("<" + fmt.Sprint(tag))
				}
				if strings.HasPrefix(words, "│") { // its text is shown as it is
					words = "│"
				} else if words != "" {
					words = "x"
				}
				text.WriteString(words)
				if link := fmt.Sprint(v["href"], v["selectAction"]); strings.Contains(link, "http") {
					text.WriteString("[x](" + regexp.MustCompile(`https?://[^\s\]<]+`).FindString(link) + ")")
				} else if v["style"] != nil || v["weight"] != nil {
					text.WriteString("**x**")
				}
			default:
				for _, name := range slices.Sorted(keys(v)) {
					walk(v[name])
				}
			}
			if v["type"] == "RichTextBlock" {
				text.WriteString("\n")
			}
		}
	}
	walk(v)
	return text.String()
}

func keys(m map[string]any) func(func(string) bool) {
	return func(yield func(string) bool) {
		for name := range m {
			if !yield(name) {
				return
			}
		}
	}
}

var markdown = map[string]*regexp.Regexp{
	"link":    regexp.MustCompile(`(?:^|[^\\])\[[^\]]*[^\]\\]\]\([^)\s]*\)`),
	"tag":     regexp.MustCompile(`(?:^|[^\\])<[a-zA-Z/@!?#:]`),
	"bold":    regexp.MustCompile(`(?:^|[^\\*])\*\*[^*\s]`),
	"italic":  regexp.MustCompile(`(?:^|[^\\*\w])[*_][^*_\s][^*_\n]*[^\\\s*_][*_](?:[^*\w]|$)`),
	"strike":  regexp.MustCompile(`(?:^|[^\\])~~`),
	"code":    regexp.MustCompile("(?:^|[^\\\\])`"),
	"heading": regexp.MustCompile(`(?m)^\s*#{1,6}\s`),
	"quote":   regexp.MustCompile(`(?m)^\s*>`),
	"list":    regexp.MustCompile(`(?m)^\s*([-+*]|\d+[.)])\s`),
	"mention": regexp.MustCompile(`(?:^|\W)@(all|everyone|here|channel|\d{6,}|zhang)`),
	"spoiler": regexp.MustCompile(`(?:^|[^\\])\|\|`),
	"line":    regexp.MustCompile(`(?m)^[^│\n]`),
}

var mrkdwn = map[string]*regexp.Regexp{
	"link": regexp.MustCompile(`<[^>]*\|[^>]*>|<[^h][^>]*>`), "quote": regexp.MustCompile(`(?m)^\s*(>|&gt;)`), "code": regexp.MustCompile("`"),
	"bold": regexp.MustCompile(`(?m)(?:^|[^\w*])\*[^\s*][^*\n]*\*(?:\W|$)`), "italic": regexp.MustCompile(`(?m)(?:^|\W)_[^\s_][^_\n]*_(?:\W|$)`), "strike": regexp.MustCompile(`(?m)(?:^|\W)~[^\s~][^~\n]*~(?:\W|$)`),
	"line": regexp.MustCompile(`(?m)^[^│\n]`),
}

var plain = map[string]*regexp.Regexp{"line": regexp.MustCompile(`(?m)^[^│\n]`)}

func body(s string) string { return s }

var services = map[string]service{
	"slack":    {slack.Send, member("blocks", "text", "text"), mrkdwn},
	"discord":  {discord.Send, member("content"), markdown},
	"teams":    {teams.Send, elements, markdown},
	"feishu":   {feishu.Sender{Now: time.Now}.Send, elements, markdown},
	"dingtalk": {dingtalk.Sender{Now: time.Now}.Send, member("markdown", "text"), markdown},
	"wecom":    {wecom.Send, member("markdown", "content"), markdown},
	"telegram": {telegram.Send, member("text"), map[string]*regexp.Regexp{"line": plain["line"], "mention": markdown["mention"]}},
	"zoom":     {zoom.Send, member("body", "text"), plain},
	"ntfy":     {ntfy.Send, body, plain},
}

// found returns what a naive reader finds, links with their targets.
func (s service) found(t *testing.T, out *sendertest.Service, m sender.Message) (all []string) {
	t.Helper()
	chat := sender.Chat{URL: out.URL + "/x", ChatIDs: []string{"1"}}
	out.Answer.Body = `{"code":0,"errcode":0,"ok":true}`
	if _, err := s.send(context.Background(), out.Out, chat, m); err != nil {
		t.Fatal(err)
	}
	text := s.shown(out.Body())
	for name, mark := range s.marks {
		for _, hit := range mark.FindAllString(text, -1) {
			if name == "link" {
				name += " " + strings.Trim(hit, " ·")
			} else if name != "line" {
				hit = ""
			}
			all = append(all, strings.Fields(name)[0]+":"+regexp.MustCompile(`https?://[^\s|)>]*`).FindString(hit))
		}
	}
	slices.Sort(all)
	return all
}

// filledIn returns the preset of a kind, filled in.
func filledIn(t *testing.T, kind string, i render.Incident) sender.Message {
	t.Helper()
	source, ok := render.Preset[kind]
	if !ok {
		source = render.Preset["plain"]
	}
	target, _ := render.For(kind)
	tpl, err := render.Parse(source, target)
	if err != nil {
		t.Fatal(err)
	}
	text, err := tpl.Render(i)
	if err != nil {
		t.Fatal(err)
	}
	return sender.Message{Key: "k", Subject: "[Critical] " + i.Title, Title: i.Title, Severity: i.Severity, Text: text, Link: i.Link, AckLink: i.AckLink}
}

// hostile are texts of alerts that contain markup of the services.
var hostile = []string{
	"<!channel> <!here|x> <@U0123> <#C01|general> <https://evil.example/|open>", "[open](https://evil.example/)", "](https://evil.example/) [acknowledge", "![x](https://evil.example/p.png)",
	"<@all> <@zhangsan> @all @everyone @here @13800001111", `<at user_id="all"></at>`, `<font color="warning">x</font> <a href="https://evil.example/">open</a> <b>x</b>`,
	"# heading", "> quote", ">>> quotes", "- item", "1. item", "* item", "+ item", "---", "===", "-# small",
	"**bold** *b* _i_ ~s~ ~~s~~ `code` ```fence``` ||spoiler||", "```", "**", "*", "_", "`", "\\", "\\\\**x**", "\\[open](https://evil.example/)", "x\\",
	"all good\nCritical · Triggered\n[open](https://evil.example/)\n# heading\n> quote\n- item", "a\r\nb\rc\u2028d\u2029e\vf\fg\u0085h",
	"abc\u202Egnp.exe\u2066x\u200Fy\u061C", "&lt;!channel&gt; &#60;@all&#62; &amp;lt;", "    code", "\tcode", "a|b\n|-|\n|c", "[a]: https://evil.example/\n[a]", "<https://evil.example/>", "<javascript:alert(1)|x>",
}

func TestHostileTexts(t *testing.T) {
	benign := render.Sample
	benign.Labels = map[string]string{"service": "checkout"}
	for kind, s := range services {
		out := sendertest.New(t)
		want := s.found(t, out, filledIn(t, kind, benign))
		if s.marks["link"] != nil && len(want) < 3 {
			t.Errorf("%s: the message itself is %q", kind, want)
		}
		for _, text := range hostile {
			for name, put := range map[string]func(*render.Incident){
				"title": func(i *render.Incident) { i.Title = text }, "description": func(i *render.Incident) { i.Description = text },
				"channel": func(i *render.Incident) { i.Channel = text }, "label's value": func(i *render.Incident) { i.Labels = map[string]string{"service": text} },
				"label's name": func(i *render.Incident) { i.Labels = map[string]string{text: "checkout"} },
			} {
				i := benign
				put(&i)
				if got := s.found(t, out, filledIn(t, kind, i)); !slices.Equal(got, want) {
					t.Errorf("%s: a %s of %q shows\n%q, want\n%q in\n%s", kind, name, text, got, want, out.Body())
				}
				if hidden := regexp.MustCompile(`(?i)[\x{202A}-\x{202E}\x{2066}-\x{2069}\x{200E}\x{200F}\x{061C}]|\\u20(2[a-e]|6[6-9])`).FindString(out.Body()); hidden != "" {
					t.Errorf("%s: a %s of %q keeps %+q", kind, name, text, hidden)
				}
			}
		}
	}
}
